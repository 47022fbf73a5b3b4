"""The side of a join whose rows only come and hold atomic values: columns of codes.

A row takes four bytes for each column and as many in the index; a value is kept once.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from xstreamcast.operators.relational.joins.index import Mode, comparable
from xstreamcast.operators.relational.joins.values import JoinValues

if TYPE_CHECKING:
    from xstreamcast.model.delta import Cell, Delta, Key

T = TypeVar("T", bound=Hashable)
_PLAIN: Final = (str, int)  # values that are the same where they are equal


class CodedColumn(Generic[T]):
    """values, one after another  →  the number of each, and each different value once."""

    __slots__ = ("_numbers", "codes", "different")

    def __init__(self) -> None:
        self.codes = array("i")
        self.different: list[T] = []
        self._numbers: dict[T, int] = {}

    def append(self, value: T, plain: bool = True) -> None:
        """One more value; `plain`: another one that is equal is the same."""
        if not plain:
            self.codes.append(len(self.different))
            self.different.append(value)
            return
        number = self._numbers.setdefault(value, len(self.different))
        if number == len(self.different):
            self.different.append(value)
        self.codes.append(number)

    def __getitem__(self, row: int) -> T:
        return self.different[self.codes[row]]

    def __len__(self) -> int:
        return len(self.codes)

    def fill(self, different: Sequence[T], codes: Iterable[int]) -> None:
        """Take over what another column had; values that were equal and not plain stay apart."""
        self.different, self.codes = list(different), array("i", codes)
        self._numbers = {}
        for number, value in enumerate(self.different):
            self._numbers.setdefault(value, number)


class AppendedSide:
    """rows that match a value  →  those whose own value is equal, in the order in which they came.

    An index may give rows that do not match after all, never too few.
    """

    def __init__(self, width: int) -> None:
        self.columns: list[CodedColumn[Cell]] = [CodedColumn() for _ in range(width)]
        self.values: CodedColumn[JoinValues] = CodedColumn()
        self.mode: Mode = "none"
        self._hashed: dict[Any, array[int]] = {}
        self._loose = array("i")  # rows with values that have no number
        self._kinds = 0

    def kinds_after(self, delta: Delta, values: Mapping[Key, JoinValues]) -> int:
        """The kinds of all values with those of the delta."""
        found = self._kinds
        for one in {values[key].kinds for key in delta if key in values}:
            found |= one
        return found

    def update(self, delta: Delta, values: Mapping[Key, JoinValues], mode: Mode) -> None:
        """Add rows with their values; an index of another mode is rebuilt afterwards."""
        same = mode == self.mode
        for key, (old, new) in delta.items():
            assert old is None, "rows of such a side never change"
            assert new is not None, "nor do they go"
            own = values[key]
            self._kinds |= own.kinds
            self.values.append(own)
            for column, cell in zip(self.columns, new.cells, strict=True):
                column.append(cell, all(type(value) in _PLAIN for _, value in cell))
            if same:
                self._index(len(self.values) - 1, own)

    def rebuild(self, mode: Mode) -> None:
        """The index for another way to compare."""
        self.mode = mode
        self._hashed, self._loose = {}, array("i")
        for row in range(len(self.values)):
            self._index(row, self.values[row])

    def restored(self) -> None:
        """Make again what follows from the rows."""
        for one in self.values.different:
            self._kinds |= one.kinds
        self.rebuild(self.mode)

    def _index(self, row: int, values: JoinValues) -> None:
        if self.mode in ("none", "all"):
            return
        found, loose = comparable(values, self.mode)
        if loose:
            self._loose.append(row)
            return
        for value in found:
            rows = self._hashed.get(value)
            if rows is None:
                rows = self._hashed[value] = array("i")
            rows.append(row)

    def found(self, values: JoinValues | None, op: str, mode: Mode) -> Sequence[int]:
        """The rows that a row of the other side may agree with, in their order."""
        assert op == "eq", "such a side is joined by equality"
        if mode == "all":
            return range(len(self.values))
        if values is None or mode == "none":
            return ()
        found, loose = comparable(values, mode)
        if loose:
            return range(len(self.values))
        if len(found) == 1 and not self._loose:
            return self._hashed.get(found[0], ())
        rows = set(self._loose)
        for value in found:
            rows.update(self._hashed.get(value, ()))
        return sorted(rows)

    def cells(self, rows: Sequence[int], column: int) -> list[Cell]:
        """The values of a column in some rows."""
        codes, different = self.columns[column].codes, self.columns[column].different
        return [different[codes[row]] for row in rows]
