"""The expressions directly inside a node of the tree, and the node with others in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final, TypeVar, get_args

from xstreamcast.syntax import tree as t

Node = TypeVar("Node")
EXPRESSIONS: Final = get_args(t.Expr)


def rebuilt(node: Node, change: Callable[[t.Expr], t.Expr]) -> Node:
    """The node with each expression directly inside it changed."""
    new = {
        field.name: _changed(getattr(node, field.name), change)
        for field in fields(node)  # type: ignore[arg-type]
        if field.name != "span"
    }
    return replace(node, **new)  # type: ignore[type-var]


def _changed(value: Any, change: Callable[[t.Expr], t.Expr]) -> Any:
    if isinstance(value, EXPRESSIONS):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_changed(one, change) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        return rebuilt(value, change)
    return value


def everything(node: Any) -> Iterator[Any]:
    """The node and all nodes anywhere inside it."""
    todo = [node]
    while todo:
        found = todo.pop()
        if isinstance(found, tuple):
            todo.extend(found)
        elif is_dataclass(found) and not isinstance(found, type):
            yield found
            todo.extend(getattr(found, field.name) for field in fields(found))
