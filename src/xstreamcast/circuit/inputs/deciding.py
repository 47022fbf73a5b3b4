"""Which inputs must be complete before a strict answer may be emitted.

A row that was made of complete units is final if nothing that is missing can take it away: maps,
joins and concatenations only add rows. Folds, groups, orders, positions and windows wait for what
they go over; a nested fold does not wait for its outer rows.
"""

from __future__ import annotations

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of
from xstreamcast.circuit.passes.growing import inputs_beside


def waited_for(circuit: c.Circuit) -> frozenset[str | None]:
    """The inputs that some operator needs all of."""
    found: set[str | None] = set(circuit.whole)
    for node in in_order(circuit.root):
        outer = node.outer if isinstance(node, c.Nest | c.RangeFold) else None
        for one in _needed_whole(node):
            found |= inputs_beside(one, outer)
    return frozenset(found)


def _needed_whole(node: c.Node) -> tuple[c.Node, ...]:
    match node:
        case c.One() | c.Root() | c.Spine() | c.Units():
            return ()
        case c.Join() | c.IntervalJoin() | c.BandJoin() | c.Within() | c.Union():
            return ()
        case c.GrowingWindow():
            return ()  # windows close for good
        case c.Rows(scalars=scalars):
            return tuple(one for _, one in scalars)
        case c.Nest(inner=inner):
            return tuple(one for one, _ in inner)
        case c.RangeFold(inner=one):
            return (one,)
        case _:
            return sources_of(node)
