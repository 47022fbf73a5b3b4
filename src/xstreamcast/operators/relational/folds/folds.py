"""Folds over the rows of a group: a change costs what changed, not what the group holds.

value  →  the function over the items of all rows, in the order of their ranks
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from sortedcontainers import SortedList

from xstreamcast.evaluate.calls import library_call
from xstreamcast.functions.numbers.arithmetic import arithmetic
from xstreamcast.model.atomic import BOOLEAN, DECIMAL, DOUBLE, INTEGER, STRING, UNTYPED
from xstreamcast.model.column import Column
from xstreamcast.model.exact import EXACT
from xstreamcast.model.items import Items
from xstreamcast.operators.relational.folds.once import Once
from xstreamcast.operators.relational.joins.values import as_number
from xstreamcast.operators.relational.orders.ordered import Ordered

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.circuit.nodes import Fold
    from xstreamcast.model.delta import Atom, Cell, Key, Rank
    from xstreamcast.operators.relational.tick import Round

Member = tuple["Rank", "Key", "Cell"]
_ZERO: Final = ((INTEGER, 0),)


class FoldState(Protocol):
    """What is kept of one group for one fold."""

    def update(self, gone: list[Member], come: list[Member]) -> None:
        """Take members out and put others in."""

    def value(self, turn: Round) -> Cell:
        """The value over all members."""


def fold_state(fold: Fold) -> FoldState:
    """The state of a fold over no members."""
    if fold.once is not None:
        return Once(fold_state(replace(fold, once=None)), *fold.once)
    if fold.different:
        return Different(fold)
    match fold.name:
        case "count" | "exists" | "empty":
            return Counted(fold.name)
        case "sum" | "avg" if fold.call is not None and len(fold.call.args) == 1:
            return Summed(fold)
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


class Gathered:
    """Items in order, and the function over all of them; members without items are not kept."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._order, self._cells = Ordered(), dict["Key", "Cell"]()

    def __len__(self) -> int:
        return len(self._cells)

    def update(self, gone: list[Member], come: list[Member]) -> None:
        gone, come = [m for m in gone if m[2]], [m for m in come if m[2]]
        if not gone and len(come) == 1 and not self._cells:  # most groups have one member
            ((rank, key, cell),) = come
            self._order.begin(rank, key)
            self._cells[key] = cell
            return
        self._order.replace(
            ((rank, key) for rank, key, _ in gone), ((rank, key) for rank, key, _ in come)
        )
        for _, key, _ in gone:
            del self._cells[key]
        for _, key, cell in come:
            self._cells[key] = cell

    def value(self, turn: Round) -> Cell:
        if len(self._cells) == 1:
            (items,) = self._cells.values()
        else:
            items = tuple(atom for _, key in self._order for atom in self._cells[key])
        if self._fold.call is None:
            return items
        return applied(self._fold.call, items, turn)


def applied(call: p.Call, items: Iterable[Atom], turn: Round) -> Cell:
    """A library function over atomic items; further arguments are constants."""
    space = turn.workspace()
    frame = space.context.root
    atoms = list(items)
    arguments = [_one_row([tag for tag, _ in atoms], [value for _, value in atoms])]
    for other in call.args[1:]:
        constants = other.atoms  # type: ignore[union-attr]
        arguments.append(_one_row([a.tag for a in constants], [a.value for a in constants]))
    column = library_call(call.function, arguments, frame, None)
    return space.cells(column)[0]


def _one_row(tags: list[int], values: list[Any]) -> Column:
    return Column(Items.mixed(tags, values), np.array([0, len(tags)], np.int64))


class _Switching(ABC):
    """A fold that has a quick way for values of some types, and the function itself for others."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._rows: dict[Key, tuple[Rank, Cell]] = {}
        self._strange = 0  # members with values of other types
        self._slow: Gathered | None = None

    def update(self, gone: list[Member], come: list[Member]) -> None:
        for _, key, cell in gone:
            del self._rows[key]
            self._strange -= self._is_strange(cell)
        for rank, key, cell in come:
            self._rows[key] = rank, cell
            self._strange += self._is_strange(cell)
        if self._strange:
            if self._slow is None:
                self._slow = Gathered(self._fold)
                self._slow.update([], self._members())
                self._clear()
            else:
                self._slow.update(gone, come)
        elif self._slow is not None:
            self._slow = None
            self._take([], self._members())
        else:
            self._take(gone, come)

    def value(self, turn: Round) -> Cell:
        return self._quick() if self._slow is None else self._slow.value(turn)

    def _members(self) -> list[Member]:
        return [(rank, key, cell) for key, (rank, cell) in self._rows.items()]

    @abstractmethod
    def _is_strange(self, cell: Cell) -> bool:
        """Whether the quick way does not know a value of the cell."""

    @abstractmethod
    def _take(self, gone: list[Member], come: list[Member]) -> None:
        """Take members in the quick way."""

    @abstractmethod
    def _clear(self) -> None:
        """Forget all members of the quick way."""

    @abstractmethod
    def _quick(self) -> Cell:
        """The value in the quick way."""


class Different(_Switching):
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


_TEXT: Final = frozenset({UNTYPED, STRING})


class Summed(_Switching):
    """sum and avg: of exact numbers a total; with doubles the values in order, and added so."""

    def __init__(self, fold: Fold) -> None:
        super().__init__(fold)
        self._clear()

    def _clear(self) -> None:
        self._total: Any = 0  # of integers and decimals
        self._tags: Counter[int] = Counter()
        self._entries: SortedList = SortedList()  # of doubles, and of all beside doubles
        self._values = np.zeros(0, np.float64)

    def _is_strange(self, cell: Cell) -> bool:
        return any(_kind(atom) is None for atom in cell)

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
        if n == 0:
            return () if average else _ZERO
        tags = {tag for tag, count in self._tags.items() if count}
        if tags <= _EXACT:
            return self._exact(n, average, DECIMAL if DECIMAL in tags else INTEGER)
        with np.errstate(all="ignore"):
            total = float(np.add.accumulate(self._values)[-1])
            return ((DOUBLE, total / n if average else total),)

    def _exact(self, n: int, average: bool, tag: int) -> Cell:
        total = int(self._total) if tag == INTEGER else EXACT.plus(self._total)
        if not average:
            return ((tag, total),)
        mean = arithmetic("div", Items.of(tag, [total]), Items.of(INTEGER, [n]))
        return tuple(mean.pairs())


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


class Extreme(_Switching):
    """min and max: the values in their own order, if all are doubles or all of one exact type."""

    def __init__(self, fold: Fold) -> None:
        super().__init__(fold)
        self._clear()

    def _clear(self) -> None:
        self._sorted: SortedList = SortedList()
        self._tags: Counter[int] = Counter()

    def _is_strange(self, cell: Cell) -> bool:
        return not all(map(sorts_plainly, cell))

    def _take(self, gone: list[Member], come: list[Member]) -> None:
        for _, _, cell in gone:
            for atom in cell:
                self._tags[_sorted_as(atom[0])] -= 1
                self._sorted.remove(as_sortable(atom))
        atoms = [atom for _, _, cell in come for atom in cell]
        self._tags.update(_sorted_as(tag) for tag, _ in atoms)
        self._sorted.update(map(as_sortable, atoms))

    def value(self, turn: Round) -> Cell:
        tags = [tag for tag, count in self._tags.items() if count]
        if self._slow is None and len(tags) > 1:  # of several types: as the function has it
            items = [atom for _, cell in sorted(self._rows.values()) for atom in cell]
            assert self._fold.call is not None
            return applied(self._fold.call, items, turn)
        return super().value(turn)

    def _quick(self) -> Cell:
        if not self._sorted:
            return ()
        return (self._sorted[0 if self._fold.name == "min" else -1],)


_SORTED: Final = frozenset({INTEGER, DECIMAL, STRING})


def sorts_plainly(atom: Atom) -> bool:
    """Whether a value sorts as Python sorts it: no NaN, no negative zero, no other type."""
    if atom[0] in _SORTED:
        return True
    value = as_double(atom)
    return value is not None and value == value and not (value == 0 and math.copysign(1, value) < 0)


def _sorted_as(tag: int) -> int:
    return tag if tag in _SORTED else DOUBLE


def as_sortable(atom: Atom) -> Atom:
    """The value among others of its type; untyped numbers are doubles."""
    if atom[0] in _SORTED:
        return atom
    number = as_double(atom)
    assert number is not None
    return DOUBLE, number


def as_double(atom: Atom) -> float | None:
    """The value of a double, or of an untyped number; None for what is neither."""
    tag, value = atom
    if tag == UNTYPED:
        return as_number(value)
    return value if tag == DOUBLE else None
