"""Named inputs, and XCQL: instants, lifespans, and projections to times and versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.walk import map_children
from xstreamcast.errors import error
from xstreamcast.evaluate.time.clipping import clipped
from xstreamcast.evaluate.time.lifespans import LifespanColumns, has_lifespan, spans_of
from xstreamcast.evaluate.time.moments import BEGINNING, date_times, moments, now
from xstreamcast.evaluate.time.reaching import reaching
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import cast
from xstreamcast.model.atomic import DATE_TIME, DOUBLE, INTEGER, NODE
from xstreamcast.model.column import Column
from xstreamcast.model.instant import NOW, START
from xstreamcast.model.items import Items
from xstreamcast.tape.fragments.clip_kernels import KEEP_BEGIN

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.tape.layout import I64, U8, Bools

_LAST: Final = p.Variable(-1, "last")  # how many versions there are, in the brackets of #[…]
# Bounds by identity, each kept with its result, so that the identity stays valid.
_COUNTED: Final[dict[int, tuple[p.Expression, p.Expression]]] = {}
_MOST: Final = 10_000


def stream_input(plan: p.StreamInput, frame: Frame) -> Column:
    """What has arrived on the input, the same for every row."""
    return Column.constant(frame.context.inputs.streams(plan.name), frame.n)


def instant(plan: p.Instant, frame: Frame) -> Column:
    """now: the time of the clock; start: before everything."""
    if plan.which == "start":
        return Column.constant(Items.of(DATE_TIME, [BEGINNING]), frame.n)
    clock = now(frame)
    zone = np.array([clock.zoned], np.uint8)
    return Column.constant(date_times(np.array([clock.instant]), zone, clock), frame.n)


def last_version(plan: p.LastVersion, frame: Frame) -> Column:
    """`last` means something in the brackets of #[…] alone."""
    raise error("XPST0003", "last must be inside the brackets of a version projection, #[last]")


# -- lifespans ------------------------------------------------------------------------------------


def lifespan_bound(plan: p.LifespanBound, frame: Frame) -> Column:
    """vtFrom, vtTo: an end of the smallest lifespan that covers all nodes of a row."""
    column = evaluate(plan.operand, frame)
    spans, rows = _covering(_spans(frame, column.items), column)
    begins = plan.which == "vtFrom"
    zoned = spans.zones & np.uint8(1 if begins else 2) != 0
    items = date_times(spans.begin if begins else spans.end, zoned.astype(np.uint8), now(frame))
    return Column.labelled(items, rows, frame.n)


def _covering(spans: LifespanColumns, column: Column) -> tuple[LifespanColumns, I64]:
    """One lifespan for each row that has any node, and these rows."""
    lengths = column.lengths()
    rows = np.flatnonzero(lengths)
    if column.offsets is None or bool((lengths[rows] == 1).all()):
        return spans, rows
    first = column.bounds()[:-1][rows]
    begin, end = np.minimum.reduceat(spans.begin, first), np.maximum.reduceat(spans.end, first)
    wide = np.repeat(np.arange(len(rows)), lengths[rows])
    zones = np.zeros(len(rows), np.uint8)
    np.bitwise_or.at(zones, wide, np.where(spans.begin == begin[wide], spans.zones & 1, 0))
    np.bitwise_or.at(zones, wide, np.where(spans.end == end[wide], spans.zones & 2, 0))
    return LifespanColumns(begin, end, zones), rows


def _spans(frame: Frame, items: Items) -> LifespanColumns:
    """The lifespan of every item; what is no node lives always."""
    if items.tag == NODE:
        return spans_of(frame.context.store, items.values)
    nodes, n = _nodes(items), len(items)
    begin, end = np.full(n, START, np.int64), np.full(n, NOW, np.int64)
    zones = np.zeros(n, np.uint8)
    begin[nodes], end[nodes], zones[nodes] = spans_of(frame.context.store, _handles(items))
    return LifespanColumns(begin, end, zones)


def _nodes(items: Items) -> Bools:
    """Which items are nodes."""
    mask: Bools = items.all_tags() == NODE
    return mask


def _handles(items: Items) -> I64:
    return items.values[_nodes(items)].astype(np.int64)


# -- projections ----------------------------------------------------------------------------------


def interval_projection(plan: p.IntervalProjection, frame: Frame) -> Column:
    """e?[t1,t2]: copies of elements alive in the interval, clipped to it; e?[now] clips no begin.

    e?[a,b]?[c,d] is one projection to what both intervals have in common: a lifespan that was
    clipped would not show whether its end belongs to it.
    """
    first, (there, to) = plan, _interval(plan, frame)
    reached, current = to.end, p.is_current(plan)
    while (before := p.projected_before(first)) is not None:
        first, (also, other) = before, _interval(before, frame)
        there, to = there & also, _common(to, other)
    column = reaching(first.operand, frame, reached)
    column = column.keep((there & (to.begin <= to.end))[column.rows()])
    rows = column.rows()
    zones = to.zones | np.uint8(KEEP_BEGIN if current else 0)
    return _copies(column, LifespanColumns(to.begin[rows], to.end[rows], zones[rows]), frame)


def _interval(plan: p.IntervalProjection, frame: Frame) -> tuple[Bools, LifespanColumns]:
    """(which rows have an interval, the interval of each row)."""
    begin, begin_zone, some = moments(frame, evaluate(plan.first, frame))
    if plan.last is None:
        end, end_zone, others = begin, begin_zone, some
    else:
        end, end_zone, others = moments(frame, evaluate(plan.last, frame))
    there = np.ones(frame.n, np.bool_)
    if len(some) < frame.n or len(others) < frame.n:  # no interval, nothing in it
        there = np.isin(np.arange(frame.n), np.intersect1d(some, others))
        begin, begin_zone = _spread(begin, begin_zone, some, frame.n)
        end, end_zone = _spread(end, end_zone, others, frame.n)
    clock = now(frame).instant
    begin, end = np.where(begin == NOW, clock, begin), np.where(end == NOW, clock, end)
    return there, LifespanColumns(begin, end, begin_zone | end_zone << np.uint8(1))


def _common(one: LifespanColumns, other: LifespanColumns) -> LifespanColumns:
    """What two intervals have in common; it may end before it begins."""
    later, earlier = other.begin > one.begin, other.end < one.end
    zones = np.where(later, other.zones, one.zones) & 1
    zones |= np.where(earlier, other.zones, one.zones) & 2
    return LifespanColumns(
        np.maximum(one.begin, other.begin), np.minimum(one.end, other.end), zones.astype(np.uint8)
    )


def _spread(instants: I64, zones: U8, rows: I64, n: int) -> tuple[I64, U8]:
    wide, wide_zones = np.zeros(n, np.int64), np.zeros(n, np.uint8)
    wide[rows], wide_zones[rows] = instants, zones
    return wide, wide_zones


def _copies(
    column: Column, to: LifespanColumns, frame: Frame, inside: Bools | None = None
) -> Column:
    """Each node as the copy that is left of it, if any; what is no node stays."""
    nodes, clock = _nodes(column.items), now(frame).instant
    some = LifespanColumns(to.begin[nodes], to.end[nodes], to.zones[nodes])
    within = None if inside is None else inside[nodes]
    handles = column.items.values if nodes.all() else _handles(column.items)
    kept, copies = clipped(frame.context.store, handles, some, clock, within)
    left = np.ones(len(nodes), np.bool_)
    left[nodes] = kept
    counts = np.bincount(column.rows()[left], minlength=column.n).astype(np.int64)
    if nodes.all():
        return Column.from_lengths(Items.of_nodes(copies), counts)
    values = column.items.as_objects().copy()
    values[np.flatnonzero(nodes)[kept]] = copies
    items = Items.mixed(column.items.all_tags()[left].tolist(), values[left].tolist())
    return Column.from_lengths(items, counts)


def version_projection(plan: p.VersionProjection, frame: Frame) -> Column:
    """e#[v1,v2]: copies of the items at these positions, each sliced to its own lifespan."""
    column = evaluate(plan.operand, frame)
    lengths = column.lengths()
    inner = frame.extend({_LAST.number: Column(Items(INTEGER, lengths))})
    first, some = _positions(plan.first, inner)
    last, others = (first, some) if plan.last is None else _positions(plan.last, inner)
    rows = column.rows()
    position = np.arange(len(rows)) - column.bounds()[:-1][rows] + 1
    chosen = some[rows] & others[rows] & (first[rows] <= position) & (position <= last[rows])
    column = column.keep(chosen)
    spans = _spans(frame, column.items)
    sliced = spans.begin < spans.end
    sliced[_nodes(column.items)] &= has_lifespan(frame.context.store, _handles(column.items))
    begin, end = np.where(sliced, spans.begin, START), np.where(sliced, spans.end, NOW)
    to = LifespanColumns(begin, end, spans.zones)
    return _copies(column, to, frame, np.ones(len(column.items), np.bool_))


def _positions(plan: p.Expression, frame: Frame) -> tuple[I64, Bools]:
    """The number of a bound in each row, and whether there is one."""
    atoms = atomize(frame.context.store, evaluate(_bound(plan), frame))
    if (atoms.lengths() > 1).any():
        raise error("XPTY0004", "a version must be one number; got several")
    integers = cast(atoms.items, INTEGER)
    if len(integers) and (cast(atoms.items, DOUBLE).values != cast(integers, DOUBLE).values).any():
        raise error("XPTY0004", "a version must be a whole number")
    values = np.array([int(v) for v in integers.values.tolist()], np.int64)
    wide, there = np.zeros(frame.n, np.int64), np.zeros(frame.n, np.bool_)
    wide[atoms.rows()], there[atoms.rows()] = values, True
    return wide, there


def _bound(plan: p.Expression) -> p.Expression:
    known = _COUNTED.get(id(plan))
    if known is None:
        if len(_COUNTED) > _MOST:
            _COUNTED.clear()
        known = _COUNTED[id(plan)] = plan, _counted(plan)
    return known[1]


def _counted(plan: p.Expression) -> p.Expression:
    """The bound with a variable in the place of `last`; brackets inside it have their own."""
    match plan:
        case p.LastVersion():
            return p.Var(_LAST, span=plan.span)
        case p.VersionProjection(operand):
            counted = _counted(operand)
            return p.VersionProjection(counted, plan.first, plan.last, span=plan.span)
        case _:
            return map_children(plan, _counted)
