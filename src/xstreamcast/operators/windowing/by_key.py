"""Windows for each value of a key: items go to the windows of their value, and only those go on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Generic

import numpy as np

from xstreamcast.algebra.windowed_by import ByKey
from xstreamcast.errors import Error
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.tuples import gathered
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.model.atomic import UNTYPED
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items, empty_items
from xstreamcast.operators.units import Moved, chosen
from xstreamcast.operators.windowing.sight import Sight
from xstreamcast.operators.windowing.windows import Revision, Rows, T, Windows
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Part
    from xstreamcast.algebra.windowed import Windowed
    from xstreamcast.operators.asking import Asking
    from xstreamcast.operators.units import Minis

SHIFT: Final = 100  # bits of a rank that tell windows of one value apart
_ORDINAL: Final = 24  # bits of a value's place among those of its unit


class WindowsByKey(Generic[T]):
    """The windows of each value, named by it; values stand in the order of their first places.

    told after each tick  →  for each value, the windows of the items that have it
    """

    def __init__(self, part: Part, rows: Rows[T], snapshot: Any = None) -> None:
        shape: Windowed = part.shape  # type: ignore[assignment]
        assert shape.by is not None
        self.shape, self.by, self._part, self._rows = shape, shape.by, part, rows
        self.each: dict[str, Windows[T]] = {}
        self._places: dict[str, int] = {}  # of each value
        self._waiting: set[str] = set()  # values whose windows failed over what may be mended
        self._decided = False
        self._changing: _Changing | None = None  # where items may change
        if snapshot is not None:
            self._decided, self._waiting, held = snapshot
            self.each = {value: Windows(part, rows, one) for value, one in held}
            self._places = {value: at for at, value in enumerate(self.each)}

    def snapshot(self) -> Any:
        """What brings it back; None where units are to be asked again."""
        if self._changing is not None:
            return None
        held = [(value, one.snapshot()) for value, one in self.each.items()]
        return self._decided, self._waiting, held

    @property
    def anew(self) -> bool:
        """Whether nothing is known of windows that may have been told."""
        return self._changing is None

    @property
    def pairs_asked(self) -> int:
        """How many windows were asked whether an item ends them."""
        return sum(one.pairs_asked for one in self.each.values())

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        own = sum(500 + len(value) + one.state_bytes for value, one in self.each.items())
        return own + (0 if self._changing is None else self._changing.state_bytes)

    # -- ticks ----------------------------------------------------------------------------------

    def on_tick(
        self, moves: Sequence[Moved], asking: Asking, decided: bool, ended: bool
    ) -> Revision[T] | None:
        """What a tick changed. `decided`: open windows may be told; `ended`: nothing comes."""
        if not moves and decided == self._decided and not self._waiting:
            return None
        try:
            return deep(lambda: self._on_tick(moves, asking, decided, ended))
        except Error:
            if self._changing is not None:  # all units are asked again
                self._changing, self.each, self._places = None, {}, {}
            raise

    def _on_tick(
        self, moves: Sequence[Moved], asking: Asking, decided: bool, ended: bool
    ) -> Revision[T]:
        revision: Revision[T] = Revision()
        asked = _Asked(self.shape, self.by, self._part, asking)
        arrived: dict[str, list[Items]] = {}
        for moved in moves:
            if moved.append:
                self._sort_out(moved, asked, arrived)
            else:
                self._revise(moved, asked, revision, decided, ended)
        going = dict.fromkeys([*arrived, *sorted(self._waiting)])
        for value in self.each if decided != self._decided else going:
            found = self._gone_on(value, arrived, asked.sight(value), decided, ended)
            self._take_in(value, found, revision)
        self._decided = decided
        return revision

    def _gone_on(
        self, value: str, arrived: dict[str, list[Items]], sight: Sight, decided: bool, ended: bool
    ) -> Revision[T]:
        if self._changing is not None:
            return self.each[value].on_moves([], sight, decided, ended)
        items = Items.concat(arrived[value]) if value in arrived else empty_items()
        return self.each[value].on_items(items, sight, decided, ended)

    def _sort_out(self, moved: Moved, asked: _Asked, arrived: dict[str, list[Items]]) -> None:
        """Give items to the values that they have."""
        if moved.asked is None:
            return
        for value in (one for row in asked.values(moved.asked) for one in row):
            self._enter(value, len(self._places))
        for value, items in asked.items(moved.asked):
            arrived.setdefault(value, []).append(items)

    def _enter(self, value: str, place: int) -> None:
        if value not in self.each:
            self.each[value] = Windows(self._part, self._rows)
            self._places[value] = place

    def _take_in(self, value: str, found: Revision[T], revision: Revision[T]) -> None:
        """Windows of a value, by names and ranks among those of all values."""
        base = self._places[value] << SHIFT
        revision.merge(
            Revision(
                {_named(name, value): one for name, one in found.contents.items()},
                {_named(name, value) for name in found.gone},
                {_named(name, value): base + rank for name, rank in found.ranks.items()},
                finals={base: base + found.final} if found.final else {},
            )
        )
        self._waiting.discard(value)
        if self.each[value].waits:
            self._waiting.add(value)
        if self._changing is not None:
            self._changing.told(value, found)

    # -- items that change ------------------------------------------------------------------------

    def _revise(
        self, moved: Moved, asked: _Asked, revision: Revision[T], decided: bool, ended: bool
    ) -> None:
        """Units have changed: the values that they have, or had, go on with those they have now."""
        if self._changing is None:
            self._changing, self.each, self._places = _Changing(), {}, {}
        known = self._changing
        values = [] if moved.asked is None else asked.values(moved.asked)
        touched = known.take(moved, values)
        for value in sorted(touched):
            if value in known.units:
                self._put(value, known.place(value, moved), known, revision)
                change, sight = known.part(value, moved), asked.sight(value)
                found = self.each[value].on_moves([change], sight, decided, ended)
                self._take_in(value, found, revision)
            else:
                self._drop(value, known, revision)
        for name in revision.gone:
            revision.ranks.pop(name, None)

    def _put(self, value: str, place: int, known: _Changing, revision: Revision[T]) -> None:
        """A value first appears at a place; its windows go there."""
        if self._places.get(value, place) != place:
            base = place << SHIFT
            ranks = known.ranks[value].items()
            revision.ranks |= {_named(name, value): base + rank for name, rank in ranks}
        self._enter(value, place)
        self._places[value] = place

    def _drop(self, value: str, known: _Changing, revision: Revision[T]) -> None:
        revision.merge(Revision(gone={_named(n, value) for n in known.ranks.pop(value, ())}))
        self.each.pop(value, None)
        self._places.pop(value, None)
        self._waiting.discard(value)


class _Asked:
    """What one tick asks of units: their values, and their items by value."""

    def __init__(self, shape: Windowed, by: ByKey, part: Part, asking: Asking) -> None:
        self._shape, self._by, self._document = shape, by, part.document
        self._context = asking.context(Store(asking.names))
        self._base = gathered(shape.before, self._context.root)
        self._frames: dict[int, Frame] = {}

    def sight(self, value: str) -> Sight:
        """What can be asked about the items of a value."""
        bound = self._base.extend({self._by.variable.number: Column(Items.of(UNTYPED, [value]))})
        return Sight(self._shape, self._context, bound)

    def values(self, minis: Minis) -> list[list[str]]:
        """The different values of each unit, in order."""
        column = atomize(self._context.store, evaluate(self._by.values, self._units(minis)))
        texts, bounds = column.items.values.tolist(), column.bounds().tolist()
        return [list(dict.fromkeys(texts[a:b])) for a, b in itertools.pairwise(bounds)]

    def items(self, minis: Minis) -> list[tuple[str, Items]]:
        """The items of all units by the values that they have."""
        items = evaluate(self._by.source, self._units(minis)).items
        origin = np.zeros(len(items), np.int64)
        each: dict[Key, Value] = {self._by.item.number: Column(items)}
        frame = Frame(self._context, len(items), self._base, origin, each)
        keys = atomize(self._context.store, evaluate(self._by.key, frame))
        if len(keys.items) > len(items) or int(keys.lengths().max(initial=0)) > 1:
            self._check(minis, keys.items.values[0])
        places: dict[str, list[int]] = {}
        for value, at in zip(keys.items.values.tolist(), keys.rows().tolist(), strict=True):
            places.setdefault(value, []).append(at)
        return [
            (value, items.take(np.unique(np.array(at, np.int64)))) for value, at in places.items()
        ]

    def _check(self, minis: Minis, value: str) -> None:
        """An item has several values: the condition itself tells whether that is an error."""
        bound = self._units(minis).extend(
            {self._by.variable.number: Column(Items.of(UNTYPED, [value] * len(minis)))}
        )
        evaluate(self._shape.window.items, bound)

    def _units(self, minis: Minis) -> Frame:
        known = self._frames.get(id(minis))
        if known is None:
            store = self._context.store
            handles = (store.add(minis.tape) << 32) | minis.documents
            origin = np.zeros(len(handles), np.int64)
            units = Column(Items.of_nodes(handles))
            known = Frame(
                self._context, len(handles), self._base, origin, {self._document.number: units}
            )
            self._frames[id(minis)] = known
        return known


class _Changing:
    """Which unit has which values, where units may change; and what was told of each value."""

    def __init__(self) -> None:
        self.values: dict[str, list[str]] = {}  # of each unit
        self.units: dict[str, set[str]] = {}  # of each value
        self.ranks: dict[str, dict[str, int]] = {}  # of the windows of each value
        self._left: dict[str, set[str]] = {}  # units that no longer have a value

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return sum(200 + 100 * len(one) for one in (*self.values.values(), *self.ranks.values()))

    def take(self, moved: Moved, values: list[list[str]]) -> set[str]:
        """Take units in → the values that may have other items now, or stand elsewhere."""
        self._left = {}
        keys = () if moved.asked is None else moved.asked.keys
        for unit in (*moved.leaving(list(self.values)), *keys):
            for value in self.values.pop(unit, ()):
                self.units[value].discard(unit)
                self._left.setdefault(value, set()).add(unit)
        for unit, found in zip(keys, values, strict=True):
            self.values[unit] = found
            for value in found:
                self.units.setdefault(value, set()).add(unit)
        touched = set(self._left) | {value for found in values for value in found}
        if moved.reordered or moved.complete:
            touched |= set(self.units)
        self.units = {value: units for value, units in self.units.items() if units}
        return touched

    def place(self, value: str, moved: Moved) -> int:
        """Where a value first appears."""
        unit = min(self.units[value], key=moved.places.__getitem__)
        return (moved.places[unit] << _ORDINAL) + self.values[unit].index(value)

    def part(self, value: str, moved: Moved) -> Moved:
        """What has moved of the units of one value."""
        units, minis = self.units[value], moved.asked
        if minis is not None:
            at = [i for i, unit in enumerate(minis.keys) if unit in units]
            minis = chosen(minis, np.array(at, np.int64)) if at else None
        return replace(
            moved,
            asked=minis,
            gone=tuple(sorted(self._left.get(value, set()) - units)),
            places={unit: moved.places[unit] for unit in units},
        )

    def told(self, value: str, found: Revision[Any]) -> None:
        """Windows of a value have other names or ranks."""
        ranks = self.ranks.setdefault(value, {})
        for name in found.gone:
            ranks.pop(name, None)
        ranks.update(found.ranks)


def _named(name: str, value: str) -> str:
    return f"{name}/{value}"
