"""Documents that are read in pieces of whole units, of which nothing is kept.

A piece represents all units in it: what is the same over any cutting needs no unit by itself. It
holds where answers are emitted as units come, and where folds over all units are only updated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.nodes.static_type import ATOMIC
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of, with_sources
from xstreamcast.circuit.passes.growing import ACCUMULATED, COUNTS, goes_on
from xstreamcast.circuit.passes.top_n import row_types
from xstreamcast.circuit.passes.top_values import makes_values

# folds of what follows, taken from the fold of what came before
GROWING: Final = ACCUMULATED | {"distinct-values"}


def in_pieces(circuit: c.Circuit, documents: frozenset[str | None]) -> c.Circuit:
    """The circuit over pieces, if all of its inputs are documents and nothing of them is kept."""
    nodes = in_order(circuit.root)
    others = set(circuit.sources) - documents
    if others or circuit.whole or not _keeps_nothing(nodes, circuit.root):
        return circuit
    made: dict[int, c.Node] = {}
    for node in nodes:
        if isinstance(node, c.Units):
            made[id(node)] = replace(node, pieces=True)
        else:
            made[id(node)] = with_sources(node, made)
    root = made[id(circuit.root)]
    if isinstance(root, c.GrowingWindow) and circuit.result == p.Var(root.columns[0]):
        root = replace(root, answer=True)
    return replace(circuit, root=root)


def runs_growing(circuit: c.Circuit) -> bool:
    """Whether operators over items that only follow each other can run: they read pieces, and
    nodes of a document leave them for the answer alone.
    """
    nodes = in_order(circuit.root)
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
    folded: set[int] = set()  # nodes that do not grow with the units
    for node in (one for one in nodes if not isinstance(one, c.Units)):
        if isinstance(node, c.GrowingWindow):
            folded.add(id(node))  # its rows hold no units
        elif _folds(node) or all(id(one) in folded for one in sources_of(node)):
            folded.add(id(node))
        elif not _maps_units(node):
            return False
    maps = {id(one) for node in nodes if _folds(node) for one in sources_of(node)}
    alone = all(id(node) in maps for node in nodes if _maps_units(node))
    return alone and (isinstance(root, c.Units) or id(root) in folded)


def _folds(node: c.Node) -> bool:
    """Whether no node of a unit leaves for the rows of a node that reads maps of units."""
    return accumulates(node) or _groups_values(node) or _sorts_values(node)


def _sorts_values(node: c.Node) -> bool:
    """Whether the first rows of an order hold values and new nodes alone."""
    if not isinstance(node, c.Order) or node.limit is None or not _maps_units(node.source):
        return False
    assert isinstance(node.source, c.Rows)
    return {*node.columns, *(key.column for key in node.keys)} <= _values(node.source, True)


def _groups_values(node: c.Node) -> bool:
    """Whether groups are made of what a map takes from units, and keep no node of it."""
    if not isinstance(node, c.Group) or not _maps_units(node.source):
        return False
    assert isinstance(node.source, c.Rows)
    counted = {fold.column for fold in node.folds if fold.name in COUNTS and goes_on(fold)}
    kept = {column for column, _ in node.keys} | set(node.carried)
    kept |= {fold.column for fold in node.folds} - counted
    return kept <= _values(node.source)


def _values(node: c.Rows, or_new: bool = False) -> set[p.Variable]:
    """The variables of a loop over items of units that are bound to atomic values alone.

    `or_new`: or to nodes that the query makes.
    """
    made: dict[p.Variable, p.Expression] = {}
    bound: list[p.Variable] = []
    looped: list[p.Variable] = []  # those within the outermost loop
    tuples = node.tuples
    while not isinstance(tuples, p.Unit):
        match tuples:
            case p.ForEach(source=source, variable=variable):
                bound.append(variable)
                looped = list(bound)
            case p.Let(source=source, variable=variable, value=value):
                bound.append(variable)
                made[variable] = value
            case p.Where(source=source):
                pass
            case _:
                return set()
        tuples = source
    assert isinstance(node.source, c.Units)
    types = row_types(node)
    new = {v for v, value in made.items() if or_new and makes_values(value, types)}
    return {v for v in looped if types.variables[v].only(ATOMIC) or v in new}


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
