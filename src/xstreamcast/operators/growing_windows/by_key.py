"""Windows for each value of a key: an item is added to the windows of its value alone."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Generic

import numpy as np

from xstreamcast.evaluate.flwor.tuples import gathered
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.model.atomic import UNTYPED
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items, empty_items
from xstreamcast.operators.growing_windows.sight import Sight
from xstreamcast.operators.growing_windows.windows import Revision, Rows, T, Windows
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.circuit.windows.windowed import Windowed
    from xstreamcast.circuit.windows.windowed_by import ByKey
    from xstreamcast.operators.units.evaluating import EvaluationContext
    from xstreamcast.operators.units.units import Minis

SHIFT: Final = 100  # bits of a rank that distinguish the windows of one value


class WindowsByKey(Generic[T]):
    """The windows of each value, named by it; values are in the order of their first places.

    emitted after each tick  →  for each value, the windows of the items that have it
    """

    def __init__(self, shape: Windowed, document: p.Variable, rows: Rows[T]) -> None:
        assert shape.by is not None
        self.shape, self.by, self._document, self._rows = shape, shape.by, document, rows
        self.each: dict[str, Windows[T]] = {}
        self._places: dict[str, int] = {}  # of each value
        self._waiting: set[str] = set()  # values whose windows failed over what may be mended
        self._decided = False

    @property
    def pairs_asked(self) -> int:
        """The number of (window, item) pairs whose end condition was evaluated."""
        return sum(one.pairs_asked for one in self.each.values())

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return sum(500 + len(value) + one.state_bytes for value, one in self.each.items())

    def on_tick(
        self, pieces: Sequence[Minis], asking: EvaluationContext, decided: bool, ended: bool
    ) -> Revision[T] | None:
        """What a tick changed. `decided`: open windows may be emitted; `ended`: nothing comes."""
        if not pieces and decided == self._decided and not self._waiting:
            return None
        revision: Revision[T] = Revision()
        reading = _Reading(self.shape, self.by, self._document, asking)
        arrived: dict[str, list[Items]] = {}
        for piece in pieces:
            self._sort_out(piece, reading, arrived)
        going = dict.fromkeys([*arrived, *sorted(self._waiting)])
        for value in self.each if decided != self._decided else going:
            items = Items.concat(arrived[value]) if value in arrived else empty_items()
            found = self.each[value].on_items(items, reading.sight(value), decided, ended)
            self._take_in(value, found, revision)
        self._decided = decided
        return revision

    def _sort_out(self, piece: Minis, reading: _Reading, arrived: dict[str, list[Items]]) -> None:
        """Give items to the values that they have."""
        for value in (one for row in reading.values(piece) for one in row):
            if value not in self.each:
                self.each[value] = Windows(self.shape, self._document, self._rows)
                self._places[value] = len(self._places)
        for value, items in reading.items(piece):
            arrived.setdefault(value, []).append(items)

    def _take_in(self, value: str, found: Revision[T], revision: Revision[T]) -> None:
        """Windows of a value, by names and ranks among those of all values."""
        base = self._places[value] << SHIFT
        revision.contents |= {_named(name, value): one for name, one in found.contents.items()}
        revision.gone |= {_named(name, value) for name in found.gone}
        revision.ranks |= {_named(name, value): base + rank for name, rank in found.ranks.items()}
        revision.provisional |= {_named(name, value) for name in found.provisional}
        if found.final:
            revision.finals[base] = base + found.final
        self._waiting.discard(value)
        if self.each[value].waits:
            self._waiting.add(value)


class _Reading:
    """What one tick reads of units: their values, and their items by value."""

    def __init__(
        self, shape: Windowed, by: ByKey, document: p.Variable, asking: EvaluationContext
    ) -> None:
        self._shape, self._by, self._document = shape, by, document
        self._context = asking.context(Store(asking.names))
        self._base = gathered(shape.before, self._context.root)
        self._frames: dict[int, Frame] = {}

    def sight(self, value: str) -> Sight:
        """What can be evaluated over the items of a value."""
        bound = self._base.extend({self._by.variable.number: Column(Items.of(UNTYPED, [value]))})
        return Sight(self._shape, self._context, bound)

    def values(self, piece: Minis) -> list[list[str]]:
        """The different values of each unit, in order."""
        column = atomize(self._context.store, evaluate(self._by.values, self._units(piece)))
        texts, bounds = column.items.values.tolist(), column.bounds().tolist()
        return [list(dict.fromkeys(texts[a:b])) for a, b in itertools.pairwise(bounds)]

    def items(self, piece: Minis) -> list[tuple[str, Items]]:
        """The items of all units by the values that they have."""
        items = evaluate(self._by.source, self._units(piece)).items
        origin = np.zeros(len(items), np.int64)
        each: dict[Key, Value] = {self._by.item.number: Column(items)}
        frame = Frame(self._context, len(items), self._base, origin, each)
        keys = atomize(self._context.store, evaluate(self._by.key, frame))
        if len(keys.items) > len(items) or int(keys.lengths().max(initial=0)) > 1:
            self._check(piece, keys.items.values[0])
        places: dict[str, list[int]] = {}
        for value, at in zip(keys.items.values.tolist(), keys.rows().tolist(), strict=True):
            places.setdefault(value, []).append(at)
        return [
            (value, items.take(np.unique(np.array(at, np.int64)))) for value, at in places.items()
        ]

    def _check(self, piece: Minis, value: str) -> None:
        """An item has several values: the condition itself decides whether that is an error."""
        bound = self._units(piece).extend(
            {self._by.variable.number: Column(Items.of(UNTYPED, [value] * len(piece)))}
        )
        evaluate(self._shape.window.items, bound)

    def _units(self, piece: Minis) -> Frame:
        known = self._frames.get(id(piece))
        if known is None:
            store = self._context.store
            handles = (store.add(piece.tape) << 32) | piece.documents
            origin = np.zeros(len(handles), np.int64)
            units = Column(Items.of_nodes(handles))
            known = Frame(
                self._context, len(handles), self._base, origin, {self._document.number: units}
            )
            self._frames[id(piece)] = known
        return known


def _named(name: str, value: str) -> str:
    return f"{name}/{value}"
