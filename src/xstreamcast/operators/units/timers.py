"""When units may change though nothing comes: the next instant of each, by the clock alone."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.instant import NOW
from xstreamcast.operators.units.alarms import NEVER, upcoming

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.timing import Timing
    from xstreamcast.operators.units.units import Minis


class Timers:
    """due(now)  →  the units whose answer may have changed since their last evaluation."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._next: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []

    def evaluated(self, minis: Minis, now: int) -> None:
        """Units were evaluated at an instant: note when each must be evaluated again."""
        assert minis.instants is not None
        instants, counts = minis.instants
        soonest = np.full(len(counts), upcoming(self._timing, np.array([NOW]), now)[0])
        some = np.flatnonzero(counts)
        if len(some):
            each = upcoming(self._timing, instants, now)
            soonest[some] = np.minimum.reduceat(each, (np.cumsum(counts) - counts)[some])
        for at in np.flatnonzero(soonest != NEVER).tolist():
            self._note(minis.keys[at], int(soonest[at]))
        if self._next:
            for at in np.flatnonzero(soonest == NEVER).tolist():
                self._next.pop(minis.keys[at], None)

    def _note(self, key: str, instant: int) -> None:
        self._next[key] = instant
        heappush(self._heap, (instant, key))

    def due(self, now: int) -> list[str]:
        """The units to be evaluated again at an instant; they are noted again when they are."""
        found = []
        while self._heap and self._heap[0][0] <= now:
            instant, key = heappop(self._heap)
            if self._next.get(key) == instant:
                del self._next[key]
                found.append(key)
        return found

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return 200 * len(self._next)
