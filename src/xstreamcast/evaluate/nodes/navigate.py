"""Focus, steps and paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.frame import ITEM, LAST, POSITION
from xstreamcast.evaluate.nodes.node_tests import node_test, untyped_only
from xstreamcast.evaluate.typing.matching import node_matches
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.atomic import MIXED, NODE
from xstreamcast.model.column import Column, scatter
from xstreamcast.model.items import Items
from xstreamcast.tape.layout import DOCUMENT
from xstreamcast.tape.order import distinct_by_label

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Ints


_DOWN = ("descendant", "descendant-or-self")


def focus(plan: p.Focus, frame: Frame) -> Column:
    """The context item."""
    return frame.focus(ITEM)


def position(plan: p.Position, frame: Frame) -> Column:
    """Its position."""
    return frame.focus(POSITION)


def last(plan: p.Last, frame: Frame) -> Column:
    """The context size."""
    return frame.focus(LAST)


def root(plan: p.TreeRoot, frame: Frame) -> Column:
    """The root of each tree, which must be a document."""
    operand = evaluate(plan.operand, frame)
    if len(operand.items) and operand.items.tag != NODE:
        raise error("XPTY0020", "the leading / of a path needs a node as context item")
    roots = frame.context.store.roots(operand.items.values)
    if (frame.context.store.kinds(roots) != DOCUMENT).any():
        raise error("XPDY0050", "the root of the tree must be a document; got another node")
    return ordered(operand.with_items(Items.of_nodes(roots)))


def step(plan: p.Step, frame: Frame) -> Column:
    """One step along an axis from all nodes of all rows in one go."""
    origin = evaluate(plan.input, frame)
    nodes_only(origin, "XPTY0020" if isinstance(plan.input, p.Focus) else "XPTY0019")
    if len(origin.items) == 0 or not untyped_only(plan.test):
        return Column.empty(frame.n)
    store = frame.context.store
    test = node_test(plan.test, plan.axis)
    if frame.n == 1 and len(origin.items) > 1 and plan.axis in _DOWN and not plan.test.content:
        own = plan.axis == "descendant-or-self"
        found = store.descendant_distinct(origin.items.values, test, own)
        return Column(Items.of_nodes(found), np.array([0, len(found)], np.int64))
    labels, nodes = store.step(origin.items.values, plan.axis, test)
    if plan.test.content is not None:
        fits = node_matches(store, nodes, plan.test)
        labels, nodes = labels[fits], nodes[fits]
    if origin.offsets is None:
        return Column.labelled(Items.of_nodes(nodes), labels, frame.n)
    if plan.settled:
        return Column.labelled(Items.of_nodes(nodes), origin.rows()[labels], frame.n)
    return _in_order(origin.rows()[labels], nodes, frame.n)


def nodes_only(column: Column, code: str) -> None:
    """The error if an item is no node."""
    if column.items.tag != NODE and len(column.items):
        raise error(code)


def ordered(column: Column) -> Column:
    """The nodes of each row, distinct and in document order."""
    if column.offsets is None:
        return column
    return _in_order(column.rows(), column.items.values, column.n)


def _in_order(rows: Ints, nodes: Ints, n: int) -> Column:
    rows, nodes = distinct_by_label(rows, nodes)
    return Column.labelled(Items.of_nodes(nodes), rows, n)


def path(plan: p.Path, frame: Frame) -> Column:
    """The right side for each node of the left; nodes come out in document order."""
    left = evaluate(plan.left, frame)
    nodes_only(left, "XPTY0019")
    mapped = _mapped(left, plan.right, frame)
    if mapped.items.tag == NODE:
        return ordered(mapped)
    if mapped.items.tag == MIXED and NODE in mapped.items.kinds():
        return _unmixed(mapped, "XPTY0019" if plan.inner else "XPTY0018")
    return mapped


def _unmixed(column: Column, code: str) -> Column:
    """Nodes and others may meet in one column, but not in one row."""
    is_node = column.items.all_tags() == NODE
    rows = column.rows()
    with_nodes = np.bincount(rows[is_node], minlength=column.n) > 0
    with_others = np.bincount(rows[~is_node], minlength=column.n) > 0
    if (with_nodes & with_others).any():
        raise error(code)
    some, others = np.flatnonzero(with_nodes), np.flatnonzero(~with_nodes)
    parts = [(some, ordered(column.take(some))), (others, column.take(others))]
    return scatter(column.n, parts)


def simple_map(plan: p.SimpleMap, frame: Frame) -> Column:
    """The right side for each item of the left, in order."""
    return _mapped(evaluate(plan.left, frame), plan.right, frame)


def _mapped(left: Column, right: p.Expression, frame: Frame) -> Column:
    value = evaluate(right, frame.focused(left))
    return value.regroup(left.offsets)
