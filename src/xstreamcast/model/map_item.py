"""A map as a value: a run of keys and the rows of a column of values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from xstreamcast.model.atomic import ATOMIC, MAP
from xstreamcast.model.column import Column, gather, offsets_of, stack
from xstreamcast.model.items import Items, objects
from xstreamcast.model.map_key import map_key
from xstreamcast.model.row import SingleRow
from xstreamcast.model.sequence_type import ANY, AtomicItem, SequenceType

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]

Atom = tuple[int, Any]  # the type and the value of a key
Cell = tuple[Column, int]  # a row of a column
Entry = tuple[Atom, Column, int]  # the key, and its value: a row of a column

_FEW = 32  # changes that a map may have relative to another
_ATOMIC = SequenceType(AtomicItem(ATOMIC["anyAtomicType"].tag))


class MapItem:
    """A map: key i of `keys` has the value in row i of `values`, for i from `start` to `end`.

    Maps made together share both. A map that differs from another in a few keys is that other and
    its changes, until all of its entries are read: `put` costs what changes, not what is there.
    It can be called as a function of one argument, a key.
    """

    __slots__ = ("_base", "_changes", "_end", "_index", "_keys", "_size", "_start", "_values")

    name: ClassVar[None] = None
    arity: ClassVar[int] = 1
    parameters: ClassVar[tuple[SequenceType, ...]] = (_ATOMIC,)
    result: ClassVar[SequenceType] = ANY
    captured: ClassVar[None] = None
    needs_call: ClassVar[bool] = True
    alone: ClassVar[None] = None

    def __init__(self, keys: Items, values: Column, start: int, end: int) -> None:
        self._keys = keys
        self._values = values
        self._start = start
        self._end = end
        self._size = end - start
        self._index: dict[Hashable, int] | None = None
        self._base: MapItem | None = None
        self._changes: dict[Hashable, Entry | None] = {}

    def __len__(self) -> int:
        return self._size

    # -- looking --------------------------------------------------------------------------------

    def find(self, tag: int, value: Any) -> Cell | None:
        """The position of the value of a key; None if the map has no such key."""
        return self._found(map_key(tag, value))

    def _found(self, key: Hashable) -> Cell | None:
        if self._base is not None:
            if key in self._changes:
                entry = self._changes[key]
                return None if entry is None else entry[1:]
            return self._base._found(key)
        row = self.index.get(key)
        return None if row is None else (self._values, row)

    @property
    def index(self) -> dict[Hashable, int]:
        """The row of each key among the values."""
        self._settle()
        if self._index is None:
            pairs = self._keys.slice(self._start, self._end).pairs()
            self._index = {
                map_key(tag, value): row for row, (tag, value) in enumerate(pairs, self._start)
            }
        return self._index

    def own_keys(self) -> Items:
        """The keys of this map, in their order."""
        self._settle()
        return self._keys.slice(self._start, self._end)

    def own_values(self) -> Column:
        """A row for each entry."""
        self._settle()
        if self._start == 0 and self._end == self._values.n:
            return self._values
        return self._values.slice(self._start, self._end)

    def cells(self) -> list[Cell]:
        """Where each value is."""
        self._settle()
        return [(self._values, row) for row in range(self._start, self._end)]

    def entries(self) -> list[Entry]:
        """The entries, in their order."""
        cells = self.cells()
        return [(key, *cell) for key, cell in zip(self.own_keys().pairs(), cells, strict=True)]

    @property
    def body(self) -> Callable[..., Column]:
        """The map as a function: called with a column of keys."""
        return lambda call, keys: values_of([self] * keys.n, keys.items.pairs())

    # -- changed --------------------------------------------------------------------------------

    def changed(self, changes: dict[Hashable, Entry | None]) -> MapItem:
        """The map with other entries for some keys; None removes one."""
        base, held = (self, changes) if self._base is None else (
            self._base, {**self._changes, **changes}
        )  # fmt: skip
        size = self._size
        for key, entry in changes.items():
            size += (entry is not None) - (self._found(key) is not None)
        made = MapItem(base._keys, base._values, 0, 0)
        made._base, made._changes, made._size = base, held, size
        if len(held) > max(_FEW, base._size // 8):
            made._settle()
        return made

    def _settle(self) -> None:
        """Copy keys and values, instead of referring to another map and changes."""
        base = self._base
        if base is None or self._grown(base):
            return
        left = dict(self._changes)
        entries: list[Entry] = []
        for entry in base.entries():
            key = map_key(*entry[0])
            kept = left.pop(key) if key in left else entry
            entries += [] if kept is None else [kept]
        entries += [entry for entry in left.values() if entry is not None]
        self._keys, self._values = _columns(entries)
        self._start, self._end, self._base, self._changes = 0, len(entries), None, {}

    def _grown(self, base: MapItem) -> bool:
        """The entries of the other map and new ones after them, if no change is of another kind."""
        index, added = base.index, list[Entry]()
        for key, entry in self._changes.items():
            if entry is None or key in index:
                return False
            added.append(entry)
        keys, values = _columns(added)
        self._index = dict(index)
        self._index.update(
            zip(self._changes, range(base._end, base._end + len(added)), strict=True)
        )
        if base._start:
            self._index = {key: row - base._start for key, row in self._index.items()}
        self._keys = Items.concat([base.own_keys(), keys])
        self._values = stack([base.own_values(), values])
        self._start, self._end, self._base, self._changes = 0, self._size, None, {}
        return True


def values_of(maps: Sequence[MapItem], keys: Iterable[Atom]) -> Column:
    """The value of keys[i] in maps[i], () where there is none."""
    nothing = (Column.empty(1), 0)
    return gather([one.find(*key) or nothing for one, key in zip(maps, keys, strict=True)])


def map_items(keys: Items, values: Column, lengths: Ints) -> Items:
    """Maps of the given sizes over shared keys and values; no map may have a key twice."""
    bounds = offsets_of(lengths).tolist()
    made = [MapItem(keys, values, a, b) for a, b in itertools.pairwise(bounds)]
    return Items(MAP, objects(made))


def maps_of(rows: Sequence[Sequence[Entry]]) -> Items:
    """A map for each list of entries, all over shared keys and values."""
    columns = _columns([entry for row in rows for entry in row])
    return map_items(*columns, np.fromiter(map(len, rows), np.int64, len(rows)))


def _columns(entries: Sequence[Entry]) -> tuple[Items, Column]:
    keys = Items.mixed([key[0] for key, _, _ in entries], [key[1] for key, _, _ in entries])
    return keys, _in_one_column(entries) or gather([(column, row) for _, column, row in entries])


def _in_one_column(entries: Sequence[Entry]) -> Column | None:
    """Values that were made for one row each, of one type: no array for each of them."""
    cells: list[Any] = []
    lengths: list[int] = []
    tag = -1
    for _, column, _ in entries:
        if column.__class__ is not SingleRow:
            return None
        lengths.append(len(column.cells))
        if column.cells:
            if column.tag != tag and tag >= 0:
                return None
            tag = column.tag
            cells += column.cells
    if tag < 0:
        return None
    return Column.from_lengths(Items.of(tag, cells), np.array(lengths, np.int64))
