"""When units may change though nothing comes: the next instant of each, by the clock alone."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.instant import NOW, START

if TYPE_CHECKING:
    from xstreamcast.algebra.timing import Timing
    from xstreamcast.operators.units import Minis
    from xstreamcast.tape.layout import I64


class Timers:
    """due(now)  →  the units whose answer may not be what it was when they were last asked."""

    def __init__(self, timing: Timing) -> None:
        self._offsets = np.array(timing.offsets, np.int64)
        crossed = {fixed + offset for fixed in timing.fixed for offset in timing.offsets}
        self._fixed = np.array(sorted(crossed), np.int64)
        self._next: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []

    def asked(self, minis: Minis, now: int) -> None:
        """Units were asked at an instant: note when each must be asked again."""
        for key, instants in zip(minis.keys, minis.instants, strict=True):
            self._note(key, self._after(instants, now))

    def _after(self, instants: I64, now: int) -> int | None:
        """The first instant from now on at which a bound passes an instant of the unit."""
        known = instants[(instants != NOW) & (instants != START)]
        passed = np.concatenate([(known[:, None] + self._offsets).ravel(), self._fixed])
        later = passed[passed >= now]
        return int(later.min()) if len(later) else None

    def _note(self, key: str, instant: int | None) -> None:
        if instant is None:
            self._next.pop(key, None)
        else:
            self._next[key] = instant
            heappush(self._heap, (instant, key))

    def due(self, now: int) -> list[str]:
        """The units to be asked again at an instant; they are noted anew when they are."""
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
