"""Units that are holes of the root, each with all of its versions: used where folds over the
contents of units are kept, and where units are partitioned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra.analysis.cut import TagCut
from xstreamcast.history.view import written
from xstreamcast.model.column import Column, distinct, ranges
from xstreamcast.model.instant import NOW, START
from xstreamcast.model.items import Items, objects
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.inner.bound import BoundRows
from xstreamcast.operators.inner.inner import InnerParts
from xstreamcast.operators.units.attached import AttachedUnits, Growing, OrderedUnits
from xstreamcast.operators.units.history_part import FragmentPlaces, part_of
from xstreamcast.operators.units.mini_cache import MiniCache, UnitDocuments
from xstreamcast.operators.units.minis import wrapped_units
from xstreamcast.operators.units.root import UnitRoot, root_of, unit_key
from xstreamcast.operators.units.units import NOTHING, Minis, UnitDelta
from xstreamcast.operators.units.verdicts import Verdicts

if TYPE_CHECKING:
    from xstreamcast.circuit.unit_folds.fold import Inner
    from xstreamcast.circuit.unit_folds.verdict import Verdict
    from xstreamcast.history.history import History
    from xstreamcast.operators.units.evaluating import EvaluationContext
    from xstreamcast.operators.units.missing import EmptyHoles
    from xstreamcast.tape.layout import I64, Bools


class HoleFeed:
    """Units are the contents of the root's holes; a dirty fragment makes its units dirty."""

    def __init__(self, history: History, cut: TagCut | None, strict: bool = False) -> None:
        self.history, self.cut, self.strict = history, cut, strict
        self.timed = False  # an operator needs the instants at which units change by themselves
        self.mine: Callable[[str], bool] | None = None  # by id: units that are evaluated here
        self._links = FragmentPlaces(history)
        self._insides: InnerParts | None = None
        self._verdict: Verdict | None = None
        self._verdicts: Verdicts | None = None
        self._root: UnitRoot | None = None
        self._taken = 0  # fragments that were reported
        self._places: dict[str, Any] = {}
        self._units: dict[int, list[str]] = {}  # the keys under which an id is a unit
        self._code_of: dict[str, int] = {}
        self._at: dict[str, int] = {}  # where a unit is in _keys; its place only sets its order
        self._keys = objects([])  # of units in order
        self._place_codes: I64 = np.zeros(0, np.int64)
        self._unit_codes: I64 = self._place_codes  # sorted, and the place of each
        self._unit_places: I64 = self._place_codes
        self._cache: MiniCache | None = None
        self._is_unit: Bools = np.zeros(1024, np.bool_)  # by id
        self._of_root: Bools = np.zeros(1024, np.bool_)  # by id: it has the root's tag
        self._attached: AttachedUnits | None = None
        self._index_of: I64 = np.full(0, -1, np.int64)  # by id: where an attached unit is in _keys
        self._grown: tuple[Growing, Growing, Growing] | None = None  # _keys, _place_codes, spines
        self.until = START  # what the clock has come to
        self._planned: list[tuple[int, int]] = []  # (instant, id): what begins or ends after it
        self._due: list[tuple[int, int]] = []

    @property
    def _horizon(self) -> int:
        """What is valid later is not seen yet."""
        return self.until if self._planned else NOW

    def _again(self, keys: Sequence[str]) -> Minis:
        assert self._root is not None
        codes = dict.fromkeys(self._code_of[key] for key in keys)
        return self._minis(np.array(list(codes), np.int64), set(keys))

    # -- units ----------------------------------------------------------------------------------

    def maintain(
        self,
        inners: Sequence[Inner],
        asking: Callable[[], EvaluationContext],
        verdict: Verdict | None = None,
    ) -> None:
        """From the next cut on, keep this of the contents of units, and judge units by it."""
        self._insides = InnerParts(self.history, self._links, inners, asking) if inners else None
        self._verdict, self._verdicts = verdict, None

    def _grow(self, first: int, last: int) -> bool:
        """Let in units that are attached to the root; False if there is no place for one."""
        assert self._root is not None
        f = self.history.fragments
        named = np.isin(f["within"][first:last], list(self._root.codes))
        ids = distinct(f["id"][first:last][named]).astype(np.int64)
        self._check_attached(np.arange(first, last))
        known = self._index_of[ids[ids < len(self._index_of)]]
        fresh = [*ids[: len(known)][known < 0].tolist(), *ids[len(known) :].tolist()]
        if not self._replace_attached(ids[: len(known)][known >= 0].tolist(), first):
            return False
        if not fresh:
            return True
        if self._attached is None or self._grown is None:
            return False
        if self._insides is not None or self._verdict is not None:
            return False  # what is kept by place is made again
        places = [self._attached.insert(self._attached.order_of(code)) for code in fresh]
        if None in places:
            return False
        names = [unit_key(self.history, code) for code in fresh]
        self._places |= {name: at for name, at in zip(names, places, strict=True) if at is not None}
        self._root.keys.extend(zip(names, fresh, strict=True))
        at, around = len(self._place_codes), len(self._root.tags) - 1
        self._keys = self._grown[0].append(objects(names))
        self._place_codes = self._grown[1].append(np.array(fresh, np.int64))
        spines = self._grown[2].append(np.full(len(fresh), around, np.int64))
        self._root = replace(self._root, spine_of=spines)
        for number, (name, code) in enumerate(zip(names, fresh, strict=True), start=at):
            self._code_of[name], self._at[name] = code, number
            self._note_attached(code, number)
        pairs = list(zip(names, fresh, strict=True))
        own = pairs if self.mine is None else self._own(pairs, self.mine)
        self._units |= {code: [name] for name, code in own}
        self._is_unit[[code for _, code in own]] = True
        return True

    def _replace_attached(self, codes: Sequence[int], first: int) -> bool:
        """Give events that turn out to begin earlier other places; False if there is none."""
        attached = self._attached
        for code in codes if attached is not None else ():
            assert attached is not None
            moved = attached.moved(code, first)
            if moved is None:
                continue
            if self._insides is not None or self._verdict is not None:
                return False  # what is kept by place is made again
            place = attached.move(*moved)
            if place is None:
                return False
            self._places[unit_key(self.history, code)] = place
        return True

    def _check_attached(self, places: I64) -> None:
        """Units are in one place: in a hole, or attached to the root by all their fragments."""
        assert self._root is not None
        f, ids = self.history.fragments, self.history.fragments["id"][places]
        rooted = np.isin(f["within"][places], list(self._root.codes))
        unit = self._is_unit[ids] & (f["payload"][places] >= 0)
        attached = np.zeros(len(ids), np.bool_)
        known = ids < len(self._index_of)
        attached[known] = self._index_of[ids[known]] >= 0
        held = self._links.holding(ids[rooted].astype(np.int64))[0]
        if (unit & attached & ~rooted).any() or (unit & ~attached & rooted).any() or len(held):
            raise Forbidden("a unit has several parents")

    def _note_attached(self, code: int, number: int) -> None:
        if code >= len(self._index_of):
            more = np.full(max(code + 1, 2 * len(self._index_of)) - len(self._index_of), -1)
            self._index_of = np.concatenate((self._index_of, more))
        self._index_of[code] = number

    def _moved(self, first: int, last: int, ids: I64) -> UnitDelta:
        # a unit may be in a hole of another one, so that the search does not end there
        if self._insides is None:
            met = self._links.above(ids)
            codes = met[self._is_unit[met]]
        else:
            codes, own = self._insides.dirty(first, last, self._is_unit)
            codes = self._unsettled(self._insides, codes, own)
        if len(codes) == 0:
            return NOTHING if first == last else UnitDelta(places=self._places)
        return UnitDelta(self._minis(codes), places=self._places)

    def _unsettled(self, insides: InnerParts, codes: I64, own: I64) -> I64:
        """Of the units in which something changed, those whose answer may; `own`: not by values."""
        fresh = self._places_of(own)
        if self._cache is not None:
            self._cache.drop(fresh, self._taken)
        if self._verdicts is None:
            return codes
        self._verdicts.forget(fresh)
        places = self._places_of(codes)
        known = self._verdicts.known(places)
        judged = places[known]
        if len(judged) == 0:
            return codes
        known[known] = insides.judged(self._verdicts, judged, self._place_codes[judged])
        return distinct(self._place_codes[places[~known]])

    def _rooted(self, first: int, last: int, met: I64, emit: bool = True) -> UnitDelta:
        """The root is new, or was sent again: units may be new, gone or elsewhere."""
        assert self.cut is not None
        before, root, was_at = self._places, self._root, self._at
        self._root = root_of(self.history, self._links, self.cut, self._horizon)
        self._units, self._places = {}, {}
        was, self._is_unit = self._is_unit, np.zeros_like(self._is_unit)
        if self._root is not None:
            self._settle(self._root.keys)
        if self._insides is not None:
            self._insides.refresh(np.flatnonzero(self._is_unit & ~was))
            met = np.concatenate((met, self._insides.dirty(first, last, self._is_unit)[0]))
        if self._root is None:
            return UnitDelta(None, tuple(before), reordered=True)
        if not emit:
            return NOTHING
        gone = tuple(key for key in before if key not in self._places)
        known = {key for key in self._places if root and self._is_where_it_was(key, root, was_at)}
        dirty = set(met.tolist())
        codes = [c for c in self._units if c in dirty or not known.issuperset(self._units[c])]
        minis = self._minis(np.array(codes, np.int64)) if codes else None
        return UnitDelta(minis, gone, self._places, reordered=True)

    def _settle(self, keys: list[tuple[str, int]]) -> None:
        """Which ids are units, and where."""
        self._at = {key: place for place, (key, _) in enumerate(keys)}
        self._code_of = dict(keys)
        # in a partition, what is attached has its place by value, behind all that is in holes
        alone = self.mine is None
        self._places = {key: at if alone else (0, at) for key, at in self._at.items()}
        if self.history.attaches:
            self._settle_attached(keys)
        own = keys if self.mine is None else self._own(keys, self.mine)
        for key, code in own:
            self._units.setdefault(code, []).append(key)
        self._keys = objects([key for key, _ in keys])
        self._place_codes = np.array([code for _, code in keys], np.int64)
        self._unit_places = np.argsort(self._place_codes, kind="stable")
        self._unit_codes = self._place_codes[self._unit_places]
        if self._attached is not None and self._root is not None:
            spines = Growing(self._root.spine_of)
            self._grown = Growing(self._keys), Growing(self._place_codes), spines
        self._is_unit[[code for _, code in own]] = True
        self._cache = self._new_cache(len(keys))
        self._verdicts = None if self._verdict is None else Verdicts(self._verdict, len(keys))

    def _settle_attached(self, keys: list[tuple[str, int]]) -> None:
        """Give the units that are attached to the root places far apart."""
        assert self._root is not None
        carried = self.history.carried()
        (root,) = self._root.codes
        firsts = carried.attached_first
        attached = (
            carried.attached[firsts[root] : firsts[root + 1]] if root + 1 < len(firsts) else ()
        )
        kids = dict.fromkeys(np.asarray(attached, np.int64).tolist())
        self._index_of = np.full(self._links.ids, -1, np.int64)
        mine = [(at, key, code) for at, (key, code) in enumerate(keys) if code in kids]
        kind = AttachedUnits if self.mine is None else OrderedUnits
        self._attached = kind(self.history, self._links, len(keys))
        orders = [self._attached.order_of(code) for _, _, code in mine]
        for (at, key, code), place in zip(mine, self._attached.extend(orders), strict=True):
            self._places[key] = place
            self._index_of[code] = at
        if len(set(kids)) < len(mine):
            raise Forbidden("a unit has several parents")
        every = self._links.all_of(np.array(list(kids), np.int64))
        f = self.history.fragments
        if ((f["within"][every] != root) & (f["payload"][every] >= 0)).any():
            raise Forbidden("a unit is attached to several parents")

    def _own(
        self, keys: list[tuple[str, int]], mine: Callable[[str], bool]
    ) -> list[tuple[str, int]]:
        """The units that are evaluated here; the others only have places."""
        ids = self.history.ids
        return [one for one in keys if mine(str(one[1]) if ids is None else ids.text(one[1]))]

    def _new_cache(self, units: int) -> MiniCache:
        return MiniCache(self.history.store.names, self.history.name, units)

    def _codes(self) -> I64:
        """The ids of all units."""
        return np.flatnonzero(self._is_unit)

    def _is_where_it_was(self, key: str, root: UnitRoot, before: dict[str, int]) -> bool:
        assert self._root is not None
        if key not in before:
            return False
        return self._root.same_around(root, self._at[key], before[key])

    def _minis(self, codes: I64, only: set[str] | None = None) -> Minis:
        """The units of some ids, each below the start tags around its hole."""
        places = self._places_of(codes)
        if only is not None:
            places = places[[key in only for key in self._keys[places].tolist()]]
        names = tuple(self._keys[places].tolist())
        if self._cache is None or self._insides is None:
            made, missing = self._made(places)
            return Minis(made.tape, made.documents, names, missing, made.instants)
        lacking = self._cache.lacks(places)
        if len(lacking):
            self._cache.put(lacking, self._made(lacking)[0], self._taken)
        made = self._cache.take(places)
        return Minis(
            made.tape, made.documents, names, instants=made.instants,
            kept=self._kept(self._insides, places, made),
        )  # fmt: skip

    def _places_of(self, codes: I64) -> I64:
        """The places of the units of some ids, in order."""
        first = np.searchsorted(self._unit_codes, codes, "left")
        counts = np.searchsorted(self._unit_codes, codes, "right") - first
        found = np.sort(self._unit_places[ranges(first, counts)])
        if self._attached is None:
            return found
        more = self._index_of[codes[codes < len(self._index_of)]]
        every = distinct(np.concatenate((found, more[more >= 0])))
        places = self._places
        order = [places[key] for key in self._keys[every].tolist()]
        return every[sorted(range(len(order)), key=order.__getitem__)]

    def _made(self, places: I64) -> tuple[UnitDocuments, EmptyHoles | None]:
        """The units at some places, which are ascending."""
        assert self._root is not None
        codes, at = np.unique(self._place_codes[places], return_inverse=True)
        barred = None if self._insides is None else self._insides.barred
        shown = self._links.below(self._links.all_of(codes), barred)
        part = part_of(self.history, self._links, shown, codes)
        made = written(part, self._horizon, document=False)
        grouped = self._root.by_spine(places, at)
        return wrapped_units(part, made, grouped, at, self.timed, self.strict)

    def _kept(self, insides: InnerParts, places: I64, made: UnitDocuments) -> BoundRows:
        """What is known of the elements of units."""
        counts = made.roots.counts
        rows = made.roots.values + np.repeat(made.documents, counts)
        roots = Column.from_lengths(Items.of_nodes(rows), counts)
        owner = np.repeat(np.arange(len(places)), counts)
        kept = insides.kept(self._place_codes[places], owner, made.begins, roots)
        return kept if self._verdicts is None else replace(kept, judged=(self._verdicts, places))


def as_long(column: Bools, needed: int) -> Bools:
    if needed <= len(column):
        return column
    return np.concatenate((column, np.zeros(needed - len(column), np.bool_)))
