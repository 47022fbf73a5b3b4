"""One way to reach the children of a plan node and to put others in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from operator import attrgetter
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
# Fields that never hold a child, so that no walk looks through a thousand constants for one.
_OPAQUE: Final = frozenset(
    {"span", "atoms", "namespaces", "scope", "carried", "type", "types", "parameters", "tests"}
    | {"variable", "variables", "copy"}
)
_FIELDS: Final[dict[type, tuple[str, ...]]] = {
    node: tuple(field.name for field in fields(node) if field.name not in _OPAQUE)
    for node in (*EXPRESSIONS, *STREAMS, *PARTS)
}
_PARTS: Final = frozenset(PARTS)


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What reads so many fields at once, as a tuple however many they are."""
    match names:
        case ():
            return lambda holder: ()
        case (name,):
            get = attrgetter(name)
            return lambda holder: (get(holder),)
        case _:
            return attrgetter(*names)


_VALUES: Final = {node: _values(names) for node, names in _FIELDS.items()}

Node = TypeVar("Node", bound=p.Plan)


def children(plan: p.Plan) -> list[p.Plan]:
    """The nodes directly inside, in the order they are written."""
    found: list[p.Plan] = []
    _add(_VALUES[type(plan)](plan), found)
    return found


def _add(values: tuple[Any, ...], found: list[p.Plan]) -> None:
    for value in values:
        kind = type(value)
        if kind in NODES:
            found.append(value)
        elif kind is tuple:
            if value:
                _add(value, found)
        elif kind in _PARTS:
            _add(_VALUES[kind](value), found)


def map_children(plan: Node, f: Callable[[Any], Any]) -> Node:
    """The node with f(child) in the place of each child; the node itself if nothing changed."""
    rebuilt: Node = _rebuilt(plan, f)
    return rebuilt


def _rebuilt(holder: Any, f: Callable[[Any], Any]) -> Any:
    kind = type(holder)
    before = _VALUES[kind](holder)
    if not before:
        return holder
    after = _mapped(before, f)
    if after is before:
        return holder
    pairs = zip(_FIELDS[kind], before, after, strict=True)
    return replace(holder, **{name: new for name, old, new in pairs if new is not old})


def _mapped(values: tuple[Any, ...], f: Callable[[Any], Any]) -> tuple[Any, ...]:
    """The values with f(node) in the place of each node; the very tuple if nothing changed."""
    made: list[Any] | None = None
    for i, value in enumerate(values):
        kind = type(value)
        if kind in NODES:
            new = f(value)
        elif kind is tuple:
            new = _mapped(value, f) if value else value
        elif kind in _PARTS:
            new = _rebuilt(value, f)
        else:
            continue
        if new is not value:
            if made is None:
                made = list(values)
            made[i] = new
    return values if made is None else tuple(made)


def bottom_up(plan: Node, f: Callable[[Any], Any]) -> Any:
    """f applied to every node, the innermost first."""
    return f(map_children(plan, lambda child: bottom_up(child, f)))


def descendants(plan: p.Plan) -> Iterator[p.Plan]:
    """The node and all nodes inside it, outermost first."""
    waiting = [plan]  # a stack of its own: nested generators would cost each node its depth
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(children(node))
