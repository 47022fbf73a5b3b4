"""A circuit in two stages: maps of units wherever the units are, and what reads their rows.

Units and what is computed from one unit alone may be partitioned by the units' ids. What follows
reads rows of all of them.
"""

from __future__ import annotations

from typing import NamedTuple

from xstreamcast.circuit import nodes as c


class Stages(NamedTuple):
    """The nodes of each stage in order, and the nodes whose rows the second reads of the first."""

    units: tuple[c.Node, ...]
    answer: tuple[c.Node, ...]
    exchanged: tuple[c.Node, ...]


def stages_of(circuit: c.Circuit) -> Stages:
    """The circuit, cut where rows of several units meet."""
    units: dict[int, c.Node] = {}
    answer: list[c.Node] = []
    for node in c.in_order(circuit.root):
        if _reads_one_unit(node, units):
            units[id(node)] = node
        else:
            answer.append(node)
    read = {id(one) for node in answer for one in c.inputs_of(node)} | {id(circuit.root)}
    exchanged = tuple(node for at, node in units.items() if at in read)
    return Stages(tuple(units.values()), tuple(answer), exchanged)


def _reads_one_unit(node: c.Node, units: dict[int, c.Node]) -> bool:
    match node:
        case c.Units():
            return True
        case c.Rows(source=source, scalars=scalars, whole=whole, clock=clock):
            timed = clock and not isinstance(source, c.Units)
            return id(source) in units and not (scalars or whole or timed)
        case _:
            return False


def why_one_partition(circuit: c.Circuit, strict: bool) -> str | None:
    """Why the units of a circuit are not partitioned, in words; None if they are."""
    inputs = {node.input for node in c.in_order(circuit.root) if isinstance(node, c.Units)}
    if not inputs:
        return "nothing is computed unit by unit"
    if circuit.whole:
        return "a part of it reads an input as a whole"
    if strict and not isinstance(circuit.root, c.Units):
        return "answers that wait for missing fragments are emitted where all fragments are seen"
    return None
