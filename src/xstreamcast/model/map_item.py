"""A map as a value: a run of keys and the rows of a column of values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from xstreamcast.model.atomic import ATOMIC, MAP
from xstreamcast.model.column import Column, gather, offsets_of
from xstreamcast.model.items import Items, objects
from xstreamcast.model.map_key import map_key
from xstreamcast.model.sequence_type import ANY, AtomicItem, SequenceType

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]

Atom = tuple[int, Any]  # the type and the value of a key
Entry = tuple[Atom, Column, int]  # the key, and its value: a row of a column

_ATOMIC = SequenceType(AtomicItem(ATOMIC["anyAtomicType"].tag))


class MapItem:
    """A map: key i of `keys` has the value in row i of `values`, for i from `start` to `end`.

    Maps made together share both. `index` finds the row of a key; it is made when first needed.
    It can be called as a function of one argument, a key.
    """

    __slots__ = ("_index", "end", "keys", "start", "values")

    name: ClassVar[None] = None
    arity: ClassVar[int] = 1
    parameters: ClassVar[tuple[SequenceType, ...]] = (_ATOMIC,)
    result: ClassVar[SequenceType] = ANY
    captured: ClassVar[None] = None

    def __init__(self, keys: Items, values: Column, start: int, end: int) -> None:
        self.keys = keys
        self.values = values
        self.start = start
        self.end = end
        self._index: dict[Hashable, int] | None = None

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def index(self) -> dict[Hashable, int]:
        """The row of each key."""
        if self._index is None:
            pairs = self.own_keys().pairs()
            self._index = {
                map_key(tag, value): row for row, (tag, value) in enumerate(pairs, self.start)
            }
        return self._index

    def own_keys(self) -> Items:
        """The keys of this map, in their order."""
        return self.keys.slice(self.start, self.end)

    def own_values(self) -> Column:
        """A row for each entry."""
        if self.start == 0 and self.end == self.values.n:
            return self.values
        return self.values.slice(self.start, self.end)

    def entries(self) -> list[Entry]:
        """The entries, in their order."""
        values = self.values
        return [(key, values, row) for row, key in enumerate(self.own_keys().pairs(), self.start)]

    def row(self, tag: int, value: Any) -> int | None:
        """The row of a key among `values`, None where the map has no such key."""
        return self.index.get(map_key(tag, value))

    @property
    def body(self) -> Callable[..., Column]:
        """The map as a function: called with a column of keys."""
        return lambda call, keys: values_of([self] * keys.n, keys.items.pairs())


def values_of(maps: Sequence[MapItem], keys: Iterable[Atom]) -> Column:
    """The value of keys[i] in maps[i], () where there is none."""
    nothing = Column.empty(1)
    cells = []
    for one, (tag, value) in zip(maps, keys, strict=True):
        row = one.row(tag, value)
        cells.append((nothing, 0) if row is None else (one.values, row))
    return gather(cells)


def map_items(keys: Items, values: Column, lengths: Ints) -> Items:
    """Maps of the given sizes over shared keys and values; no map may have a key twice."""
    bounds = offsets_of(lengths).tolist()
    made = [MapItem(keys, values, a, b) for a, b in zip(bounds, bounds[1:], strict=False)]
    return Items(MAP, objects(made))


def maps_of(rows: Sequence[Sequence[Entry]]) -> Items:
    """A map for each list of entries, all over shared keys and values."""
    flat = [entry for row in rows for entry in row]
    keys = Items.mixed([key[0] for key, _, _ in flat], [key[1] for key, _, _ in flat])
    values = gather([(column, row) for _, column, row in flat])
    return map_items(keys, values, np.fromiter(map(len, rows), np.int64, len(rows)))
