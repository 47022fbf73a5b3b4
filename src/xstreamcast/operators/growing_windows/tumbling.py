"""Tumbling windows over further items: found by the rules that cut a whole sequence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.evaluate.flwor import boundaries as b
from xstreamcast.evaluate.flwor.window_index import bounds, window_index

if TYPE_CHECKING:
    from xstreamcast.circuit.windows.windowed import Windowed
    from xstreamcast.model.column import Bools, Ints
    from xstreamcast.operators.growing_windows.sight import Sight


def tumbled(
    shape: Windowed, sight: Sight, carried: list[int], low: int, opens: Bools, ends: Bools | None
) -> tuple[b.Bounds, list[int]]:
    """The windows that end among the items from `low` on → and the one that is open then.

    `carried` is the window that was open before: it precedes the items as one of them.
    """
    count = len(carried)
    where = np.concatenate(
        (np.array(carried, np.int64), np.arange(low, low + len(opens), dtype=np.int64))
    )
    starts = np.concatenate((np.ones(count, np.bool_), opens))
    found = _found(shape, sight, where, starts, None if ends is None else _shifted(ends, count))
    after = int(found.last[-1]) + 1 if len(found.last) else 0
    following = np.flatnonzero(starts[after:])
    still = [int(where[after + following[0]])] if len(following) else []
    return b.Bounds(where[found.first], where[found.last]), still


def _shifted(ends: Bools, count: int) -> Bools:
    return np.concatenate((np.zeros(count, np.bool_), ends))


def _found(
    shape: Windowed, sight: Sight, where: Ints, starts: Bools, ends: Bools | None
) -> b.Bounds:
    n = len(where)
    offsets, stop = np.array([0, n], np.int64), np.full(n, n, np.int64)
    if ends is not None:
        return b.tumbling(starts, offsets, stop, ends, True)
    window = shape.window
    if window.index is not None and window.start is not None and window.end is not None:
        try:
            frames = sight.at(window.start, where), sight.at(window.end, where)
            index = window_index(window.index, *frames, starts, stop)
        except Error:
            index = None  # perhaps it is not read where it fails
        if index is not None:
            return bounds(replace(window, only_end=True), index, starts, offsets, stop)
    return b.tumbling(
        starts, offsets, stop, lambda first, last: sight.ended(where[first], where[last]), True
    )
