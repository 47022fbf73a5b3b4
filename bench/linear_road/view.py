"""The expressway in the terminal while it is played: what segments cost, and where cars crashed."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Final, TextIO

from bench.linear_road import layout as f
from bench.linear_road.outputs import ACCIDENT, TOLL, WORDS, Output

_STEPS: Final = ((0, "·"), (50, "▁"), (200, "▂"), (500, "▃"), (1000, "▅"), (5000, "▆"))
_DEAREST: Final = "█"
_REMEMBERED: Final = 60  # seconds for which a segment shows what was last told there
_EVERY: Final = 2  # seconds of input between two drawings


@dataclass(slots=True)
class View:
    """Both directions of one expressway, a letter for each segment; drawn in place."""

    out: TextIO = field(default_factory=lambda: sys.stderr)
    xway: int = 0
    _where: dict[tuple[int, int], tuple[int, int, int]] = field(default_factory=dict)
    _tolls: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    _crashes: dict[tuple[int, int], int] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)
    _slowest: float = 0.0
    _drawn: int = -_EVERY
    _lines: int = 0

    def on_reports(self, rows: f.Rows) -> None:
        """Where cars are: answers name the car and the second alone."""
        for row in rows.tolist():
            if row[f.TYPE] == f.REPORT:
                place = row[f.XWAY], row[f.DIR], row[f.SEG]
                self._where[row[f.VID], row[f.TIME]] = place

    def on_output(self, one: Output) -> None:
        """Take an answer in; it is shown with the next drawing."""
        self._counts[one.kind] = self._counts.get(one.kind, 0) + 1
        self._slowest = max(self._slowest, one.delay)
        if one.kind not in (TOLL, ACCIDENT):
            return
        vid, time = one.key
        xway, direction, segment = self._where.get((vid, time), (-1, 0, 0))
        if xway != self.xway:
            return
        if one.kind == TOLL:
            self._tolls[direction, segment] = time, one.values[1]
        else:
            self._crashes[direction, one.values[0]] = time

    def on_second(self, second: int) -> None:
        """Draw now and then."""
        if second - self._drawn < _EVERY:
            return
        self._drawn = second
        lines = list(self.lines(second))
        up = f"\x1b[{self._lines}F" if self._lines and self.out.isatty() else ""
        end = "\x1b[K\n" if self.out.isatty() else "\n"
        self.out.write(up + end.join(lines) + end)
        self.out.flush()
        self._lines = len(lines)
        old = [key for key in self._where if key[1] < second - _REMEMBERED]
        for key in old:
            del self._where[key]

    def lines(self, second: int) -> list[str]:
        """The picture of a second."""
        clock = f"{second // 3600}:{second // 60 % 60:02}:{second % 60:02}"
        counts = ", ".join(f"{n:,} {WORDS[kind]}" for kind, n in sorted(self._counts.items()))
        slowest = f"slowest answer {self._slowest:.2f} s"
        return [
            f"Linear Road {clock}  expressway {self.xway}  {slowest}",
            "east →  " + self._road(0, second),
            "west ←  " + self._road(1, second),
            "        " + "".join(f"{n:<10}" for n in range(0, f.SEGMENTS, 10)),
            f"{counts or 'no answers yet'}",
        ]

    def _road(self, direction: int, second: int) -> str:
        return "".join(self._letter(direction, one, second) for one in range(f.SEGMENTS))

    def _letter(self, direction: int, segment: int, second: int) -> str:
        crashed = self._crashes.get((direction, segment))
        if crashed is not None and second - crashed < _REMEMBERED:
            return "X"
        told, toll = self._tolls.get((direction, segment), (-_REMEMBERED, 0))
        if second - told >= _REMEMBERED:
            return " "
        return next((letter for most, letter in _STEPS if toll <= most), _DEAREST)
