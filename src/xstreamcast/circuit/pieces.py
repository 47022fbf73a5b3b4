"""Documents that are read in pieces of whole units, of which nothing is kept.

A piece stands for all units in it: what is the same over any cutting needs no unit by itself. It
holds where answers leave as units come, and where folds over all units go on from their last value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from xstreamcast.circuit import nodes as c

GROWING: Final = frozenset(
    {"count", "exists", "empty", "sum", "avg", "min", "max", "distinct-values"}
)  # folds of what follows, taken from the fold of what came before


def in_pieces(circuit: c.Circuit, documents: frozenset[str | None]) -> c.Circuit:
    """The circuit over pieces, if all of its inputs are documents and nothing else is kept."""
    nodes = c.in_order(circuit.root)
    read = {name for name in circuit.sources if name not in documents}
    if read or circuit.whole or not all(_keeps_nothing(node, circuit.root) for node in nodes):
        return circuit
    made: dict[int, c.Node] = {}
    for node in nodes:
        if isinstance(node, c.Units):
            made[id(node)] = replace(node, pieces=True)
        else:
            made[id(node)] = c.with_inputs(node, made)
    return replace(circuit, root=made[id(circuit.root)])


def _keeps_nothing(node: c.Node, root: c.Node) -> bool:
    match node:
        case c.One():
            return True
        case c.Units(clock=clock):
            return not clock
        case c.Nest():
            return accumulates(node)
        case c.Rows(source=c.Units(), scalars=scalars, clock=clock):
            return node is not root and not scalars and not clock
        case c.Rows(width=0, clock=clock):
            return not clock
        case _:
            return False


def accumulates(node: c.Node) -> bool:
    """Whether a node is one row with folds over what maps make of units, in their order."""
    if not isinstance(node, c.Nest) or node.width:
        return False
    return all(
        isinstance(one, c.Rows) and isinstance(one.source, c.Units) and fold.name in GROWING
        and fold.call is not None and len(fold.call.args) == 1
        for one, fold in node.inner
    )  # fmt: skip
