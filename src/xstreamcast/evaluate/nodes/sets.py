"""union, intersect, except: sets of nodes, row by row, in document order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.atomic import NODE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.tape.order import distinct_by_label

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Ints


def set_operation(plan: p.SetOperation, frame: Frame) -> Column:
    """Both sides sorted by row and node, then merged."""
    left, right = (_nodes(side, plan.op, frame) for side in (plan.left, plan.right))
    rows = np.concatenate((left[0], right[0]))
    nodes = np.concatenate((left[1], right[1]))
    if plan.op == "union":
        order = np.argsort(rows, kind="stable")
        rows, nodes = distinct_by_label(rows[order], nodes[order])
    else:
        rows, nodes = _against(rows, nodes, len(left[0]), plan.op == "intersect")
    return Column.labelled(Items.of_nodes(nodes), rows, frame.n)


def _nodes(plan: p.Expression, op: str, frame: Frame) -> tuple[Ints, Ints]:
    column = evaluate(plan, frame)
    if len(column.items) and column.items.tag != NODE:
        raise error("XPTY0004", f"an operand of {op} must be nodes; got another item")
    return distinct_by_label(column.rows(), column.items.values.astype(np.int64))


def _against(rows: Ints, nodes: Ints, split: int, both: bool) -> tuple[Ints, Ints]:
    """Those of the left part (before `split`) that the right part has, or has not."""
    order = np.lexsort((np.arange(len(rows)) >= split, nodes, rows))
    r, h = rows[order], nodes[order]
    twin = np.zeros(len(r), np.bool_)
    twin[:-1] = (r[1:] == r[:-1]) & (h[1:] == h[:-1])  # the left one sorts before its twin
    keep = (order < split) & (twin == both)
    return r[keep], h[keep]
