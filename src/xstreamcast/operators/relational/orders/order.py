"""order by: rows get ranks that sort as their keys do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.circuit import nodes as c
from xstreamcast.evaluate.pairs import at_most_one
from xstreamcast.functions.cast import cast
from xstreamcast.functions.compare.keys import sortable
from xstreamcast.functions.compare.values import ordinals
from xstreamcast.model.atomic import DECIMAL, DOUBLE, FLOAT, INTEGER, PRIMITIVE
from xstreamcast.model.column import Column
from xstreamcast.model.delta import Cell, Delta, Key, Row
from xstreamcast.model.items import Items
from xstreamcast.model.rank_bytes import Descending, negated

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round

NUMBERS: Final = frozenset({INTEGER, DECIMAL, FLOAT, DOUBLE})


class OrderOperator:
    """rows  →  the same rows; those with equal keys keep their order.

    Numbers of different types are compared as the widest of them: when that changes, all rows get
    new ranks.
    """

    def __init__(self, node: c.Order) -> None:
        self._node = node
        columns = node.source.columns
        self._at = [columns.index(key.column) for key in node.keys]
        self._kept = [columns.index(v) for v in node.columns]
        self._rows: dict[Key, Row] = {}  # as they came
        self._made: dict[Key, Row] = {}
        self._kinds: list[Counter[int]] = [Counter() for _ in node.keys]
        self._samples: dict[int, Any] = {}  # a value of each type
        self._targets: list[int | None] = [None for _ in node.keys]
        self._negates = True  # descending numbers are ranked by their negatives

    def restored(self) -> None:
        """Continue with the ranks of a snapshot: those of the first version are of another form."""
        first = next(iter(self._made.values()), None)
        if first is not None:
            parts = zip(first.rank[self._node.outer][0], self._targets, strict=True)
            old = any(isinstance(part, Descending) and to in NUMBERS for part, to in parts)
            self._negates = not old

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The rows that changed, with their new ranks."""
        (delta,) = deltas
        for key, (_, new) in delta.items():
            old = self._rows.pop(key, None)
            for at, kinds in zip(self._at, self._kinds, strict=True):
                if old is not None:
                    kinds.subtract(_tags(old.cells[at]))
                if new is not None:
                    kinds.update(_tags(new.cells[at]))
                    self._samples.update(new.cells[at])
            if new is not None:
                self._rows[key] = new
        targets = self._now_compared_as()
        todo = list(delta) if targets == self._targets else [*self._rows, *delta]
        self._targets = targets
        return self._ranked(dict.fromkeys(todo), turn)

    def _now_compared_as(self) -> list[int | None]:
        """For each key the type that its values are compared as."""
        return [_target(kinds, self._samples) for kinds in self._kinds]

    def _ranked(self, todo: dict[Key, None], turn: Round) -> Delta:
        made = self._with_ranks({key: self._rows[key] for key in todo if key in self._rows})
        out: Delta = {}
        for key in todo:
            old, new = self._made.pop(key, None), made.get(key)
            if new is not None:
                self._made[key] = new
            turn.put(out, key, old, new)
        return out

    def _with_ranks(self, rows: dict[Key, Row]) -> dict[Key, Row]:
        """The rows as they are emitted."""
        sort = [
            _sort_keys([row.cells[at] for row in rows.values()], key, target, self._negates)
            for at, key, target in zip(self._at, self._node.keys, self._targets, strict=True)
        ]
        return {
            key: self._row(row, tuple(part[i] for part in sort))
            for i, (key, row) in enumerate(rows.items())
        }

    def _row(self, row: Row, sort: tuple[Any, ...]) -> Row:
        outer, width = self._node.outer, self._node.width
        rank = (*row.rank[:outer], (sort, row.rank[outer:]), *(0,) * (width - outer - 1))
        return Row(rank, tuple(row.cells[at] for at in self._kept))


def _tags(cell: Cell) -> list[int]:
    return [tag for tag, _ in cell]


def _target(kinds: Counter[int], samples: dict[int, Any]) -> int | None:
    """The type that keys of several types are compared as; an error if they have no order."""
    found = sorted(tag for tag, count in kinds.items() if count)
    if not found:
        return None
    made = sortable(Items.mixed(found, [samples[tag] for tag in found]))
    return PRIMITIVE[made.tag]


def _sort_keys(
    cells: Sequence[Cell], key: c.SortKey, target: int | None, negates: bool
) -> list[Any]:
    """For each cell something that sorts as its value does."""
    if any(len(cell) > 1 for cell in cells):
        lengths = np.array([len(cell) for cell in cells], np.int64)
        at_most_one(Column.from_lengths(_items(cells), lengths), "a key of order by")
    found = iter(_ordinals(_items(cells), target) if any(cells) else ())
    empty = (2, 0) if key.empty_greatest else (-2, 0)
    nan = (1, 0) if key.empty_greatest else (-1, 0)
    out = []
    opposite = negated if negates and target in NUMBERS else Descending
    for cell in cells:
        value = next(found) if cell else None
        made = empty if value is None else nan if value != value else (0, value)
        out.append(opposite(made) if key.descending else made)
    return out


def _items(cells: Sequence[Cell]) -> Items:
    atoms = [atom for cell in cells for atom in cell]
    return Items.mixed([tag for tag, _ in atoms], [value for _, value in atoms])


def _ordinals(items: Items, target: int | None) -> list[Any]:
    assert target is not None
    whole = items if items.tag == target else cast(items, target)
    if PRIMITIVE[whole.tag] in (FLOAT, DOUBLE):
        found: list[Any] = whole.values.tolist()
        return found
    made: list[Any] = ordinals(whole, 0).tolist()
    return made
