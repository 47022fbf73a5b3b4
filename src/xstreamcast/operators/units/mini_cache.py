"""Units as they were last built, side by side in arrays: they need not be built again.

Only for units without what is kept of them elsewhere: these are small and seldom change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from xstreamcast.model.column import offsets_of, ranges
from xstreamcast.tape.layout import Columns, Tape, empty_columns

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64
    from xstreamcast.tape.names import Names

_SLACK: Final = 100_000  # rows that are no longer needed, before all are dropped


class UnitSpans(NamedTuple):
    """Numbers of several units one after another, and how many each has."""

    values: I64
    counts: I64


class UnitDocuments(NamedTuple):
    """Documents of units on a tape; instants in them; the elements of each, and their begins.

    Rows of elements count from that of their document.
    """

    tape: Tape
    documents: I64
    instants: UnitSpans
    roots: UnitSpans
    begins: I64


class _Growing:
    """An array that grows at its end."""

    def __init__(self, dtype: Any) -> None:
        self.array, self.used = np.empty(1024, dtype), 0

    def append(self, part: Any) -> int:
        """Where it begins."""
        first, last = self.used, self.used + len(part)
        if last > len(self.array):
            larger = np.empty(max(last, 2 * len(self.array)), self.array.dtype)
            larger[:first] = self.array[:first]
            self.array = larger
        self.array[first:last] = part
        self.used = last
        return first


class MiniCache:
    """By the place of a unit, its document and what is known of it."""

    def __init__(self, names: Names, source: str | None, units: int) -> None:
        self._names, self._source = names, source
        kinds = empty_columns(0, np.zeros(0, np.uint8))
        self._rows = [_Growing(column.dtype) for column in kinds]
        self._instants, self._roots, self._begins = (_Growing(np.int64) for _ in range(3))
        # of each unit: the first of its rows, instants and elements, and how many
        self._first = np.full((3, units), -1, np.int64)
        self._count = np.zeros((3, units), np.int64)
        self._when = np.zeros(units, np.int64)  # how many fragments there were when it was made
        self._live = 0

    def lacks(self, places: I64) -> I64:
        """Those of the units that are not known."""
        found: I64 = places[self._first[0, places] < 0]
        return found

    def drop(self, places: I64, now: int) -> None:
        """Forget units made before there were so many fragments; all units, if most of what is
        held is of forgotten ones.
        """
        places = places[self._when[places] < now]
        self._live -= int(self._count[0, places].sum())
        self._first[:, places], self._count[:, places] = -1, 0
        if self._rows[0].used > 3 * self._live + _SLACK:
            self.__init__(self._names, self._source, self._first.shape[1])  # type: ignore[misc]

    def put(self, places: I64, made: UnitDocuments, now: int) -> None:
        """Units that are not known, in the order of the tape, as so many fragments make them."""
        self._when[places] = now
        c = made.tape.columns
        counts = c.size[made.documents].astype(np.int64) + 1
        base = self._rows[-1].append(c.heap)
        begin = np.repeat(made.documents, counts).astype(np.int32)
        at = ranges(made.documents, counts)
        near = c._replace(
            parent=np.where(c.parent[at] < 0, -1, c.parent[at] - begin), start=c.start[at] + base,
            **{name: getattr(c, name)[at] for name in ("kind", "level", "name", "size", "length")},
        )  # fmt: skip
        first = 0
        for growing, column in zip(self._rows[:-1], near[:-1], strict=True):
            first = growing.append(column)
        self._note(0, places, first, counts)
        self._note(1, places, self._instants.append(made.instants.values), made.instants.counts)
        self._note(2, places, self._roots.append(made.roots.values), made.roots.counts)
        self._begins.append(made.begins)
        self._live += int(counts.sum())

    def _note(self, what: int, places: I64, first: int, counts: I64) -> None:
        self._first[what, places] = first + np.cumsum(counts) - counts
        self._count[what, places] = counts

    def take(self, places: I64) -> UnitDocuments:
        """Units that are known, one after another."""
        counts = self._count[0, places]
        at, begin = ranges(self._first[0, places], counts), offsets_of(counts)[:-1]
        *columns, heap = self._rows
        found = Columns._make([*(one.array[at] for one in columns), heap.array[: heap.used]])
        shift = np.repeat(begin, counts).astype(np.int32)
        parent = np.where(found.parent < 0, np.int32(-1), found.parent + shift)
        instants, roots = (self._spans(what, places) for what in (1, 2))
        return UnitDocuments(
            Tape(found._replace(parent=parent), self._names, self._source), begin,
            UnitSpans(self._instants.array[instants.values], instants.counts),
            UnitSpans(self._roots.array[roots.values], roots.counts),
            self._begins.array[roots.values],
        )  # fmt: skip

    def _spans(self, what: int, places: I64) -> UnitSpans:
        counts = self._count[what, places]
        return UnitSpans(ranges(self._first[what, places], counts), counts)

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return self._first.nbytes * 2 + sum(one.array.nbytes for one in self._rows)
