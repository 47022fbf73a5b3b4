"""order by over rows that only come, of which the first n can count: no others are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.circuit.passes.growing import grows
from xstreamcast.model.atomic import DOUBLE, FLOAT, INTEGER
from xstreamcast.model.delta import Delta, Key, Row
from xstreamcast.operators.relational.appended import AppendedRows
from xstreamcast.operators.relational.orders.order import OrderOperator

if TYPE_CHECKING:
    import numpy.typing as npt

    from xstreamcast.circuit import nodes as c
    from xstreamcast.model.column import Column
    from xstreamcast.operators.relational.tick import Round

_NUMBERS: Final = (INTEGER, FLOAT, DOUBLE)
_WHOLE: Final = float(1 << 53)  # integers below it are doubles


class TopRows(OrderOperator):
    """rows  →  the first n of them, as an order of all rows has them.

    A row behind n others is forgotten: none of them goes, and the planner saw to it that
    no type of a key changes how two rows compare.
    """

    def __init__(self, node: c.Order) -> None:
        super().__init__(node)
        assert node.limit is not None
        assert not node.outer
        self._limit = node.limit
        self._follow = grows(node.source)  # rows that come are behind those with equal keys

    def apply(self, turn: Round, deltas: Sequence[Delta | AppendedRows]) -> Delta:
        """The rows that are among the first now, and those that are so no more."""
        (delta,) = deltas
        rows = self._candidates(delta) if isinstance(delta, AppendedRows) else self._new(delta)
        if not rows:
            return {}
        targets = self._now_compared_as()
        again = targets != self._targets
        self._targets = targets
        self._rows.update(rows)
        ranked = self._with_ranks(self._rows if again else rows)
        all_made = ranked if again else {**self._made, **ranked}
        first = sorted(all_made, key=lambda key: all_made[key].rank)[: self._limit]
        return self._keep({key: all_made[key] for key in first}, turn)

    def _keep(self, now: dict[Key, Row], turn: Round) -> Delta:
        before, self._made = self._made, now
        self._rows = {key: self._rows[key] for key in now}
        out: Delta = {}
        for key in dict.fromkeys([*before, *now]):
            turn.put(out, key, before.get(key), now.get(key))
        return out

    def trim(self) -> None:
        """Forget what an operator without a limit kept."""
        first = sorted(self._made, key=lambda key: self._made[key].rank)[: self._limit]
        self._made = {key: self._made[key] for key in first}
        self._rows = {key: self._rows[key] for key in first}

    def _new(self, delta: Delta) -> dict[Key, Row]:
        """All rows that came, with the types of their keys noted."""
        rows = {key: new for key, (_, new) in delta.items() if new is not None}
        for at, kinds in zip(self._at, self._kinds, strict=True):
            for row in rows.values():
                kinds.update(dict.fromkeys((tag for tag, _ in row.cells[at]), 1))
                self._samples.update(row.cells[at])
        return rows

    # -- columns ----------------------------------------------------------------------------------

    def _candidates(self, given: AppendedRows) -> dict[Key, Row]:
        """The rows that may be among the first; no others are made."""
        columns = [given.column(at) for at in self._at]
        numbers = self._numbers(columns[0])
        if numbers is None or any(map(_has_several, columns)):
            return self._new(given.delta())
        for column, kinds in zip(columns, self._kinds, strict=True):
            self._note(column, kinds)
        return dict(given.rows(self._chosen(*numbers, alone=len(columns) == 1).tolist()))

    def _note(self, column: Column, kinds: Counter[int]) -> None:
        tags, places = np.unique(column.items.all_tags(), return_index=True)
        for tag, at in zip(tags.tolist(), places.tolist(), strict=True):
            kinds[tag] += 1
            self._samples[tag] = column.items.take(np.array([at])).values.tolist()[0]

    def _numbers(self, column: Column) -> tuple[npt.NDArray[np.float64], bool] | None:
        """The first keys as doubles that sort as they do, and whether equal ones are equal keys."""
        items = column.items
        if column.offsets is not None or items.tag not in _NUMBERS or not self._negates:
            return None
        if items.values.dtype == object:
            return None
        values = items.values.astype(np.float64)
        exact = items.tag != INTEGER or bool((np.abs(values) < _WHOLE).all())
        key = self._node.keys[0]
        last = np.inf if key.empty_greatest else -np.inf
        values = np.where(np.isnan(values), last, values)
        return -values if key.descending else values, exact

    def _chosen(
        self, values: npt.NDArray[np.float64], exact: bool, alone: bool
    ) -> npt.NDArray[np.int64]:
        """Where the least values are; infinite ones may be NaN, which other parts distinguish."""
        strict = exact and alone and self._follow
        chosen = np.arange(len(values))
        if len(self._made) == self._limit:
            worst = _as_double(self._worst())
            below = values < worst if strict and np.isfinite(worst) else values <= worst
            chosen = np.flatnonzero(below)
        if len(chosen) <= self._limit:
            return chosen
        own = values[chosen]
        order = np.argsort(own, kind="stable")[: self._limit]
        last = own[order[-1]]
        kept: npt.NDArray[np.int64] = chosen[own <= last]
        return np.sort(chosen[order]) if strict and np.isfinite(last) else kept

    def _worst(self) -> Any:
        """The first sort key of the last row that is kept."""
        last = next(reversed(self._made.values()))
        return last.rank[0][0][0]


def _has_several(column: Column) -> bool:
    return column.offsets is not None and bool((np.diff(column.offsets) > 1).any())


def _as_double(part: tuple[int, Any]) -> float:
    kind, value = part
    return float(value) if kind == 0 else float(np.copysign(np.inf, kind))
