"""Answers that only grow, and what queries that look up in them need to keep."""

from __future__ import annotations

from xstreamcast.algebra.nodes.static_type import ATOMIC
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.inputs.transient import by_columns, transient
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.passes.growing import grows
from xstreamcast.circuit.passes.top_n import row_types


def only_grows(circuit: c.Circuit, once: frozenset[str | None]) -> bool:
    """Whether items of an answer follow all others, and are never revised.

    `once`: inputs whose units are dropped after each tick; what they gave stays.
    """
    if circuit.hasty:  # it may be planned again, and revise what it emitted
        return False
    if grows(circuit.root) or _closes_in_order(circuit.root):
        return True
    return bool(once) and by_columns(circuit, transient(circuit, once))


def _closes_in_order(node: c.Node) -> bool:
    """Whether windows are emitted when they have ended, each behind those before it."""
    if not isinstance(node, c.GrowingWindow) or not node.answer or node.shape.by is not None:
        return False
    return node.shape.window.kind == "tumbling" and node.shape.window.only_end


def keeps_values(join: c.Join) -> bool:
    """Whether the right side of a join by equality only grows, and its rows are atomic values."""
    return join.key is not None and join.key.op == "eq" and _units_of_values(join.right) is not None


def _units_of_values(node: c.Node) -> c.Units | None:
    """The units of which a relation that only grows has atomic values, and nothing else."""
    if not grows(node) or not isinstance(node, c.Rows) or not isinstance(node.source, c.Units):
        return None
    types = row_types(node).variables
    values = all(one in types and types[one].only(ATOMIC) for one in node.columns)
    return node.source if values else None


def looked_up_by_value(circuit: c.Circuit, gone: frozenset[int]) -> frozenset[str | None]:
    """The inputs of which values are kept and no nodes: all their units are looked up so.

    `gone`: the nodes whose rows live for one tick, as columns.
    """
    nodes = in_order(circuit.root)
    joins = [one for one in nodes if isinstance(one, c.Join) and id(one) in gone]
    kept = {id(_units_of_values(one.right)) for one in joins if keeps_values(one)}
    units = [one for one in nodes if isinstance(one, c.Units)]
    others = {one.input for one in units if id(one) not in kept}
    return frozenset(one.input for one in units) - others
