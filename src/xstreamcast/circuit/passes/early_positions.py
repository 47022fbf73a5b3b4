"""Positions of rows, taken before what is computed for each row.

positions 1 to 3 of (order by …, count of rows that compare)  →  the count for three rows alone

It holds where each row becomes one row, in the same order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.item_kinds import TypeContext, static_type
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of, with_sources


def with_early_positions(root: c.Node) -> c.Node:
    """The circuit whose positions are as low as they can be, below folds over other rows."""
    order = in_order(root)
    readers = Counter(id(one) for node in order for one in sources_of(node))
    made: dict[int, c.Node] = {}
    for node in order:
        one = with_sources(node, made)
        if isinstance(node, c.Slice) and not node.outer:
            above = _computed(node.source, readers)
            if any(isinstance(each, c.RangeFold) for each in above):
                one = _lowered(node, above, made)
        made[id(node)] = one
    return made[id(root)]


def _computed(node: c.Node, readers: Counter[int]) -> list[c.Rows | c.RangeFold]:
    """The operators, from the top, that make one row of each, if nothing else reads them."""
    found: list[c.Rows | c.RangeFold] = []
    while readers[id(node)] == 1:
        match node:
            case c.RangeFold(outer=below) if not node.within:
                pass
            case c.Rows(source=below, tuples=tuples, whole=whole) if not whole and _is_one(tuples):
                pass
            case _:
                break
        found.append(node)
        node = below
    while found and not isinstance(found[-1], c.RangeFold):  # a map alone is as well above
        found.pop()
    return found


def _is_one(tuples: p.Tuples) -> bool:
    """Whether each row becomes one row."""
    while not isinstance(tuples, p.Unit):
        match tuples:
            case p.Let():
                pass
            case p.ForEach(_, _, items, None, False) if static_type(items, TypeContext({})).one:
                pass
            case _:
                return False
        tuples = tuples.source
    return True


def _lowered(
    node: c.Slice, above: list[c.Rows | c.RangeFold], made: dict[int, c.Node]
) -> c.Node:  # fmt: skip
    lowest = above[-1]
    assert isinstance(lowest, c.RangeFold)
    below = made[id(lowest.outer)]
    found: c.Node = replace(node, source=below, columns=below.columns, width=below.width)
    for one in reversed(above):
        over = {id(source): made[id(source)] for source in sources_of(one)}
        over[id(one.outer if isinstance(one, c.RangeFold) else one.source)] = found
        found = with_sources(one, over)
    return found
