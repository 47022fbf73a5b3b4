"""Counts of rows that compare, of which a condition lets small ones through alone.

where count(e[v > $a/v]) + 1 <= 3  →  rows are counted up to 3: who has more need not be known

So a change touches no row that has more before and after it. It holds if whatever reads the count
begins with such a condition.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from math import ceil, floor, isfinite
from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of, with_sources
from xstreamcast.rewrite.ask_existence_for_counts import SWAPPED


def capped(root: c.Node, result: p.Expression) -> c.Node:
    """The circuit whose counts go no further than the conditions above them tell apart."""
    order = in_order(root)
    made: dict[int, c.Node] = {}
    for node in order:
        one = with_sources(node, made)
        if isinstance(one, c.RangeFold) and one.fold.name == "count":
            readers: list[p.Tuples | None] = [
                other.tuples if isinstance(other, c.Rows) and other.source is node else None
                for other in order
                if any(node is source for source in sources_of(other))
            ]
            if node is root:
                readers.append(result.source if isinstance(result, p.Return) else None)
            caps = [_cap(_clauses(tuples), one.fold.into) for tuples in readers]
            known = [cap for cap in caps if cap is not None]
            if known and len(known) == len(caps):
                one = replace(one, cap=max(known))
        made[id(node)] = one
    return made[id(root)]


def _clauses(tuples: p.Tuples | None) -> list[Any]:
    """The clauses over a row, the first one first."""
    found: list[Any] = []
    while isinstance(tuples, p.Let | p.Where | p.ForEach):
        found.append(tuples)
        tuples = tuples.source
    return found[::-1] if isinstance(tuples, p.Unit) else []


def _cap(clauses: list[Any], count: p.Variable) -> int | None:
    """The least number that fails the first condition on a count, as all larger ones do."""
    known = {count: 0}  # by variable: how much larger it is than the count
    for clause in clauses:
        match clause:
            case p.Let(_, variable, value) if (more := _larger_by(value, known)) is not None:
                known[variable] = more
            case p.Where(_, test) if facts(test).used & known.keys():
                return _of_test(test, known)
            case p.Let(_, _, plan) | p.Where(_, plan) if not facts(plan).used & known.keys():
                pass
            case _:
                return None
    return None


def _of_test(test: p.Expression, known: Mapping[p.Variable, int]) -> int | None:
    parts = test.operands if isinstance(test, p.And) else (test,)
    read = [part for part in parts if facts(part).used & known.keys()]
    bounds = [bound for part in read if (bound := _bound(part, known)) is not None]
    return max(0, min(bounds)) + 1 if len(bounds) == len(read) else None


def _bound(test: p.Expression, known: Mapping[p.Variable, int]) -> int | None:
    """The largest count that passes a condition; None if there is none."""
    match test:
        case p.GeneralCompare(op, left, right) | p.ValueCompare(op, left, right):
            pass
        case _:
            return None
    if isinstance(left, p.Const):
        left, right, op = right, left, SWAPPED[op]
    more, number = _larger_by(left, known), _number(right)
    if more is None or number is None:
        return None
    match op:
        case "le" | "eq":
            return floor(number) - more
        case "lt":
            return ceil(number) - 1 - more
        case _:
            return None


def _larger_by(plan: p.Expression, known: Mapping[p.Variable, int]) -> int | None:
    match plan:
        case p.Var(variable):
            return known.get(variable)
        case p.Arithmetic("+", p.Const((p.Atom(value=int(n)),)), one) | p.Arithmetic(
            "+", one, p.Const((p.Atom(value=int(n)),))
        ) if not isinstance(n, bool):
            more = _larger_by(one, known)
            return None if more is None else more + n
        case p.Arithmetic("-", one, p.Const((p.Atom(value=int(n)),))) if not isinstance(n, bool):
            more = _larger_by(one, known)
            return None if more is None else more - n
        case _:
            return None


def _number(plan: p.Expression) -> int | float | Decimal | None:
    match plan:
        case p.Const((p.Atom(value=int() | float() | Decimal() as n),)):
            return n if not isinstance(n, bool) and isfinite(n) else None
        case _:
            return None
