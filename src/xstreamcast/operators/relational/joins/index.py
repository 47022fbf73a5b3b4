"""One side of a join: its rows, and an index from values to rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from sortedcontainers import SortedList

from xstreamcast.model.delta import Cell, Delta, Key, Row
from xstreamcast.operators.relational.joins.values import (
    NUMERIC,
    TYPED_TEXT,
    UNTYPED_TEXT,
    JoinValues,
    as_number,
)

Mode = Literal["none", "text", "number", "all"]  # how values of both sides are compared
_TEXT: Final = UNTYPED_TEXT | TYPED_TEXT


def mode_of(left: int, right: int) -> Mode:
    """How values of such kinds are compared; `all` where every pair must be compared."""
    if not left or not right:
        return "none"
    if not (left | right) & ~_TEXT:
        return "text"
    numbers = {NUMERIC, NUMERIC | UNTYPED_TEXT}
    if left == NUMERIC and right in {*numbers, UNTYPED_TEXT}:
        return "number"
    if right == NUMERIC and left in {*numbers, UNTYPED_TEXT}:
        return "number"
    return "all"


def fits(mode: Mode, kinds: int) -> bool:
    """Whether values of such kinds, on one side, can be kept for a way to compare."""
    match mode:
        case "text":
            return not kinds & ~_TEXT
        case "number":
            return not kinds & ~(NUMERIC | UNTYPED_TEXT)
        case "none" | "all":
            return True


class JoinSide:
    """rows that match a value  →  those whose own value compares with it.

    An index may give rows that do not match after all, never too few.
    """

    def __init__(self, op: str) -> None:
        self.op = op  # value of this side op value of the other
        self.rows: dict[Key, Row] = {}
        self.values: dict[Key, JoinValues] = {}
        self._kinds: dict[int, int] = {}  # how many rows have values of these kinds
        self._hashed: dict[Any, dict[Key, None]] = {}
        self._sorted: SortedList = SortedList()
        self._loose: dict[Key, None] = {}  # rows with values that have no number
        self._mode: Mode = "none"

    # -- kinds ------------------------------------------------------------------------------------

    def kinds_after(self, delta: Delta, values: dict[Key, JoinValues]) -> int:
        """The kinds of all values with those of the delta."""
        counts = dict(self._kinds)
        for key in delta:
            before = self.values.get(key)
            if before is not None:
                counts[before.kinds] -= 1
            if key in values:
                counts[values[key].kinds] = counts.get(values[key].kinds, 0) + 1
        found = 0
        for kinds, count in counts.items():
            found |= kinds if count else 0
        return found

    # -- adding rows ------------------------------------------------------------------------------

    def update(self, delta: Delta, values: dict[Key, JoinValues], mode: Mode) -> None:
        """Add rows with their values; an index of another mode is made again afterwards."""
        same = mode == self._mode
        for key in delta:  # first all that goes: ranks may be handed from row to row
            before = self.values.pop(key, None)
            if before is not None:
                self._kinds[before.kinds] -= 1
                if same:
                    self._unindex(key, before)
            self.rows.pop(key, None)
        for key, (_, new) in delta.items():
            if new is None:
                continue
            self.rows[key] = new
            if key in values:
                own = self.values[key] = values[key]
                self._kinds[own.kinds] = self._kinds.get(own.kinds, 0) + 1
                if same:
                    self._index(key, own)

    def clear(self) -> None:
        """Drop all rows; the kinds of their values stay known."""
        self.rows, self.values = {}, {}
        self._hashed, self._sorted, self._loose = {}, SortedList(), {}

    def drop(self) -> None:
        """Drop all rows, as if each had been removed."""
        self.clear()
        self._kinds = {}

    def rebuild(self, mode: Mode) -> None:
        """The index for another way to compare."""
        self._mode = mode
        self._hashed, self._sorted, self._loose = {}, SortedList(), {}
        for key, values in self.values.items():
            self._index(key, values)

    def _index(self, key: Key, values: JoinValues) -> None:
        if self._mode in ("none", "all"):
            return
        found, loose = comparable(values, self._mode)
        if loose:
            self._loose[key] = None
        elif self.op == "eq":
            for value in found:
                self._hashed.setdefault(value, {})[key] = None
        elif found:
            self._sorted.add((self._extreme(found), self.rows[key].rank, key))

    def _unindex(self, key: Key, values: JoinValues) -> None:
        if self._mode in ("none", "all"):
            return
        found, loose = comparable(values, self._mode)
        if loose:
            self._loose.pop(key, None)
        elif self.op == "eq":
            for value in found:
                rows = self._hashed[value]
                del rows[key]
                if not rows:
                    del self._hashed[value]
        elif found:
            self._sorted.remove((self._extreme(found), self.rows[key].rank, key))

    def _extreme(self, values: list[Any]) -> Any:
        """The value that compares if any does."""
        return min(values) if self.op in ("lt", "le") else max(values)

    # -- looking up -------------------------------------------------------------------------------

    def found(self, values: JoinValues | None, op: str, mode: Mode) -> list[Key]:
        """`matching`, in the order of the rows."""
        return sorted(self.matching(values, op, mode), key=lambda key: self.rows[key].rank)

    def cells(self, keys: Sequence[Key], column: int) -> list[Cell]:
        """The values of a column in some rows."""
        return [self.rows[key].cells[column] for key in keys]

    def matching(self, values: JoinValues | None, op: str, mode: Mode) -> Iterable[Key]:
        """The rows that a row of the other side may agree with: its value op value here."""
        if mode == "all":
            return list(self.rows)
        if values is None or mode == "none":
            return ()
        found, loose = comparable(values, mode)
        if loose:
            return list(self.values)
        if op == "eq":
            if len(found) == 1 and not self._loose:
                return list(self._hashed.get(found[0], ()))
            keys: dict[Key, None] = {}
            for value in found:
                keys.update(self._hashed.get(value, {}))
            return [*keys, *self._loose]
        if not found:
            return list(self._loose)
        return [*self._range(found, op), *self._loose]

    def _range(self, found: list[Any], op: str) -> list[Key]:
        """Equal values count as candidates, too: as doubles different numbers may be equal."""
        if op in ("lt", "le"):
            first = self._sorted.bisect_left((min(found),))
            return [key for _, _, key in self._sorted.islice(first)]
        last = self._sorted.bisect_left((max(found), _Last()))
        return [key for _, _, key in self._sorted.islice(0, last)]


class _Last:
    """Behind every rank."""

    def __lt__(self, other: object) -> bool:
        return False

    def __gt__(self, other: object) -> bool:
        return True


def comparable(values: JoinValues, mode: Mode) -> tuple[list[Any], bool]:
    """The values as they are compared; and whether one of them cannot be."""
    if mode == "text":
        return [value for _, value in values.atoms], False
    found, loose = [], False
    for kind, value in values.atoms:
        number = as_number(value) if kind == UNTYPED_TEXT else value
        if number is None:
            loose = True
        elif not math.isnan(number):
            found.append(number)
    return found, loose
