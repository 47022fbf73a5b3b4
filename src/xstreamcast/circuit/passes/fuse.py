"""The last map of a circuit evaluated where the answer is emitted: its rows are kept nowhere.

rows → tuples of each row → result of each tuple  →  rows → results of each row's tuples
"""

from __future__ import annotations

from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import follows_clock


def fused(root: c.Node, result: p.Expression) -> tuple[c.Node, p.Expression]:
    """The root below the last maps, and the result with them put in."""
    while isinstance(root, c.Rows) and _reads_its_row_alone(root):
        result = _over(root.tuples, result)
        root = root.source
    return root, result


def _over(tuples: p.Tuples, result: p.Expression) -> p.Expression:
    """let $v := e return $v  →  e"""
    match tuples, result:
        case p.Unit(), _:
            return result
        case p.Let(p.Unit(), variable, value), p.Var(name) if name == variable:
            return value
        case _:
            return p.Return(tuples, result, span=result.span)


def _reads_its_row_alone(node: c.Rows) -> bool:
    """Whether its rows change only when rows of its source do."""
    timed = node.clock and not follows_clock(node.source)
    return not (node.scalars or node.whole or timed)
