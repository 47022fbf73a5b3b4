"""Streams of tuples: each is a frame inside the frame of its FLWOR, in morsels.

A loop whose rows would not fit in one frame is cut by outer rows; the frames of a stream follow
each other in the order of their tuples. Operators that need all tuples gather them first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, assert_never

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.evaluate.frame import Frame, Key, Value, positions
from xstreamcast.evaluate.walk import at_home, evaluate, truth
from xstreamcast.model.atomic import BOOLEAN, INTEGER
from xstreamcast.model.column import Column, offsets_of, stack
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.model.column import Ints

MORSEL: Final = 1 << 20


def return_(plan: p.Return, frame: Frame) -> Column:
    """The result for every tuple, gathered in the row of its FLWOR."""
    parts: list[Items] = []
    if frame.n == 1:
        parts = [evaluate(plan.result, tuples).items for tuples in stream(plan.source, frame)]
        items = Items.concat(parts)
        return Column(items, np.array((0, len(items)), np.int64))
    counts = np.zeros(frame.n, np.int64)
    for tuples in stream(plan.source, frame):
        value = evaluate(plan.result, tuples)
        if tuples.outer is frame and tuples.origin is None:
            counts += value.lengths()
        else:
            counts += np.bincount(
                tuples.origin_in(frame),
                weights=None if value.offsets is None else value.lengths(),
                minlength=frame.n,
            ).astype(np.int64)
        parts.append(value.items)
    return Column(Items.concat(parts), offsets_of(counts))


def quantified(plan: p.Quantified, frame: Frame) -> Column:
    """Whether the test holds for some tuple, or every one; stops when all rows are decided."""
    some = plan.kind == "some"
    hit = np.zeros(frame.n, np.bool_)
    for tuples in stream(plan.source, frame):
        found = truth(plan.test, tuples) == some
        hit[tuples.origin_in(frame)[found]] = True
        if hit.all():
            break
    return Column(Items(BOOLEAN, hit if some else ~hit))


def stream(plan: p.Tuples, frame: Frame) -> Iterator[Frame]:
    """The tuples of all rows of the frame, in their order; one by one where that was declared."""
    if not frame.context.sequential:
        yield from _stream(plan, frame)
        return
    for tuples in _stream(plan, frame):
        # What follows may change a variable before the next tuple looks at it.
        for row in range(tuples.n):
            yield tuples if tuples.n == 1 else tuples.select(np.array([row], np.int64))


def _stream(plan: p.Tuples, frame: Frame) -> Iterator[Frame]:
    match plan:
        case p.Unit():
            yield frame
        case p.ForEach():
            for tuples in stream(plan.source, frame):
                yield from _located(plan, frame, _for_each(plan, tuples))
        case p.Let():
            for tuples in stream(plan.source, frame):
                yield tuples.extend({plan.variable.number: evaluate(plan.value, tuples)})
        case p.Where():
            for tuples in stream(plan.source, frame):
                yield from _where(plan, tuples)
        case p.TupleJoin() | p.GroupBy() | p.OrderBy() | p.CountTuples() | p.ForWindow():
            yield from _gathering(plan, frame)
        case _:
            assert_never(plan)


def _gathering(
    plan: p.TupleJoin | p.GroupBy | p.OrderBy | p.CountTuples | p.ForWindow, frame: Frame
) -> Iterator[Frame]:
    """The tuples of a clause that looks at several at a time."""
    from xstreamcast.evaluate.flwor import group, join, order, windows

    match plan:
        case p.TupleJoin():
            yield from join.join(plan, frame)
        case p.GroupBy():
            yield group.group_by(plan, gathered(plan.source, frame), frame)
        case p.OrderBy():
            yield order.order_by(plan, gathered(plan.source, frame), frame)
        case p.CountTuples():
            yield _numbered(plan, gathered(plan.source, frame), frame)
        case p.ForWindow():
            for tuples in stream(plan.source, frame):
                yield from _located(plan, frame, windows.window(plan, tuples))
        case _:
            assert_never(plan)


def _located(
    plan: p.ForEach | p.ForWindow, frame: Frame, frames: Iterator[Frame]
) -> Iterator[Frame]:
    try:
        yield from frames
    except Error as caught:
        caught.located(frame.context.place(plan.span))
        raise


def _where(plan: p.Where, tuples: Frame) -> Iterator[Frame]:
    if tuples.n == 0:
        return
    holds = truth(plan.test, tuples)
    if holds.all():
        yield tuples
    elif holds.any():
        yield tuples.select(np.flatnonzero(holds))


def _for_each(plan: p.ForEach, tuples: Frame) -> Iterator[Frame]:
    if tuples.n == 0:
        return
    column, origin = (
        at_home(plan.items, tuples) if tuples.n > 1 else (evaluate(plan.items, tuples), None)
    )
    lengths = column.lengths() if origin is None else column.lengths()[origin]
    for begin, end in morsels(lengths):
        whole = end - begin == tuples.n
        rows = np.arange(begin, end, dtype=np.int64)
        inner = tuples if whole else tuples.select(rows)
        if origin is not None:
            part = column.take(origin[begin:end])
        else:
            part = column if whole else column.take(rows)
        yield _bound(plan, part, inner)


def morsels(lengths: Ints) -> Iterator[tuple[int, int]]:
    """Runs of rows that hold about a morsel of items each, at least one row."""
    totals = np.cumsum(lengths)
    if len(totals) == 0 or totals[-1] <= MORSEL:
        yield 0, len(lengths)
        return
    begin = 0
    while begin < len(lengths):
        before = int(totals[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(totals, before + MORSEL, "right")))
        yield begin, end
        begin = end


def _bound(plan: p.ForEach, column: Column, tuples: Frame) -> Frame:
    """A tuple for each item."""
    if plan.allowing_empty and column.offsets is not None and (column.lengths() == 0).any():
        return _bound_or_empty(plan, column, tuples)
    values: dict[Key, Value] = {plan.variable.number: column.each()}
    if plan.position is not None:
        values[plan.position.number] = lambda: positions(column)
    return tuples.loop(column, values)


def _bound_or_empty(plan: p.ForEach, column: Column, tuples: Frame) -> Frame:
    """A tuple for each item, and one that binds () where there is none."""
    lengths = column.lengths()
    turns = np.maximum(lengths, 1)
    origin = np.repeat(np.arange(tuples.n, dtype=np.int64), turns)
    filled = lengths[origin] > 0
    values: dict[Key, Value] = {
        plan.variable.number: Column.from_lengths(column.items, filled.astype(np.int64))
    }
    if plan.position is not None:
        first = offsets_of(turns)[:-1]
        places = np.arange(1, len(origin) + 1, dtype=np.int64) - first[origin]
        values[plan.position.number] = Column(Items(INTEGER, np.where(filled, places, 0)))
    return Frame(tuples.context, len(origin), tuples, origin, values)


def _numbered(plan: p.CountTuples, tuples: Frame, frame: Frame) -> Frame:
    rows = tuples.origin_in(frame)
    counts = np.bincount(rows, minlength=frame.n).astype(np.int64)
    numbers = np.arange(1, tuples.n + 1, dtype=np.int64) - offsets_of(counts)[rows]
    return tuples.extend({plan.variable.number: Column(Items(INTEGER, numbers))})


def gathered(plan: p.Tuples, frame: Frame) -> Frame:
    """All tuples of a stream in one frame."""
    frames = list(stream(plan, frame))
    if len(frames) == 1:
        return frames[0]
    if not frames:
        return frame.select(np.empty(0, np.int64))
    keys = {key for part in frames for key in bound_between(part, frame)}
    origin = np.concatenate([part.origin_in(frame) for part in frames])
    return Frame(frame.context, len(origin), frame, origin, {k: _stacked(frames, k) for k in keys})


def _stacked(frames: list[Frame], key: Key) -> Value:
    return lambda: stack([part.variable(key) for part in frames])


def bound_between(inner: Frame, outer: Frame) -> frozenset[Key]:
    """The variables bound in the frames from `inner` up to `outer`, which is not counted."""
    keys: frozenset[Key] = frozenset()
    frame = inner
    while frame is not outer:
        keys |= frame.bound
        assert frame.outer is not None
        frame = frame.outer
    return keys
