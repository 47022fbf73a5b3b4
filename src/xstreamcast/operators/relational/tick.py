"""What one round of work brings to the operators of a circuit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import copysign
from typing import TYPE_CHECKING, Any

from xstreamcast.model.delta import (
    ArrayValue,
    Cell,
    Delta,
    Key,
    MapValue,
    NodeRef,
    Row,
    RowDelta,
    nodes_in,
)
from xstreamcast.operators.relational.reading import UnitReader
from xstreamcast.operators.relational.workspace import Reader, Workspace

if TYPE_CHECKING:
    from xstreamcast.operators.relational.failing import Failing
    from xstreamcast.operators.units.evaluating import EvaluationContext
    from xstreamcast.operators.units.spine_view import SpineView
    from xstreamcast.operators.units.units import Minis

    Spines = Callable[[str | None], SpineView | None]


@dataclass(slots=True)
class Round:
    """How units are read, whether the clock moved, and which inputs said anything."""

    asking: EvaluationContext
    read: Reader
    touched: frozenset[str | None]
    clock_moved: bool
    dirty: set[tuple[int, str]] = field(default_factory=set)  # units whose content is new
    places: dict[int, Mapping[str, Any]] = field(default_factory=dict)  # of units, by input
    decided: bool = True  # nothing is missing that an answer may have to wait for
    ended: frozenset[str | None] = frozenset()
    settled: dict[int, list[Key]] = field(default_factory=dict)  # by node: rows that never change
    final: dict[int, dict[int, int]] = field(default_factory=dict)  # ranks between which none do
    spine: Spines | None = None  # the elements of the root of an input
    operator: int = 0  # the number of the one that is computed
    failing: Failing | None = None  # the rows that an error broke off
    _space: Workspace | None = None  # of all rows that live for this tick

    def spine_of(self, name: str | None) -> SpineView | None:
        """The elements of the root of a stream; None if it has none."""
        assert self.spine is not None
        return self.spine(name)

    def read_each(self, source: int, keys: set[str]) -> list[Minis]:
        """Units, for who looks at each by itself."""
        if isinstance(self.read, UnitReader):
            return self.read.each(source, keys)
        return self.read(source, keys)

    def workspace(self) -> Workspace:
        """A place to evaluate in."""
        return Workspace(self.asking, self.read)

    def common_workspace(self) -> Workspace:
        """The place where all rows that live for this tick are evaluated."""
        if self._space is None:
            self._space = self.workspace()
        return self._space

    def is_same(self, old: Row, new: Row) -> bool:
        """Whether a row is what it was, and so are the nodes that it refers to."""
        if old != new or any(map(self._is_dirty, new.cells)):
            return False
        return all(map(_is_same_zero, old.cells, new.cells))

    def _is_dirty(self, cell: Cell) -> bool:
        return any(
            type(node) is NodeRef and (node.source, node.unit) in self.dirty
            for node in nodes_in(cell)
        )

    def put(self, delta: Delta, key: tuple[object, ...], old: Row | None, new: Row | None) -> None:
        """Note a change of a row, unless there is none."""
        if old is None and new is None:
            return
        if old is not None and new is not None and self.is_same(old, new):
            return
        delta[key] = RowDelta(old, new)


def _is_same_zero(old: Cell, new: Cell) -> bool:
    """Whether zeros have one sign in cells that are equal: the two are written differently."""
    return all(a is b or _is_same_value(a, b) for (_, a), (_, b) in zip(old, new, strict=True))


def _is_same_value(old: Any, new: Any) -> bool:
    """Of equal values, whether zeros in them have the same sign."""
    match old:
        case float():
            return old != 0 or copysign(1, old) == copysign(1, new)
        case MapValue(keys, values):
            return all(map(_is_same_zero, (keys, *values), (new.keys, *new.values)))
        case ArrayValue(members):
            return all(map(_is_same_zero, members, new.members))
        case _:
            return True
