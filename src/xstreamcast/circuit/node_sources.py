"""The relations that nodes of a circuit read: listed, replaced, and walked in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xstreamcast.circuit.nodes import (
    BandJoin,
    IntervalJoin,
    Join,
    Nest,
    Node,
    One,
    Pick,
    RangeFold,
    Root,
    Rows,
    Spine,
    Union,
    Units,
    Within,
)


def sources_of(node: Node) -> tuple[Node, ...]:
    """The relations that a node reads."""
    match node:
        case One() | Root() | Spine() | Units():
            return ()
        case Within(outer=outer, units=units):
            return (outer, units)
        case Rows(source=source, scalars=scalars):
            return (source, *(one for _, one in scalars))
        case Join() | IntervalJoin() | BandJoin():
            return (node.left, node.right)
        case Nest(outer=outer, inner=inner):
            return (outer, *(one for one, _ in inner))
        case RangeFold(outer=outer, inner=one):
            return (outer, one)
        case Union(parts=parts):
            return parts
        case Pick(source=source, place=place):
            return (source, place)
        case _:
            return (node.source,)


def follows_clock(node: Node) -> bool:
    """Whether a node emits the rows that the clock may change, when it does."""
    return isinstance(node, Units) or (isinstance(node, IntervalJoin) and node.renews)


def with_sources(node: Any, made: Mapping[int, Node]) -> Node:
    """The node over other inputs, which are found by the identity of those it reads."""
    match node:
        case One() | Root() | Spine() | Units():
            return node
        case Within(outer=outer, units=units):
            return replace(node, outer=made[id(outer)], units=made[id(units)])
        case Rows(source=source, scalars=scalars):
            own = tuple((variable, made[id(one)]) for variable, one in scalars)
            return replace(node, source=made[id(source)], scalars=own)
        case Join() | IntervalJoin() | BandJoin():
            return replace(node, left=made[id(node.left)], right=made[id(node.right)])
        case Nest(outer=outer, inner=inner):
            nested = tuple((made[id(one)], fold) for one, fold in inner)
            return replace(node, outer=made[id(outer)], inner=nested)
        case RangeFold(outer=outer, inner=one):
            return replace(node, outer=made[id(outer)], inner=made[id(one)])
        case Union(parts=parts):
            return replace(node, parts=tuple(made[id(one)] for one in parts))
        case Pick(source=source, place=place):
            return replace(node, source=made[id(source)], place=made[id(place)])
        case _:
            return replace(node, source=made[id(node.source)])  # type: ignore[no-any-return]


def in_order(root: Node) -> list[Node]:
    """All nodes, each after those that it reads."""
    found: dict[int, Node] = {}

    def visit(node: Node) -> None:
        if id(node) not in found:
            for one in sources_of(node):
                visit(one)
            found[id(node)] = node

    visit(root)
    return list(found.values())
