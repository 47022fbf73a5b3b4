"""A join between units of inputs: who meets whom, by the values that are compared."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.functions.atomize import atomize
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.operators.asking import Asking, listed
from xstreamcast.operators.joining_index import UNKNOWN, Index, Values, comparable, values_of
from xstreamcast.operators.units import chosen

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.algebra.division import Part
    from xstreamcast.algebra.probe import Probe
    from xstreamcast.operators.units import Minis, Moved
    from xstreamcast.tape.store import Store

Fetch = Callable[[Sequence[str], "str | None"], "list[Moved]"]  # some units of an input
All = Callable[["str | None"], "Moved"]  # all units of an input


class Side:
    """One probe: the values of the driven units and of those of the other input.

    units that meet a unit  →  those that have one of its values, in the order of their input
    """

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.places: Mapping[str, int] = {}
        self.mine, self.theirs = Index(), Index()
        self.lacking: set[str] = set()  # units of the other input that are not complete
        self.ended = False  # nothing of the other input changes any more
        self._recent: list[str] | None = None  # units of it that came since they were looked over

    @property
    def hashed(self) -> bool:
        """Whether values tell who meets whom; else every unit meets all."""
        return comparable(self.mine.kinds, self.theirs.kinds)

    def tells(self, values: Iterable[Values]) -> bool:
        """Whether they can be looked up among those of the other input."""
        return comparable(self.mine.kinds, self.theirs.kinds, *{one.kinds for one in values})

    def on_other(self, moved: Moved, asking: Asking) -> set[str] | None:
        """Take in what moved in the other input → the driven units that it concerns; None: all."""
        touched = [self.theirs.drop(unit) for unit in moved.leaving(self.theirs.units)]
        if moved.asked is not None:
            found = _values(moved.asked, self.probe.unit, self.probe.there, asking)
            self._note_lacking(moved.asked)
            for unit, values in zip(moved.asked.keys, found, strict=True):
                touched += [self.theirs.put(unit, values), values]
            if self._recent is not None:
                self._recent += moved.asked.keys
        moves = moved.reordered and self._reordered(moved.places)
        self.places = moved.places
        if moves or any(one.kinds for one in touched if not comparable(one.kinds)):
            return None
        return self.mine.having(key for one in touched for key in one.keys)

    def _note_lacking(self, minis: Minis) -> None:
        lacks = [False] * len(minis) if minis.missing is None else minis.missing.units.tolist()
        for unit, lacking in zip(minis.keys, lacks, strict=True):
            (self.lacking.add if lacking else self.lacking.discard)(unit)

    def _reordered(self, places: Mapping[str, int]) -> bool:
        """Whether units that were there stand in another order."""
        stay = [key for key in self.theirs.units if key in places and key in self.places]
        before = sorted(stay, key=self.places.__getitem__)
        now = [places[key] for key in before]
        return any(a > b for a, b in itertools.pairwise(now))

    def meeting(self, values: Values) -> list[str]:
        """The units of the other input that have one of the values, in order."""
        found = self.theirs.having(values.keys) - self.lacking
        return sorted(found, key=self.places.__getitem__)

    def finish(self) -> None:
        """The other input has ended: no driven unit has to be found by its values again."""
        if not self.ended:
            self.ended = True
            self.mine.clear()

    def unmet(self) -> list[str]:
        """The units of the other input that meet no driven one, among those not looked over yet."""
        if not self.hashed or self.ended:
            return []
        units = self.theirs.units if self._recent is None else self._recent
        known, mine = self.theirs.units, self.mine.keys
        found = [
            unit
            for unit in units
            if unit in known and not any(key in mine for key in known[unit].keys)
        ]
        self._recent = []
        return found

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return self.mine.state_bytes + self.theirs.state_bytes


class Joining:
    """The probes of a part, those that later ones depend on first."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.sides = list(map(Side, part.probes))
        self.gave_up = False  # values came that cannot be told apart by hashing: ask all again
        self._fetch: Fetch = lambda keys, name: []
        self._all: All | None = None

    def on_others(
        self, moves: Mapping[str | None, list[Moved]], fetch: Fetch, everything: All, asking: Asking
    ) -> set[str] | None:
        """Take in what moved in other inputs → the driven units to ask again; None: all."""
        self._fetch, self._all, self.gave_up = fetch, everything, False
        found: set[str] | None = set()
        for side in self.sides:
            was = side.hashed
            for moved in moves.get(side.probe.input, ()):
                met = side.on_other(moved, asking)
                found = None if met is None or found is None else found | met
            if (was and not side.hashed) or (moves.get(side.probe.input) and not side.hashed):
                found = None
        return found

    def leave(self, moved: Moved) -> None:
        """Driven units that are gone."""
        for side in self.sides:
            for unit in moved.leaving(side.mine.units):
                side.mine.drop(unit)

    def frame(self, frame: Frame, minis: Minis) -> Frame:
        """The rows of driven units with the documents of the units that each meets.

        A frame has a row for each unit, or one row for all of them together.
        """
        own = dict(frame.values)
        shared: dict[Key, Value] = {}
        for side in self.sides:
            values = self._here(side, frame, minis)
            if side.tells(values):
                own[side.probe.document.number] = self._met(side, values, frame.context.store)
            else:
                shared[side.probe.document.number] = self._everyone(side, frame.context.store)
            frame = _rows(frame, own, shared)
        return frame

    def _here(self, side: Side, frame: Frame, minis: Minis) -> list[Values]:
        """The values of each row; those of units are noted."""
        try:
            column = atomize(frame.context.store, listed(side.probe.here, frame))
            values = values_of(column)
        except Error:
            values = [UNKNOWN] * frame.n
        if frame.n == len(minis) and not side.ended:
            was = side.hashed
            for unit, one in zip(minis.keys, values, strict=True):
                side.mine.put(unit, one)
            self.gave_up = self.gave_up or (was and not side.hashed)
        return values

    def _met(self, side: Side, values: list[Values], store: Store) -> Column:
        """Of each row, the documents of the units that it meets."""
        meeting = [side.meeting(one) for one in values]
        wanted = {unit for units in meeting for unit in units}
        order = sorted(wanted, key=side.places.__getitem__)
        handles: dict[str, int] = {}
        for moved in self._fetch(order, side.probe.input) if order else ():
            if moved.asked is not None:
                handles |= _added(moved.asked, store)
        rows = [[handles[unit] for unit in units if unit in handles] for units in meeting]
        nodes = np.array([handle for row in rows for handle in row], np.int64)
        return Column.from_lengths(Items.of_nodes(nodes), np.array([*map(len, rows)], np.int64))

    def _everyone(self, side: Side, store: Store) -> Column:
        """The documents of all units of the other input."""
        assert self._all is not None
        asked = self._all(side.probe.input).asked
        handles = {} if asked is None else _added(asked, store)
        nodes = [handle for unit, handle in handles.items() if unit not in side.lacking]
        items = Items.of_nodes(np.array(nodes, np.int64))
        return Column(items, np.array([0, len(items)], np.int64))

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return sum(side.state_bytes for side in self.sides)


def _values(minis: Minis, document: p.Variable, plan: p.Expression, asking: Asking) -> list[Values]:
    """The values of each unit; where one fails, those of the others are found all the same."""
    try:
        frame = asking.units(minis, document)
        return values_of(atomize(frame.context.store, listed(plan, frame)))
    except Error:
        if len(minis) == 1:
            return [UNKNOWN]
        half = len(minis) // 2
        parts = (np.arange(half), np.arange(half, len(minis)))
        return [one for at in parts for one in _values(chosen(minis, at), document, plan, asking)]


def _added(minis: Minis, store: Store) -> dict[str, int]:
    """Units put into a store → the handles of their documents."""
    base = store.add(minis.tape) << 32
    return dict(zip(minis.keys, (base | minis.documents).tolist(), strict=True))


def _rows(frame: Frame, own: Mapping[Key, Value], shared: Mapping[Key, Value]) -> Frame:
    """The rows of a frame with values of their own and values that all share."""
    root = frame.context.root
    outer = Frame(frame.context, 1, root, None, shared) if shared else root
    return Frame(frame.context, frame.n, outer, np.zeros(frame.n, np.int64), own)
