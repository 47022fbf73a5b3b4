"""FLWOR expressions, as text."""

from __future__ import annotations

from typing import assert_never

from xstreamcast.syntax.grammar import operators
from xstreamcast.syntax.printing import expressions
from xstreamcast.syntax.printing.literals import name, quoted
from xstreamcast.syntax.printing.types import declared
from xstreamcast.syntax.tree import (
    Clause,
    CountClause,
    Expr,
    Flwor,
    ForClause,
    GroupByClause,
    GroupingSpec,
    LetClause,
    NewStart,
    OrderByClause,
    OrderSpec,
    WhereClause,
    WindowClause,
    WindowEnd,
    WindowStart,
    WindowVariable,
)


def flwor(found: Flwor) -> str:
    """One clause after another, on lines of their own."""
    clauses = "\n".join(clause(c) for c in found.clauses)
    return f"{clauses}\nreturn {expressions.expression(found.result)}"


def _part(found: Expr) -> str:
    """An expression inside a clause: what is open to the right is wrapped."""
    return expressions.at(found, operators.OR)


def clause(found: Clause) -> str:
    """One clause."""
    match found:
        case ForClause():
            return _for(found)
        case LetClause(bound, type_, value):
            return f"let ${name(bound)}{declared(type_)} := {_part(value)}"
        case WindowClause():
            return _window(found) if found.order == "first" else _forseq(found)
        case WhereClause(test):
            return f"where {_part(test)}"
        case GroupByClause(keys):
            return f"group by {', '.join(_group_key(k) for k in keys)}"
        case OrderByClause(stable, order_keys):
            words = "stable order by" if stable else "order by"
            return f"{words} {', '.join(_order_key(k) for k in order_keys)}"
        case CountClause(bound):
            return f"count ${name(bound)}"
        case _:
            assert_never(found)


def _for(found: ForClause) -> str:
    empty = " allowing empty" if found.allowing_empty else ""
    position = f" at ${name(found.position)}" if found.position else ""
    head = f"for ${name(found.name)}{declared(found.type)}{empty}{position}"
    return f"{head} in {_part(found.source)}"


def _group_key(found: GroupingSpec) -> str:
    value = f" := {_part(found.value)}" if found.value is not None else ""
    return f"${name(found.name)}{declared(found.type)}{value}{_collation(found.collation)}"


def _order_key(found: OrderSpec) -> str:
    direction = " descending" if found.descending else ""
    empty = f" empty {found.empty}" if found.empty else ""
    return f"{_part(found.value)}{direction}{empty}{_collation(found.collation)}"


def _collation(uri: str | None) -> str:
    return f" collation {quoted(uri)}" if uri is not None else ""


def _window(found: WindowClause) -> str:
    head = f"for {found.kind} window ${name(found.name)}{declared(found.type)}"
    parts = [f"{head} in {_part(found.source)}"]
    if found.start:
        parts.append(f"start{_w3c_variables(found.start)} when {_part(found.start.when)}")
    if found.end:
        word = "only end" if found.end.only else "end"
        parts.append(f"{word}{_w3c_variables(found.end)} when {_when(found.end)}")
    return " ".join(parts)


def _forseq(found: WindowClause) -> str:
    head = f"forseq ${name(found.name)}{declared(found.type)} in {_part(found.source)}"
    if found.start is None or found.end is None:
        return head
    start = f"start{_forseq_variables(found.start)} when {_part(found.start.when)}"
    word = "force end" if found.end.only else "end"
    end = f"{word}{_forseq_variables(found.end)} when {_when(found.end)}"
    return f"{head} {found.kind} window {start} {end}"


def _when(found: WindowEnd) -> str:
    return "newstart" if isinstance(found.when, NewStart) else _part(found.when)


def _w3c_variables(found: WindowStart | WindowEnd) -> str:
    roles = (
        ("", found.current),
        ("at ", found.position),
        ("previous ", found.previous),
        ("next ", found.next),
    )
    return "".join(f" {word}{_variable(v)}" for word, v in roles if v)


def _forseq_variables(found: WindowStart | WindowEnd) -> str:
    roles = (
        ("curItem", found.current),
        ("position", found.position),
        ("prevItem", found.previous),
        ("nextItem", found.next),
    )
    shown = ", ".join(f"{word} {_variable(v)}" for word, v in roles if v)
    return f" {shown}" if shown else ""


def _variable(found: WindowVariable) -> str:
    return f"${name(found.name)}{declared(found.type)}"
