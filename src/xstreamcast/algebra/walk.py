"""One way to reach the children of a plan node and to put others in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, Final, TypeVar, get_args

from xstreamcast.algebra import plan as p

# What holds plan nodes without being one.
PARTS: Final = (
    p.SwitchCase,
    p.TypeCase,
    p.Catch,
    p.JoinKey,
    p.GroupKey,
    p.OrderKey,
    p.Boundary,
    p.ComputedName,
)
EXPRESSIONS: Final[tuple[type, ...]] = get_args(p.Expression)
STREAMS: Final[tuple[type, ...]] = get_args(p.Tuples)
NODES: Final = frozenset(EXPRESSIONS + STREAMS)
# Fields that never hold a child, so that nobody looks through a thousand constants for one.
_OPAQUE: Final = frozenset(
    {"span", "atoms", "namespaces", "scope", "carried", "type", "types", "parameters", "tests"}
    | {"variable", "variables", "copy"}
)
_FIELDS: Final[dict[type, tuple[str, ...]]] = {
    node: tuple(field.name for field in fields(node) if field.name not in _OPAQUE)
    for node in (*EXPRESSIONS, *STREAMS, *PARTS)
}
_PARTS: Final = frozenset(PARTS)

Node = TypeVar("Node", bound=p.Plan)


def children(plan: p.Plan) -> Iterator[p.Plan]:
    """The nodes directly inside, in the order they are written."""
    return _inside(plan)


def _inside(holder: Any) -> Iterator[p.Plan]:
    for name in _FIELDS[type(holder)]:
        yield from _found(getattr(holder, name))


def _found(value: Any) -> Iterator[p.Plan]:
    kind = type(value)
    if kind in NODES:
        yield value
    elif kind in _PARTS:
        yield from _inside(value)
    elif kind is tuple:
        for one in value:
            yield from _found(one)


def map_children(plan: Node, f: Callable[[Any], Any]) -> Node:
    """The node with f(child) in the place of each child; the node itself if nothing changed."""
    rebuilt: Node = _rebuilt(plan, f)
    return rebuilt


def _rebuilt(holder: Any, f: Callable[[Any], Any]) -> Any:
    changed = {}
    for name in _FIELDS[type(holder)]:
        old = getattr(holder, name)
        new = _mapped(old, f)
        if new is not old:
            changed[name] = new
    return replace(holder, **changed) if changed else holder


def _mapped(value: Any, f: Callable[[Any], Any]) -> Any:
    kind = type(value)
    if kind in NODES:
        return f(value)
    if kind in _PARTS:
        return _rebuilt(value, f)
    if kind is tuple:
        made = tuple(_mapped(one, f) for one in value)
        return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
    return value


def bottom_up(plan: Node, f: Callable[[Any], Any]) -> Any:
    """f applied to every node, the innermost first."""
    return f(map_children(plan, lambda child: bottom_up(child, f)))


def descendants(plan: p.Plan) -> Iterator[p.Plan]:
    """The node and all nodes inside it, outermost first."""
    waiting = [plan]  # a stack of its own: nested generators would cost each node its depth
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed([*children(node)])
