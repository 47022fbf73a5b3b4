"""Documents that are read in pieces of whole units, of which nothing is kept.

A piece stands for all units in it: what is the same over any cutting needs no unit by itself. It
holds where answers leave as units come, and where folds over all units go on from their last value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.functions.registry import Function
from xstreamcast.functions.signature import FN

GROWING: Final = frozenset(
    {"count", "exists", "empty", "sum", "avg", "min", "max", "distinct-values"}
)  # folds of what follows, taken from the fold of what came before


def in_pieces(circuit: c.Circuit, documents: frozenset[str | None]) -> c.Circuit:
    """The circuit over pieces, if all of its inputs are documents and nothing of them is kept."""
    nodes = c.in_order(circuit.root)
    others = set(circuit.sources) - documents
    if others or circuit.whole or not _keeps_nothing(nodes, circuit.root):
        return circuit
    made: dict[int, c.Node] = {}
    for node in nodes:
        if isinstance(node, c.Units):
            made[id(node)] = replace(node, pieces=True)
        else:
            made[id(node)] = c.with_inputs(node, made)
    root = made[id(circuit.root)]
    if isinstance(root, c.GrowingWindow) and circuit.result == p.Var(root.columns[0]):
        root = replace(root, answer=True)
    return replace(circuit, root=root)


def runs_growing(circuit: c.Circuit) -> bool:
    """Whether operators over items that only follow each other can run: they read pieces, and
    nodes of a document leave them for the answer alone.
    """
    nodes = c.in_order(circuit.root)
    if any(isinstance(node, c.Units) and not node.pieces for node in nodes):
        return not any(map(_grows_alone, nodes))
    windows = [node for node in nodes if isinstance(node, c.GrowingWindow)]
    return all(node.answer or not node.holds_nodes for node in windows)


def _grows_alone(node: c.Node) -> bool:
    """Whether an operator runs over pieces alone."""
    if isinstance(node, c.Nest):
        return any(fold.around is not None for _, fold in node.inner)
    return isinstance(node, c.GrowingWindow)


def _keeps_nothing(nodes: list[c.Node], root: c.Node) -> bool:
    """Whether units are read by the answer itself or by folds that accumulate, and by no other."""
    if any(isinstance(node, c.Units) and node.clock for node in nodes):
        return False
    if _groups_values(root):
        return True
    folded: set[int] = set()  # nodes that do not grow with the units
    for node in (one for one in nodes if not isinstance(one, c.Units)):
        if isinstance(node, c.GrowingWindow):
            folded.add(id(node))  # its rows hold no units
        elif accumulates(node) or all(id(one) in folded for one in c.inputs_of(node)):
            folded.add(id(node))
        elif not _maps_units(node):
            return False
    maps = {id(one) for node in nodes if accumulates(node) for one in c.inputs_of(node)}
    alone = all(id(node) in maps for node in nodes if _maps_units(node))
    return alone and (isinstance(root, c.Units) or id(root) in folded)


def _groups_values(root: c.Node) -> bool:
    """Whether groups are made of what a map takes from units, and none of it is a node."""
    if not isinstance(root, c.Group) or not _maps_units(root.source):
        return False
    assert isinstance(root.source, c.Rows)
    return set(root.source.columns) <= _values(root.source.tuples)


def _values(tuples: p.Tuples) -> set[p.Variable]:
    """The variables that are bound to the values of nodes."""
    found: set[p.Variable] = set()
    while not isinstance(tuples, p.Unit):
        match tuples:
            case p.Let(source, variable, p.Call(function=function)) if _is_data(function):
                found.add(variable)
                tuples = source
            case p.Let(source=source) | p.Where(source=source) | p.ForEach(source=source):
                tuples = source
            case _:
                return set()
    return found


def _is_data(function: Function) -> bool:
    return (function.uri, function.local) == (FN, "data")


def _maps_units(node: c.Node) -> bool:
    match node:
        case c.Rows(source=c.Units(), scalars=scalars, clock=clock):
            return not scalars and not clock
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
