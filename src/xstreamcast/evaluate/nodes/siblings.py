"""The n-th following sibling of many nodes: looked up, since all siblings of all are too many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.nodes.node_tests import node_test, untyped_only
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.atomic import INTEGER, NODE, PRIMITIVE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.model.sequence_type import NodeItem
from xstreamcast.tape.layout import ATTRIBUTE, NAMESPACE

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Ints
    from xstreamcast.tape.store import Store

_SHARED: Final = 8  # nodes of one parent, from which on looking up is faster
_ANY: Final = NodeItem("node")


def nth_sibling(plan: p.Filter, frame: Frame) -> Column | None:
    """`$x/following-sibling::b[$n]` for each row; None: another form, or few nodes a parent."""
    step = plan.input
    if frame.n < _SHARED or not isinstance(step, p.Step) or step.axis != "following-sibling":
        return None
    simple = isinstance(step.input, p.Focus | p.Var) and step.test.content is None
    if not simple or not untyped_only(step.test) or plan.reverse:
        return None
    origin = evaluate(step.input, frame)
    places = _places(plan.predicate, frame)
    if places is None or origin.offsets is not None or origin.items.tag != NODE:
        return None
    store, nodes = frame.context.store, origin.items.values
    kinds = store.kinds(nodes)
    if ((kinds == ATTRIBUTE) | (kinds == NAMESPACE)).any():
        return None  # these have a parent, and no siblings
    runs = _runs(store, nodes, step.test)
    if runs is None:
        return None
    children, first, end = runs
    there = (places >= 1) & (places <= end - first)
    found = children[(first + places - 1)[there]]
    return Column.from_lengths(Items.of_nodes(found), there.astype(np.int64))


def _places(predicate: p.Expression, frame: Frame) -> Ints | None:
    """A position for each row, from a constant or a variable; anything else may have effects."""
    if not isinstance(predicate, p.Const | p.Var):
        return None
    value = evaluate(predicate, frame)
    if value.offsets is not None or PRIMITIVE.get(value.items.tag) != INTEGER:
        return None
    return None if value.items.values.dtype == object else value.items.values


def _runs(store: Store, nodes: Ints, test: NodeItem) -> tuple[Ints, Ints, Ints] | None:
    """Children of all parents, and the run of them that follows each node."""
    labels, above = store.step(nodes, "parent", node_test(_ANY, "parent"))
    parents, group = np.unique(above, return_inverse=True)
    if len(parents) * _SHARED > len(nodes):
        return None
    owners, children = store.step(parents, "child", node_test(test, "child"))
    bounds = np.searchsorted(owners, np.arange(len(parents) + 1))
    first = np.zeros(len(nodes), np.int64)
    end = np.zeros(len(nodes), np.int64)  # a node without a parent has no siblings
    for number in range(len(parents)):
        rows, (low, high) = labels[group == number], bounds[number : number + 2]
        first[rows] = low + np.searchsorted(children[low:high], nodes[rows], "right")
        end[rows] = high
    return children, first, end
