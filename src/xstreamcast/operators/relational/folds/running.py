"""Folds over rows that are only appended: a value is updated, and no row is kept.

add(a), add(b), value  →  the function over the items of a, then b
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np

from xstreamcast.circuit.passes.growing import COUNTS
from xstreamcast.errors import Error
from xstreamcast.evaluate.calls import library_call
from xstreamcast.functions.numbers.arithmetic import arithmetic
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import DECIMAL, DOUBLE, INTEGER, UNTYPED
from xstreamcast.model.column import Column
from xstreamcast.model.exact import EXACT
from xstreamcast.model.items import Items, empty_items
from xstreamcast.operators.relational.folds.extreme import as_sortable, sorts_plainly
from xstreamcast.operators.relational.folds.folds import as_summand, counted, is_exact

if TYPE_CHECKING:
    from xstreamcast.circuit.nodes import Fold
    from xstreamcast.model.delta import Atom, Cell
    from xstreamcast.operators.relational.tick import Round


class PlainValues(NamedTuple):
    """Values of one type as numbers or texts; untyped ones are doubles. Of a count, how many."""

    tag: int
    many: int
    values: Sequence[Any]


class RunningFold(Protocol):
    """What is kept of one group for one fold."""

    def add(self, cells: Iterable[Cell]) -> None:
        """Add the items of rows, in their order."""

    def add_plain(self, values: PlainValues) -> bool:
        """Add values of one type, in their order → False if they must be added one by one."""

    def merge(self, other: Any) -> None:
        """Add what another fold of this kind has, behind what this one has."""

    def value(self, turn: Round) -> Cell:
        """The value so far."""


def running_fold(fold: Fold) -> RunningFold:
    """The state of a fold over nothing."""
    if fold.name in COUNTS:
        return RunningCount(fold.name)
    kind = RunningSum if fold.name in ("sum", "avg") else RunningExtreme
    return kind(fold.name, fold.deferred)


class RunningCount:
    """count, exists, empty: a number."""

    def __init__(self, name: str) -> None:
        self._name, self.count = name, 0

    def add(self, cells: Iterable[Cell]) -> None:
        self.count += sum(map(len, cells))

    def add_plain(self, values: PlainValues) -> bool:
        self.count += values.many
        return True

    def merge(self, other: RunningCount) -> None:
        self.count += other.count

    def value(self, turn: Round) -> Cell:
        return counted(self._name, self.count)


class LibraryFold:
    """sum(a, b) = sum(sum(a), b), and so on: what came before is one value."""

    def __init__(self, name: str) -> None:
        self._name, self.count, self.folded = name, 0, empty_items()

    def take(self, items: Items, turn: Round) -> None:
        """Add atomic items."""
        name = "sum" if self._name == "avg" else self._name
        self.folded = _called(name, Items.concat([self.folded, items]), turn)
        self.count += len(items)

    def value(self, turn: Round) -> Cell:
        """The value so far."""
        if self._name == "avg" and self.count:
            _called("avg", self.folded, turn)  # whether there is a mean at all
            return _mean(self.folded, self.count)
        return tuple(_called(self._name, self.folded, turn).pairs())


def _called(name: str, items: Items, turn: Round) -> Items:
    function = lookup(FN, name, 1)
    assert function is not None
    column = Column(items, np.array([0, len(items)], np.int64))
    return library_call(function, [column], turn.workspace().context.root, None).items


def _mean(total: Items, count: int) -> Cell:
    return tuple(arithmetic("div", total, Items.of(INTEGER, [count])).pairs())


class _Plain(ABC):
    """A fold that has a quick way for values of some types, and the function itself for others."""

    def __init__(self, name: str, deferred: bool = False) -> None:
        """`deferred`: where it fails, its value is what the function fails on."""
        self._name, self.count, self._deferred = name, 0, deferred
        self.other: LibraryFold | None = None  # once something of another type has come
        self.waiting: list[Atom] = []  # for it

    def add(self, cells: Iterable[Cell]) -> None:
        for cell in cells:
            for atom in cell:
                if self.other is None and self._take(atom):
                    self.count += 1
                else:
                    self._by_function().append(atom)

    def add_plain(self, values: PlainValues) -> bool:
        if values.many == 0:
            return True
        if self.other is not None or not self._take_plain(values):
            return False
        self.count += values.many
        return True

    def _by_function(self) -> list[Atom]:
        """From now on the function folds; what came before is one value of it."""
        if self.other is None:
            self.other = LibraryFold(self._name)
            self.other.folded = Items.mixed(*_columns(self._total()))
            self.other.count = self.count
        return self.waiting

    def merge(self, other: Self) -> None:
        """Add what another one has, behind what this one has."""
        if other.other is None and (self.other is None or not other.count):
            self._merge(other)
            return
        total = other._total() if other.other is None else tuple(other.other.folded.pairs())
        waiting, made_of = self._by_function(), other.count
        if other.other is not None:
            made_of = other.other.count
        assert self.other is not None
        waiting += [*total, *other.waiting]
        self.other.count += made_of - len(total)

    def value(self, turn: Round) -> Cell:
        if self.other is None:
            return self._plain_value()
        try:
            if self.waiting:
                self.other.take(Items.mixed(*_columns(self.waiting)), turn)
                self.waiting = []
            return self.other.value(turn)
        except Error:
            if not self._deferred:
                raise
            return self._failing(self.other, turn)

    def _failing(self, other: LibraryFold, turn: Round) -> Cell:
        """What came so far, up to the first value that it fails with: what follows cannot help."""
        while self.waiting:
            try:
                other.take(Items.mixed(*_columns(self.waiting[:1])), turn)
            except Error:
                del self.waiting[1:]
                break
            del self.waiting[0]
        return (*other.folded.pairs(), *self.waiting)

    @abstractmethod
    def _take(self, atom: Atom) -> bool:
        """Add a value → False if the quick way does not know it."""

    @abstractmethod
    def _take_plain(self, values: PlainValues) -> bool:
        """`_take` of some values at once; none of them if there is no such way."""

    @abstractmethod
    def _merge(self, other: Self) -> None:
        """`merge`, where both go the quick way."""

    @abstractmethod
    def _total(self) -> Cell:
        """What came so far as one value of the function; of nothing, none."""

    @abstractmethod
    def _plain_value(self) -> Cell:
        """The value in the quick way."""


def _columns(atoms: Sequence[Atom]) -> tuple[list[int], list[Any]]:
    return [tag for tag, _ in atoms], [value for _, value in atoms]


class RunningSum(_Plain):
    """sum and avg: exact numbers exactly; once a double has come, all of them as doubles."""

    def __init__(self, name: str, deferred: bool = False) -> None:
        super().__init__(name, deferred)
        self.exact: Any = 0
        self.double = 0.0  # of all values, added in their order
        self.tags: set[int] = set()

    def _take(self, atom: Atom) -> bool:
        tag, value = atom
        number = as_summand(atom)
        if number is None:
            return False
        if is_exact(atom):
            self.exact = EXACT.add(self.exact, value)
        self.double = self.double + number if self.tags else number
        self.tags.add(tag)
        return True

    def _take_plain(self, values: PlainValues) -> bool:
        numbers = iter(values.values)
        total = self.double if self.tags else float(next(numbers))
        for number in numbers:  # in their order, as the function adds doubles
            total += number
        self.double = total
        if values.tag == INTEGER:
            self.exact = EXACT.add(self.exact, sum(values.values))
        self.tags.add(values.tag)
        return True

    def _merge(self, other: RunningSum) -> None:
        if other.tags:
            self.double = self.double + other.double if self.tags else other.double
        self.exact = EXACT.add(self.exact, other.exact)
        self.tags |= other.tags
        self.count += other.count

    def _total(self) -> Cell:
        if not self.tags:
            return ()
        if self.tags == {INTEGER}:
            return ((INTEGER, int(self.exact)),)
        if self.tags <= {INTEGER, DECIMAL}:
            return ((DECIMAL, EXACT.plus(self.exact)),)
        return ((DOUBLE, self.double),)

    def _plain_value(self) -> Cell:
        total = self._total()
        if self._name == "sum":
            return total or ((INTEGER, 0),)
        if total and total[0][0] == DOUBLE:
            return ((DOUBLE, total[0][1] / self.count),)
        return _mean(Items.mixed(*_columns(total)), self.count) if total else ()


class RunningExtreme(_Plain):
    """min and max: the least or greatest, as long as all values are of one type."""

    def __init__(self, name: str, deferred: bool = False) -> None:
        super().__init__(name, deferred)
        self.best: Atom | None = None

    def _take(self, atom: Atom) -> bool:
        if not sorts_plainly(atom):
            return False
        found = as_sortable(atom)
        if self.best is None:
            self.best = found
        elif self.best[0] != found[0]:
            return False
        else:
            self.best = (min if self._name == "min" else max)(self.best, found)
        return True

    def _take_plain(self, values: PlainValues) -> bool:
        tag = DOUBLE if values.tag == UNTYPED else values.tag
        if self.best is not None and self.best[0] != tag:
            return False
        choose = min if self._name == "min" else max
        found = tag, choose(values.values)
        self.best = found if self.best is None else choose(self.best, found)
        return True

    def _merge(self, other: RunningExtreme) -> None:
        if other.best is not None:
            self.add([(other.best,)])

    def _total(self) -> Cell:
        return () if self.best is None else (self.best,)

    def _plain_value(self) -> Cell:
        return self._total()
