"""Numbers with instants at which they are due for evaluation; many are set at once."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.column import distinct
from xstreamcast.model.instant import NOW, START

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.timing import Timing
    from xstreamcast.tape.layout import I64

NEVER = NOW


class Alarms:
    """due(now)  →  the numbers whose instant has come; a number has the instant set last."""

    def __init__(self) -> None:
        self._next: I64 = np.full(1024, NEVER, np.int64)
        self._heap: list[tuple[int, int, I64, I64]] = []  # runs in the order of their instants
        self._turn = count()

    def set(self, numbers: I64, instants: I64) -> None:
        """When each of these, all different, is due; NEVER takes it back."""
        if len(numbers) == 0:
            return
        self._make_room(int(numbers.max()) + 1)
        self._next[numbers] = instants
        some = instants != NEVER
        order = np.argsort(instants[some], kind="stable")
        self._push(instants[some][order], numbers[some][order])

    def due(self, now: int) -> I64:
        """Those whose instant is not after now; they are forgotten."""
        found = []
        while self._heap and self._heap[0][0] <= now:
            _, _, instants, numbers = heappop(self._heap)
            last = int(np.searchsorted(instants, now, "right"))
            valid = self._next[numbers[:last]] == instants[:last]
            found.append(numbers[:last][valid])
            self._push(instants[last:], numbers[last:])
        out = distinct(np.concatenate(found)) if found else np.empty(0, np.int64)
        self._next[out] = NEVER
        return out

    def _push(self, instants: I64, numbers: I64) -> None:
        if len(instants):
            heappush(self._heap, (int(instants[0]), next(self._turn), instants, numbers))

    def _make_room(self, needed: int) -> None:
        if needed > len(self._next):
            larger = np.full(max(needed, 2 * len(self._next)), NEVER, np.int64)
            larger[: len(self._next)] = self._next
            self._next = larger

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return self._next.nbytes + sum(32 * len(run[2]) for run in self._heap)


def upcoming(timing: Timing, instants: I64, now: int) -> I64:
    """For each instant of something, when a bound of now next passes it; NEVER if it does not."""
    out = np.full(len(instants), NEVER, np.int64)
    known = (instants != NOW) & (instants != START)
    for offset in timing.offsets:
        passed = np.where(known, instants + offset, NEVER)
        out = np.minimum(out, np.where(passed >= now, passed, NEVER))
    # what lives until now reaches an instant that is written when the clock does
    later = [f + o for f in timing.fixed for o in {0, *timing.offsets} if f + o >= now]
    return np.minimum(out, min(later)) if later else out
