"""The tuples an expression is evaluated for: n rows with variables and focus, lifted when used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from xstreamcast.errors import error
from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.evaluate.context import Context
    from xstreamcast.model.column import Ints

Key: TypeAlias = int | str  # a variable's number, or one of the three below
Value: TypeAlias = "Column | Callable[[], Column] | None"  # None: absent (the focus of a function)

ITEM: Final = "item"
POSITION: Final = "position"
LAST: Final = "last"
FOCUS: Final = frozenset({ITEM, POSITION, LAST})


class Frame:
    """n rows inside an outer frame: row i belongs to row `origin[i]` of it (None: row i to row i).

    A value of the outer frame is lifted into this one on first use, and kept.
    """

    __slots__ = ("_own", "context", "kept", "n", "origin", "outer", "steady", "values")

    def __init__(
        self,
        context: Context,
        n: int,
        outer: Frame | None = None,
        origin: Ints | None = None,
        values: Mapping[Key, Value] | None = None,
    ) -> None:
        self.context = context
        self.n = n
        self.outer = outer
        self.origin = origin
        self.values: dict[Key, Value] = dict(values) if values else {}
        self._own: Iterable[Key] = values or ()  # what is bound here, not around
        self.steady = False  # whether positions are 1 to n
        self.kept: dict[int, Column] = {}  # values of expressions that inner loops do not change

    @staticmethod
    def of_row(context: Context, outer: Frame, values: dict[Key, Value]) -> Frame:
        """A frame of one row, which takes the dictionary for its own."""
        frame = Frame.__new__(Frame)
        frame.context, frame.n, frame.outer, frame.origin = context, 1, outer, None
        frame._own, frame.values = tuple(values), values
        frame.steady, frame.kept = False, {}
        return frame

    @property
    def bound(self) -> frozenset[Key]:
        """What has its value here, and not in a frame around this one."""
        return frozenset(self._own)

    def bind(self, key: Key, value: Value) -> None:
        """One variable more, of a frame that nothing has been evaluated in which reads it."""
        self.values[key] = value
        self._own = (*self._own, key)

    # -- looking --------------------------------------------------------------------------------

    def get(self, key: Key) -> Column | None:
        """The value of a variable or of a part of the focus; None if it is absent."""
        value = self.values.get(key, self)
        if value is self:
            value = None if self.outer is None else self._lift(self.outer.get(key))
            self.values[key] = value
        elif callable(value):
            value = self.values[key] = value()
        return value  # type: ignore[return-value]

    def variable(self, key: Key) -> Column:
        """The value of a variable in scope."""
        value = self.get(key)
        assert value is not None, f"no value for {key!r}"
        return value

    def focus(self, key: Key) -> Column:
        """The context item, its position or the context size, a value for each row."""
        value = self.get(key)
        if value is None:
            raise error("XPDY0002")
        return value

    def _lift(self, value: Column | None) -> Column | None:
        if value is None or self.origin is None:
            return value
        assert self.outer is not None
        return (
            Column.constant(value.items, self.n) if self.outer.n == 1 else value.take(self.origin)
        )

    # -- inner frames ---------------------------------------------------------------------------

    def extend(self, values: Mapping[Key, Value]) -> Frame:
        """The same rows with further variables."""
        return Frame(self.context, self.n, self, None, values)

    def select(self, rows: Ints) -> Frame:
        """Some of the rows."""
        return Frame(self.context, len(rows), self, rows)

    def loop(self, column: Column, values: Mapping[Key, Value]) -> Frame:
        """A row for every item of a column of this frame."""
        origin = None if column.offsets is None else column.rows()
        return Frame(self.context, len(column.items), self, origin, values)

    def focused(self, column: Column) -> Frame:
        """A row for every item of the column, with that item in focus."""
        inner = self.loop(
            column,
            {
                ITEM: column.each(),
                POSITION: lambda: positions(column),
                LAST: lambda: Column(_integers(np.repeat(column.lengths(), column.lengths()))),
            },
        )
        inner.steady = self.n == 1
        return inner

    # -- outer frames ---------------------------------------------------------------------------

    def home(self, keys: Iterable[Key]) -> Frame:
        """The outermost frame in which all of `keys` have their values."""
        wanted, frame = frozenset(keys), self
        while frame.outer is not None and not (frame.bound & wanted):
            frame = frame.outer
        return frame

    def origin_in(self, home: Frame) -> Ints:
        """For each row, its row of an outer frame."""
        rows: Ints = np.arange(self.n, dtype=np.int64)
        frame = self
        while frame is not home:
            rows = rows if frame.origin is None else frame.origin[rows]
            assert frame.outer is not None
            frame = frame.outer
        return rows


def positions(column: Column) -> Column:
    """The position of every item in its row, from 1."""
    if column.n == 1:
        return Column(_integers(np.arange(1, len(column.items) + 1, dtype=np.int64)))
    bounds = column.bounds()
    first = np.repeat(bounds[:-1], np.diff(bounds))
    return Column(_integers(np.arange(1, len(column.items) + 1, dtype=np.int64) - first))


def _integers(values: Ints) -> Items:
    return Items(INTEGER, values)
