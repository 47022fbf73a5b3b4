"""Folds over the rows of a group: a change costs what changed, not what the group holds.

value  →  the function over the items of all rows, in the order of their ranks
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sortedcontainers import SortedList

from xstreamcast.functions.numbers.arithmetic import arithmetic
from xstreamcast.model.atomic import (
    BOOLEAN,
    DAY_TIME_DURATION,
    DECIMAL,
    DOUBLE,
    INTEGER,
    STRING,
    UNTYPED,
)
from xstreamcast.model.duration import Duration
from xstreamcast.model.exact import EXACT
from xstreamcast.model.items import Items
from xstreamcast.operators.relational.folds.deferred import Deferred
from xstreamcast.operators.relational.folds.extreme import Extreme, as_double
from xstreamcast.operators.relational.folds.gathered import (
    FoldState,
    Gathered,
    Member,
    Switching,
    applied,
)
from xstreamcast.operators.relational.folds.once import Once

if TYPE_CHECKING:
    from xstreamcast.circuit.nodes import Fold
    from xstreamcast.model.delta import Atom, Cell, Rank
    from xstreamcast.operators.relational.tick import Round

_ZERO: Final = ((INTEGER, 0),)


def fold_state(fold: Fold) -> FoldState:
    """The state of a fold over no members."""
    if fold.once is not None:
        return Once(fold_state(replace(fold, once=None)), *fold.once)
    if fold.deferred:
        return Deferred(fold_state(replace(fold, deferred=False)))
    if fold.different:
        return Different(fold)
    match fold.name:
        case "count" | "exists" | "empty":
            return Counted(fold.name)
        case "sum" | "avg" if fold.call is not None and len(fold.call.args) == 1:
            return Summed(fold)
        case "distinct-values" if fold.call is not None and len(fold.call.args) == 1:
            return Distinct(fold)
        case "min" | "max" if fold.call is not None and len(fold.call.args) == 1:
            return Extreme(fold)
        case _:
            return Gathered(fold)


class Counted:
    """count, exists, empty: a number."""

    def __init__(self, name: str) -> None:
        self._name, self._count = name, 0

    def update(self, gone: list[Member], come: list[Member]) -> None:
        self._count += sum(len(cell) for _, _, cell in come)
        self._count -= sum(len(cell) for _, _, cell in gone)

    def value(self, turn: Round) -> Cell:
        return counted(self._name, self._count)


def counted(name: str, count: int) -> Cell:
    """count, exists or empty of so many items."""
    match name:
        case "exists":
            return ((BOOLEAN, count > 0),)
        case "empty":
            return ((BOOLEAN, count == 0),)
        case _:
            return ((INTEGER, count),)


class Different(Switching):
    """count, exists, empty of different values: how often each text occurs."""

    def __init__(self, fold: Fold) -> None:
        assert fold.call is not None
        inner: Any = fold.call.args[0]  # distinct-values
        super().__init__(replace(fold, call=inner, different=False))
        self._name = fold.name
        self._clear()

    def _clear(self) -> None:
        self._times: Counter[str] = Counter()

    def _is_strange(self, cell: Cell) -> bool:
        return any(tag not in _TEXT for tag, _ in cell)

    def _take(self, gone: list[Member], come: list[Member]) -> None:
        self._times.update(value for _, _, cell in come for _, value in cell)
        for value in (value for _, _, cell in gone for _, value in cell):
            self._times[value] -= 1
            if not self._times[value]:
                del self._times[value]

    def value(self, turn: Round) -> Cell:
        if self._slow is None:
            return self._quick()
        return counted(self._name, len(self._slow.value(turn)))

    def _quick(self) -> Cell:
        return counted(self._name, len(self._times))


class Distinct(Switching):
    """distinct-values: of texts where each occurs, so that the first one determines its place."""

    def __init__(self, fold: Fold) -> None:
        super().__init__(fold)
        self._clear()

    def _clear(self) -> None:
        self._at: dict[str, SortedList] = {}

    def _is_strange(self, cell: Cell) -> bool:
        return any(tag not in _TEXT for tag, _ in cell)

    def _take(self, gone: list[Member], come: list[Member]) -> None:
        for value, entry in _entries(gone):
            self._at[value].remove(entry)
            if not self._at[value]:
                del self._at[value]
        for value, entry in _entries(come):
            self._at.setdefault(value, SortedList()).add(entry)

    def _quick(self) -> Cell:
        firsts = sorted((places[0], value) for value, places in self._at.items())
        return tuple((tag, value) for (_, _, tag), value in firsts)


def _entries(members: list[Member]) -> Iterable[tuple[str, tuple[Rank, int, int]]]:
    for rank, _, cell in members:
        for i, (tag, value) in enumerate(cell):
            yield value, (rank, i, tag)


_TEXT: Final = frozenset({UNTYPED, STRING})


class Summed(Switching):
    """sum and avg: of exact numbers and of spans of time a total; with doubles the values in

    order, and added so.
    """

    def __init__(self, fold: Fold) -> None:
        super().__init__(fold)
        self._clear()

    def _clear(self) -> None:
        self._total: Any = 0  # of integers and decimals
        self._seconds = Decimal(0)  # of spans of time
        self._tags: Counter[int] = Counter()
        self._entries: SortedList = SortedList()  # of doubles, and of all that is added to doubles
        self._values = np.zeros(0, np.float64)

    def _is_strange(self, cell: Cell) -> bool:
        return any(_kind(atom) is None and not _is_span(atom) for atom in cell)

    def value(self, turn: Round) -> Cell:
        spans = self._tags[DAY_TIME_DURATION]
        if self._slow is None and spans and spans < sum(self._tags.values()):
            rows = sorted(self._rows.values(), key=lambda row: row[0])
            assert self._fold.call is not None  # numbers and spans: an error, which it raises
            return applied(self._fold.call, [atom for _, cell in rows for atom in cell], turn)
        return super().value(turn)

    def _take(self, gone: list[Member], come: list[Member]) -> None:
        out, new = list(self._counted(gone, -1)), list(self._counted(come, 1))
        if len(out) + len(new) > 16 + len(self._entries) // 64:
            self._rebuild(out, new)
            return
        for entry, _ in out:
            at = self._entries.index(entry)
            del self._entries[at]
            self._values = np.delete(self._values, at)
        for entry, value in new:
            at = self._entries.bisect_left(entry)
            self._entries.add(entry)
            self._values = np.insert(self._values, at, value)

    def _counted(self, members: list[Member], sign: int) -> Iterable[tuple[Any, float]]:
        """Count values in or out → those that must be kept in order."""
        for rank, _, cell in members:
            for i, (tag, value) in enumerate(cell):
                self._tags[tag] += sign
                if tag == DAY_TIME_DURATION:
                    self._seconds = EXACT.add(self._seconds, sign * value.seconds)
                    continue
                if tag in _EXACT:
                    self._total = (
                        EXACT.add(self._total, value)
                        if sign > 0
                        else (EXACT.subtract(self._total, value))
                    )
                number = as_summand((tag, value))
                assert number is not None
                yield (rank, i), number

    def _rebuild(self, out: list[tuple[Any, float]], new: list[tuple[Any, float]]) -> None:
        left = dict(zip(self._entries, self._values.tolist(), strict=True))
        for entry, _ in out:
            del left[entry]
        left.update(new)
        self._entries = SortedList(left)
        self._values = np.fromiter((left[e] for e in self._entries), np.float64, len(left))

    def _quick(self) -> Cell:
        n, average = len(self._values), self._fold.name == "avg"
        if self._tags[DAY_TIME_DURATION]:
            total = Items.of(DAY_TIME_DURATION, [Duration(0, self._seconds)])
            return self._mean(total, self._tags[DAY_TIME_DURATION]) if average else _pair(total)
        if n == 0:
            return () if average else _ZERO
        tags = {tag for tag, count in self._tags.items() if count}
        if tags <= _EXACT:
            return self._exact(n, average, DECIMAL if DECIMAL in tags else INTEGER)
        with np.errstate(all="ignore"):
            added = float(np.add.accumulate(self._values)[-1])
            return ((DOUBLE, added / n if average else added),)

    def _exact(self, n: int, average: bool, tag: int) -> Cell:
        total = int(self._total) if tag == INTEGER else EXACT.plus(self._total)
        if not average:
            return ((tag, total),)
        return self._mean(Items.of(tag, [total]), n)

    def _mean(self, total: Items, n: int) -> Cell:
        return _pair(arithmetic("div", total, Items.of(INTEGER, [n])))


def _pair(items: Items) -> Cell:
    return tuple(items.pairs())


def _is_span(atom: Atom) -> bool:
    """Whether it is a span of time, and none so long that a sum might not be one."""
    tag, value = atom
    return tag == DAY_TIME_DURATION and abs(value.seconds) < 10**9


_EXACT: Final = frozenset({INTEGER, DECIMAL})


def is_exact(atom: Atom) -> bool:
    """Whether a value is an integer or decimal that can be added in any order."""
    return _kind(atom) is True


def as_summand(atom: Atom) -> float | None:
    """A value as it is added to doubles; None if it is no number."""
    if _kind(atom) is None:
        return None
    number = as_double(atom)
    return float(atom[1]) if number is None else number


def _kind(atom: Atom) -> bool | None:
    """Whether a number is exact; None for what is no number."""
    tag, value = atom
    if tag in _EXACT:
        return True if abs(value) < 10**300 else None
    return None if as_double(atom) is None else False
