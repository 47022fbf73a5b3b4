"""Rows that go after each tick, because the units that they come from are read once."""

from __future__ import annotations

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of


def transient(circuit: c.Circuit, once: frozenset[str | None]) -> frozenset[int] | None:
    """The nodes, by identity, all of whose rows go when the units of some inputs do.

    None if a node has rows that go and others that stay, and cannot tell them apart at once.
    """
    gone: set[int] = set()
    for node in in_order(circuit.root):
        if isinstance(node, c.Units):
            if node.input in once:
                gone.add(id(node))
            continue
        going = [id(one) in gone for one in sources_of(node)]
        if _all_go(node, going):
            gone.add(id(node))
        elif any(going):
            return None
    return frozenset(gone)


def _all_go(node: c.Node, going: list[bool]) -> bool:
    """Whether no row is left when the rows of some inputs go."""
    match node:
        case c.One() | c.Root() | c.Spine():
            return False
        case c.Rows():  # values that all rows read may stay
            return going[0]
        case c.Join():  # pairs go with either row
            return any(going)
        case _:
            return all(going)
