"""min and max over the rows of a group, by the values in their own order."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from sortedcontainers import SortedList

from xstreamcast.model.atomic import (
    DATE,
    DATE_TIME,
    DECIMAL,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    UNTYPED,
)
from xstreamcast.operators.relational.folds.gathered import Member, Switching, applied
from xstreamcast.operators.relational.joins.values import as_number

if TYPE_CHECKING:
    from xstreamcast.circuit.nodes import Fold
    from xstreamcast.model.delta import Atom, Cell
    from xstreamcast.operators.relational.tick import Round


class Extreme(Switching):
    """min and max: the values in their own order, if all are doubles or all of one exact type.

    Moments are of one type if they have one time zone: equal ones are then written the same.
    """

    def __init__(self, fold: Fold) -> None:
        super().__init__(fold)
        self._clear()

    def _clear(self) -> None:
        self._sorted: SortedList = SortedList()
        self._tags: Counter[Any] = Counter()

    def _is_strange(self, cell: Cell) -> bool:
        return not all(atom[0] in _MOMENTS or sorts_plainly(atom) for atom in cell)

    def _take(self, gone: list[Member], come: list[Member]) -> None:
        for _, _, cell in gone:
            for atom in cell:
                self._tags[_sorted_as(atom)] -= 1
                self._sorted.remove(_entry(atom))
        atoms = [atom for _, _, cell in come for atom in cell]
        self._tags.update(map(_sorted_as, atoms))
        self._sorted.update(map(_entry, atoms))

    def value(self, turn: Round) -> Cell:
        tags = [tag for tag, count in self._tags.items() if count]
        if self._slow is None and len(tags) > 1:  # of several types: as the function has it
            rows = sorted(self._rows.values(), key=lambda row: row[0])
            assert self._fold.call is not None
            return applied(self._fold.call, [atom for _, cell in rows for atom in cell], turn)
        return super().value(turn)

    def _quick(self) -> Cell:
        if not self._sorted:
            return ()
        tag, *_, value = self._sorted[0 if self._fold.name == "min" else -1]
        return ((tag, value),)


_MOMENTS: Final = frozenset({DATE_TIME, DATE, TIME})


def _entry(atom: Atom) -> tuple[Any, ...]:
    """What a value is sorted by, and the value."""
    tag, value = atom
    if tag not in _MOMENTS:
        return as_sortable(atom)
    return tag, value.day, value.nanos, value.offset is not None, value.offset or 0, value


_SORTED: Final = frozenset({INTEGER, DECIMAL, STRING})


def sorts_plainly(atom: Atom) -> bool:
    """Whether a value sorts as Python sorts it: no NaN, no negative zero, no other type."""
    if atom[0] in _SORTED:
        return True
    value = as_double(atom)
    return value is not None and value == value and not (value == 0 and math.copysign(1, value) < 0)


def _sorted_as(atom: Atom) -> Any:
    """The type of a value among those that are sorted; moments with another time zone differ."""
    tag, value = atom
    if tag in _MOMENTS:
        return tag, value.offset
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
