"""Positions over all units: how many items each gives, and so where those of the next begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.operators.asking import Asking, listed

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Part
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.operators.units import Minis, Moved


class Numbering:
    """offset(unit)  →  the number of items that the units before it give"""

    def __init__(self, part: Part, snapshot: Any = None) -> None:
        assert part.numbered is not None
        self.part, self._numbered = part, part.numbered
        self._counts: dict[str, int] = {}
        self._total = 0  # of units that only follow each other, and are not kept
        self._offsets: dict[str, int] = {}
        if snapshot is not None:
            self._counts, self._offsets, self._total = snapshot

    def on_moves(self, moves: Sequence[Moved], asking: Asking) -> list[str]:
        """Take in what has moved → units whose items have other positions now."""
        if all(moved.append for moved in moves):
            self._offsets = {}
            for moved in moves:
                self._append(moved, asking)
            return []
        changed = [self._taken(moved, asking) for moved in moves]
        if not any(changed):
            return []
        known, self._offsets = self._offsets, self._summed(moves[-1].places)
        return [unit for unit, at in self._offsets.items() if known.get(unit, at) != at]

    def _taken(self, moved: Moved, asking: Asking) -> bool:
        """Take counts in → whether positions may have changed."""
        gone = [self._counts.pop(unit, 0) for unit in moved.leaving(self._counts)]
        changed = moved.reordered or any(gone)
        if moved.asked is not None:
            for unit, count in self._counted(moved.asked, asking):
                changed = changed or self._counts.get(unit) != count
                self._counts[unit] = count
        return changed

    def _append(self, moved: Moved, asking: Asking) -> None:
        if moved.asked is not None:
            for unit, count in self._counted(moved.asked, asking):
                self._offsets[unit] = self._total
                self._total += count

    def _counted(self, minis: Minis, asking: Asking) -> list[tuple[str, int]]:
        frame = asking.units(minis, self.part.document)
        lengths = listed(self._numbered.counted, frame).lengths().tolist()
        return list(zip(minis.keys, lengths, strict=True))

    def _summed(self, places: Mapping[str, int]) -> dict[str, int]:
        offsets, total = {}, 0
        for unit in sorted(self._counts, key=places.__getitem__):
            offsets[unit] = total
            total += self._counts[unit]
        return offsets

    def frame(self, frame: Frame, minis: Minis) -> Frame:
        """The rows of units with what the units before each give."""
        offsets = np.array([self._offsets.get(unit, 0) for unit in minis.keys], np.int64)
        return frame.extend({self._numbered.offset.number: Column(Items(INTEGER, offsets))})

    def snapshot(self) -> Any:
        """What brings it back."""
        return dict(self._counts), dict(self._offsets), self._total

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return 8 + 200 * len(self._counts)
