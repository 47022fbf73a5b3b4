"""Streams of which a query sees only projections to times near now, whatever their structure says.

stream("s")//alert?[now]   →   no version of an alert that has ended is ever seen

Where the structure of a stream does not say what is inside its fragments, this is all that is
known of what a query can see: each mention of the stream must be a plain path with a projection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.places import matches
from xstreamcast.algebra.analysis.stream_usage import AROUND
from xstreamcast.algebra.analysis.timing import ago
from xstreamcast.algebra.walk import descendants
from xstreamcast.functions.signature import FN

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.guide import Guide

_DOWN: Final = ("child", "descendant", "descendant-or-self")


def projected_tags(plans: Sequence[p.Plan], name: str, guide: Guide) -> dict[int, int]:
    """By tag, how long before now the projections begin; none if anything else may be seen."""
    nodes = [node for plan in plans for node in descendants(plan)]
    mentions = sum(isinstance(node, p.StreamInput) and node.name == name for node in nodes)
    found: dict[int, int] = {}
    passed: set[int] = set()  # tags that paths lead through, in all of their versions
    for node in nodes:
        if not isinstance(node, p.IntervalProjection) or not _begins(node.operand, name):
            continue
        back, tags = ago(node.first), _reached(node.operand, guide)
        if back is None or tags is None:
            return {}
        mentions -= 1
        found |= {tag: max(back, found.get(tag, 0)) for tag in tags}
        passed |= guide.around(tags)
    # what is below a version that has ended may live on, below an event say
    passed |= {tag for tag, links in guide.links.items() if links}
    return {} if mentions else {tag: back for tag, back in found.items() if tag not in passed}


def is_projected(plan: p.Plan, name: str | None) -> bool:
    """Whether a stream is read only through projections to times near now."""
    nodes = list(descendants(plan))
    near = [
        node
        for node in nodes
        if isinstance(node, p.IntervalProjection)
        and _begins(node.operand, str(name))
        and ago(node.first) is not None
    ]
    return len(near) == sum(isinstance(n, p.StreamInput) and n.name == name for n in nodes)


def stays_below(plans: Sequence[p.Plan]) -> bool:
    """Whether nothing leads from a node to what is around it."""
    for node in (node for plan in plans for node in descendants(plan)):
        if isinstance(node, p.Step) and node.axis not in (*_DOWN, "attribute", "self"):
            return False
        if isinstance(node, p.Call | p.FunctionRef) and _looks_around(node):
            return False
    return True


def _looks_around(node: p.Call | p.FunctionRef) -> bool:
    return node.function.uri == FN and node.function.local in (*AROUND, "function-lookup")


def _begins(plan: p.Expression, name: str) -> bool:
    """Whether it is a path of steps down from a stream."""
    while isinstance(plan, p.Step) and plan.axis in _DOWN:
        plan = plan.input
    return isinstance(plan, p.StreamInput) and plan.name == name


def _reached(plan: p.Expression, guide: Guide) -> frozenset[int] | None:
    """The tags that a path leads to; None if it may lead to what is inside a fragment."""
    if not isinstance(plan, p.Step) or plan.test.kind != "element":
        return None
    if plan.test.local is None or plan.test.uri is None:
        return _children_of_root(plan, guide)
    inner = {name for names in guide.inner.values() for name in names}
    if any(matches(plan.test, name) for name in inner):
        return None
    tags = {tag for tag, name in guide.name.items() if matches(plan.test, name)}
    return frozenset(tags - guide.roots)


def _children_of_root(step: p.Step, guide: Guide) -> frozenset[int] | None:
    """Of a step to any child of the root: the tags that are there, if nothing else does."""
    above = step.input
    direct = step.axis == "child" and isinstance(above, p.Step) and above.axis == "child"
    if not direct or not isinstance(above.input, p.StreamInput):  # type: ignore[union-attr]
        return None
    if any(guide.inner.get(root) for root in guide.roots):
        return None
    return frozenset(link.child for root in guide.roots for link in guide.links.get(root, ()))
