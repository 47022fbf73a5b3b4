"""Allen's comparisons of intervals: those written out, and the lifespans of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.time.lifespans import spans_of
from xstreamcast.evaluate.time.moments import moments, now
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.atomic import BOOLEAN, NODE
from xstreamcast.model.column import Column, offsets_of, ranges
from xstreamcast.model.instant import NOW
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.tape.layout import I64, Bools

    Test = Callable[[I64, I64, I64, I64], Bools]

# [a, b] word [c, d]
_TESTS: Final[dict[str, Test]] = {
    "before": lambda a, b, c, d: b < c,
    "after": lambda a, b, c, d: a > d,
    "meets": lambda a, b, c, d: b == c,
    "overlaps": lambda a, b, c, d: (a < c) & (c < b) & (b < d),
    "during": lambda a, b, c, d: (a > c) & (b < d),
    "contains": lambda a, b, c, d: (a < c) & (b > d),
    "starts": lambda a, b, c, d: (a == c) & (b < d),
    "finishes": lambda a, b, c, d: (b == d) & (a > c),
    "equals": lambda a, b, c, d: (a == c) & (b == d),
}


def allen_compare(plan: p.AllenCompare, frame: Frame) -> Column:
    """Whether the word holds between any interval of the left and any of the right."""
    begin, end, left = _intervals(plan.left, frame)
    other_begin, other_end, right = _intervals(plan.right, frame)
    counts = np.bincount(right, minlength=frame.n).astype(np.int64)
    starts = offsets_of(counts)[:-1]
    with_other = ranges(starts[left], counts[left])
    one = np.repeat(np.arange(len(left)), counts[left])
    holds = _TESTS[plan.op](begin[one], end[one], other_begin[with_other], other_end[with_other])
    found = np.zeros(frame.n, np.bool_)
    found[left[one[holds]]] = True
    return Column(Items(BOOLEAN, found))


def interval(plan: p.Interval, frame: Frame) -> Column:
    """[t1, t2] is not a value: it is allowed only as an operand of Allen's words."""
    raise error("XPST0003", "an interval must be an operand of a comparison of intervals")


def _intervals(plan: p.Expression, frame: Frame) -> tuple[I64, I64, I64]:
    """(begins, ends, rows): an end that is `now` is the clock's instant."""
    clock = now(frame).instant
    begin, end, rows = intervals(plan, frame)
    return _at(begin, clock), _at(end, clock), rows


def intervals(plan: p.Expression, frame: Frame) -> tuple[I64, I64, I64]:
    """(begins, ends, rows): an end that is `now` stays NOW."""
    if isinstance(plan, p.Interval):
        begin, _, rows = moments(frame, evaluate(plan.first, frame))
        if plan.last is None:
            return begin, begin, rows
        end, _, others = moments(frame, evaluate(plan.last, frame))
        both = np.intersect1d(rows, others)
        return begin[np.isin(rows, both)], end[np.isin(others, both)], both
    column = evaluate(plan, frame)
    if len(column.items) and column.items.tag != NODE:
        begin, _, rows = moments(frame, column)
        return begin, begin, rows
    spans = spans_of(frame.context.store, column.items.values)
    return spans.begin, spans.end, column.rows()


def _at(instants: I64, clock: int) -> I64:
    return np.where(instants == NOW, clock, instants)
