"""order by over the tuples of all units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.functions.compare import order_ranks
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.operators.answer import Answer
from xstreamcast.operators.asking import Asking, Tuple, sorted_tuples
from xstreamcast.operators.found import Found

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Part, Sorted
    from xstreamcast.model.change import Change
    from xstreamcast.operators.units import Moved


class Sorting:
    """Keys and results by unit; equal keys keep the order of the input.

    Ranks are found over all tuples at once, by the function that sorts in one evaluation: keys of
    different numeric types compare as they would there.
    """

    def __init__(self, part: Part, snapshot: Any = None) -> None:
        self._part = part
        self._shape: Sorted = part.shape  # type: ignore[assignment]
        self._keys: dict[str, list[tuple[Items, ...]]] = {}  # of the tuples of each unit
        self._order: Mapping[str, int] = {}
        self._answer = Answer()
        if snapshot is not None:
            keys, self._order, told = snapshot
            self._keys = {
                unit: [tuple(Items.mixed(*one) for one in row) for row in rows]
                for unit, rows in keys.items()
            }
            self._answer = Answer(told)

    def on_batch(self, moved: Moved, asking: Asking, instant: int) -> list[Change]:
        """What the batch changed in the answer."""
        return self.take(self.ask(moved, asking), instant)

    def ask(self, moved: Moved, asking: Asking) -> Found:
        """The tuples of the units that were asked."""
        if moved.asked is None:
            return Found.of(moved)
        frame = asking.units(moved.asked, self._part.document)
        return Found.of(moved, sorted_tuples(self._shape, frame))

    def take(self, found: Found, instant: int) -> list[Change]:
        """What units hold now → what that changed in the answer."""
        contents: dict[str, Any] = {}
        for unit in found.leaving(self._keys):
            contents |= {_group(unit, i): () for i in range(len(self._keys.pop(unit, ())))}
        self._order = found.places
        for unit, tuples in found.pairs():
            contents |= self._taken(unit, tuples)
        return self._answer.revise(contents, instant, order=self._sorted())

    def _taken(self, unit: str, found: list[Tuple]) -> dict[str, Any]:
        before = len(self._keys.get(unit, ()))
        self._keys[unit] = [one.keys for one in found]
        if not found:
            del self._keys[unit]
        out: dict[str, Any] = {_group(unit, i): one.items for i, one in enumerate(found)}
        return out | {_group(unit, i): () for i in range(len(found), before)}

    def _sorted(self) -> list[str]:
        """The names of all tuples in the order of their keys."""
        units = sorted(self._keys, key=lambda unit: self._order.get(unit, 0))
        names = [_group(unit, i) for unit in units for i in range(len(self._keys[unit]))]
        rows = [keys for unit in units for keys in self._keys[unit]]
        if not rows:
            return []
        ranks = []
        for at, key in enumerate(self._shape.keys):
            parts = [row[at] for row in rows]
            lengths = np.array([len(part) for part in parts], np.int64)
            column = Column.from_lengths(Items.concat(parts), lengths)
            found = order_ranks(column, empty_greatest=key.empty_greatest)
            ranks.append(-found if key.descending else found)
        return [names[i] for i in np.lexsort(tuple(reversed(ranks))).tolist()]

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of it back."""
        return self._answer.retracted(instant)

    def snapshot(self) -> Any:
        """What brings it back."""
        keys = {
            unit: [[(one.all_tags().tolist(), one.values.tolist()) for one in row] for row in rows]
            for unit, rows in self._keys.items()
        }
        return keys, {unit: self._order[unit] for unit in self._keys}, self._answer.snapshot()

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return self._answer.state_bytes + sum(200 * len(rows) for rows in self._keys.values())

    def __len__(self) -> int:
        return len(self._answer)


def _group(unit: str, ordinal: int) -> str:
    return f"{unit}:{ordinal}"
