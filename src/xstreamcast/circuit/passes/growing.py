"""Relations that only grow at their end: rows follow all others, and never change or go.

Units of documents do, and those of answers that only grow. Operators over such relations keep no
rows for changes that never come.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of, with_sources

COUNTS: Final = frozenset({"count", "exists", "empty"})  # which look at no item
ACCUMULATED: Final = COUNTS | {"sum", "avg", "min", "max"}


def appended(
    circuit: c.Circuit, grown: frozenset[str | None], once: frozenset[str | None] = frozenset()
) -> c.Circuit:
    """The circuit that knows its units only follow each other, if all of its inputs do so.

    `once`: inputs whose units are dropped after each tick, and never known again.
    """
    units = [node for node in in_order(circuit.root) if isinstance(node, c.Units)]
    others = set(circuit.sources) - grown - once
    if others or circuit.whole or any(one.clock for one in units):
        return circuit
    made: dict[int, c.Node] = {}
    for node in in_order(circuit.root):
        if isinstance(node, c.Units):
            made[id(node)] = replace(node, append=node.input not in once)
        else:
            made[id(node)] = with_sources(node, made)
    return replace(circuit, root=made[id(circuit.root)])


def grows(node: c.Node) -> bool:
    """Whether rows of a relation follow all others, and never change or go."""
    match node:
        case c.Units(append=append):
            return append
        case c.Rows(source=source, scalars=scalars, whole=whole, clock=clock):
            return grows(source) and not (scalars or whole or clock)
        case c.Number(source=source, outer=0, size=None):
            return grows(source)
        case c.Slice(source=source, outer=0, first=first, last=last):
            return first > 0 and (last is None or last > 0) and grows(source)
        case _:
            return False


def adds(node: c.Node) -> bool:
    """Whether rows of a relation never change or go, wherever further ones are."""
    match node:
        case c.Rows(source=source, scalars=scalars, whole=whole, clock=clock):
            return adds(source) and not (scalars or whole or clock)
        case c.Join(left=left, right=right):
            return adds(left) and adds(right)
        case _:
            return grows(node)


def accumulates(node: c.Group) -> bool:
    """Whether groups need none of their rows again: rows are only appended, folds are values."""
    return grows(node.source) and all(map(goes_on, node.folds))


def goes_on(fold: c.Fold) -> bool:
    """Whether a fold needs its last value and what came since, and nothing else."""
    plain = fold.call is not None and len(fold.call.args) == 1 and fold.around is None
    each = not fold.different and fold.once is None
    return plain and each and fold.name in ACCUMULATED


def inputs_beside(node: c.Node, outer: c.Node | None = None) -> frozenset[str | None]:
    """The inputs that a relation reads besides those of the outer one that it is nested in."""
    if node is outer:
        return frozenset()
    if isinstance(node, c.Units):
        return frozenset({node.input})
    return frozenset().union(*(inputs_beside(one, outer) for one in sources_of(node)))
