"""The tree for eyes: one node a line, children indented under the name of their field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from xstreamcast.syntax.grammar.module import room_for_nesting
from xstreamcast.syntax.printing.literals import name, quoted
from xstreamcast.syntax.printing.types import node_test, sequence_type, single_type
from xstreamcast.syntax.tree import (
    Module,
    Name,
    NodeTest,
    SingleType,
    TypeExpr,
)


def show_tree(module: Module) -> str:
    """The nodes of a query, one a line."""
    with room_for_nesting():
        return "\n".join(_node(module, "", ""))


def _node(node: Any, indent: str, label: str) -> Iterator[str]:
    shown = [f"{f}={v}" for f, v in _facts(node)]
    yield f"{indent}{label}{' '.join([type(node).__name__, *shown])}"
    for field, child in _children(node):
        yield from _node(child, indent + "  ", f"{field}: ")


def _facts(node: Any) -> Iterator[tuple[str, str]]:
    """What fits on the node's own line; what is absent or false is left out."""
    for field in fields(node):
        value = getattr(node, field.name)
        if _hidden(node, field.name) or value is None or value is False or value == ():
            continue
        text = _inline(value)
        if text is not None:
            yield field.name, text


def _hidden(node: Any, field: str) -> bool:
    """Spans, and the text of the module; `source` is a child of `for` and windows."""
    return field == "span" or (field == "source" and isinstance(node, Module))


def _inline(value: Any) -> str | None:
    if isinstance(value, Name):
        return name(value)
    if isinstance(value, TypeExpr):
        return f"'{sequence_type(value)}'"
    if isinstance(value, SingleType):
        return f"'{single_type(value)}'"
    if isinstance(value, NodeTest):
        return node_test(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, tuple):
        return None if any(is_dataclass(v) and _inline(v) is None for v in value) else _list(value)
    return None if is_dataclass(value) else str(value).lower()


def _list(values: tuple[Any, ...]) -> str:
    return f"[{', '.join(_inline(v) or '' for v in values)}]"


def _children(node: Any) -> Iterator[tuple[str, Any]]:
    for field in fields(node):
        value = getattr(node, field.name)
        if _hidden(node, field.name) or _inline(value) is not None:
            continue
        for child in value if isinstance(value, tuple) else (value,):
            if is_dataclass(child):
                yield field.name, child
