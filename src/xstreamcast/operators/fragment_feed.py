"""A fragment stream on its way in: which units are dirty, and what they look like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra.cut import TagCut
from xstreamcast.history.view import view, written
from xstreamcast.model.column import Column, ranges
from xstreamcast.model.items import Items
from xstreamcast.operators.history_part import Places, part_of
from xstreamcast.operators.inner import Insides, Kept
from xstreamcast.operators.missing import Missing, hollow_names
from xstreamcast.operators.root import Root, root_of
from xstreamcast.operators.units import NOTHING, Minis, Moved
from xstreamcast.tape.join import joined
from xstreamcast.tape.wrap import wrapped

if TYPE_CHECKING:
    from xstreamcast.algebra.inner import Inner
    from xstreamcast.history.history import History
    from xstreamcast.history.view import View
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.operators.asking import Asking
    from xstreamcast.tape.layout import I32, I64, Bools, Tape
    from xstreamcast.tape.store import Store


class FragmentFeed:
    """Units are what stands in the holes of the root; a dirty fragment makes its units dirty."""

    def __init__(self, history: History, cut: TagCut | None, strict: bool = False) -> None:
        self.history, self.cut, self.strict = history, cut, strict
        self.timed = False  # somebody asks when units may change by themselves
        self._links = Places(history)
        self._insides: Insides | None = None
        self._root: Root | None = None
        self._taken = 0  # fragments that were told of
        self._places: dict[str, int] = {}
        self._units: dict[int, list[str]] = {}  # the keys under which an id is a unit
        self._is_unit: Bools = np.zeros(1024, np.bool_)  # by id
        self._of_root: Bools = np.zeros(1024, np.bool_)  # by id: it has the root's tag

    def add(self, batch: FragmentBatch) -> bool:
        """Take fragments in → whether they said anything new."""
        return len(self.history.add(batch)) > 0

    def maintain(self, inners: Sequence[Inner], asking: Callable[[], Asking]) -> None:
        """From the next cut on, keep this of what stands in units."""
        self._insides = Insides(self.history, self._links, inners, asking) if inners else None

    def take(self) -> Moved:
        """The units that have become dirty since the last time."""
        first, last = self._news()
        if self.cut is None or (first == last and self._insides is None):
            return NOTHING
        ids = np.unique(self.history.fragments["id"][first:last]).astype(np.int64)
        if len(ids) and (self._root is None or self._of_root[ids].any()):
            return self._rooted(first, last, self._links.above(ids))
        return self._moved(first, last, ids)

    def _news(self) -> tuple[int, int]:
        """The places of what has arrived since the last time."""
        self._links.catch_up()
        first, self._taken = self._taken, len(self.history)
        self._is_unit = _as_long(self._is_unit, self._links.ids)
        self._of_root = _as_long(self._of_root, self._links.ids)
        f = self.history.fragments
        rooted = f["tsid"][first:] == self.history.structure.root
        self._of_root[f["id"][first:][rooted]] = True
        if self._insides is not None:
            self._insides.catch_up()
        return first, self._taken

    def _moved(self, first: int, last: int, ids: I64) -> Moved:
        # a unit may stand in a hole of another one, so that looking up goes on behind it
        if self._insides is None:
            met = self._links.above(ids)
            asked = met[self._is_unit[met]]
        else:
            asked = self._insides.dirty(first, last, self._is_unit)
        if len(asked) == 0:
            return NOTHING if first == last else Moved(places=self._places, again=self._again)
        return Moved(self._minis(asked), places=self._places, again=self._again)

    def _rooted(self, first: int, last: int, met: I64, tell: bool = True) -> Moved:
        """The root is new, or was sent again: units may be new, gone or elsewhere."""
        assert self.cut is not None
        before, root = self._places, self._root
        self._root = root_of(self.history, self._links, self.cut)
        self._units, self._places = {}, {}
        was, self._is_unit = self._is_unit, np.zeros_like(self._is_unit)
        if self._root is not None:
            keys = self._root.keys
            self._places = {key: place for place, (key, _) in enumerate(keys)}
            for key, code in keys:
                self._units.setdefault(code, []).append(key)
            self._is_unit[list(self._units)] = True
        if self._insides is not None:
            self._insides.refresh(np.flatnonzero(self._is_unit & ~was))
            met = np.union1d(met, self._insides.dirty(first, last, self._is_unit))
        if self._root is None:
            return Moved(None, tuple(before), reordered=True)
        if not tell:
            return NOTHING
        gone = tuple(key for key in before if key not in self._places)
        known = {key for key in self._places if root and self._stands_as_before(key, root, before)}
        dirty = set(met.tolist())
        asked = [c for c in self._units if c in dirty or not known.issuperset(self._units[c])]
        minis = self._minis(np.array(asked, np.int64)) if asked else None
        return Moved(minis, gone, self._places, reordered=True, again=self._again)

    def _codes(self) -> I64:
        """The ids of all units."""
        return np.flatnonzero(self._is_unit)

    def _stands_as_before(self, key: str, root: Root, before: dict[str, int]) -> bool:
        assert self._root is not None
        if key not in before:
            return False
        return self._root.same_around(root, self._places[key], before[key])

    def everything(self) -> Moved:
        """All units, to be asked again, whatever was known of them."""
        minis = self._minis(self._codes()) if self._units else None
        return Moved(minis, places=self._places, reordered=True, complete=True, again=self._again)

    def cut_at(self, cut: TagCut | None) -> None:
        """Another cut holds from now on; `everything` tells the units."""
        self.cut, self._root, self._places, self._units = cut, None, {}, {}
        self._is_unit[:] = False
        _, last = self._news()
        if cut is not None:
            self._rooted(last, last, np.empty(0, np.int64), tell=False)

    def again(self, keys: Sequence[str]) -> Moved:
        """Some units, to be asked again; those that are no longer there are left out."""
        known = [key for key in keys if key in self._places]
        minis = self._again(known) if known else None
        return Moved(minis, places=self._places, again=self._again)

    def _again(self, keys: Sequence[str]) -> Minis:
        assert self._root is not None
        codes = dict.fromkeys(self._root.keys[self._places[key]][1] for key in keys)
        return self._minis(np.array(list(codes), np.int64), set(keys))

    # -- minis --------------------------------------------------------------------------------

    def _minis(self, asked: I64, only: set[str] | None = None) -> Minis:
        """The units of some ids, each below the start tags around its hole."""
        assert self._root is not None
        codes = asked.tolist()
        barred = None if self._insides is None else self._insides.barred
        shown = self._links.below(self._links.all_of(asked), barred)
        part = part_of(self.history, self._links, shown, asked)
        made = written(part, document=False)
        first, last = _extents(made.tape, made.instances.parent, made.instances.link, made.row,
                               len(codes))  # fmt: skip
        place = {code: i for i, code in enumerate(codes)}
        wanted = sorted(
            (self._places[key], key, place[code])
            for code in codes
            for key in self._units[code]
            if only is None or key in only
        )
        parts, documents, shifts, base = [], [], [], 0
        for spine, units in self._root.by_spine(wanted):
            at = np.array(units, np.int64)
            mini, begin = wrapped(spine, made.tape, first[at], last[at])
            documents.append(begin + base)
            shifts.append(begin + base + 1 + sum(map(len, spine)) - first[at])
            parts.append(mini)
            base += len(mini)
        keys = tuple(key for _, key, _ in wanted)
        at, shift = np.array([unit for _, _, unit in wanted], np.int64), np.concatenate(shifts)
        insides = self._insides
        return Minis(
            joined(parts), np.concatenate(documents), keys,
            missing=self._missing(part, made, at, shift) if self.strict else None,
            instants=self._instants(made, at.tolist(), len(codes)),
            kept=None if insides is None else self._kept(insides, asked, made, at, shift),
        )  # fmt: skip

    def _kept(self, insides: Insides, codes: I64, made: View, at: I64, shift: I64) -> Kept:
        """What is known of the elements of units; units in the order of the minis."""
        n = made.instances
        tops = np.flatnonzero(n.parent < 0)
        first = np.searchsorted(n.link[tops], at, "left")
        counts = np.searchsorted(n.link[tops], at, "right") - first
        mine = tops[ranges(first, counts)]
        rows = made.row[mine] + np.repeat(shift, counts)
        roots = Column.from_lengths(Items.of_nodes(rows), counts)
        return insides.kept(codes, n.link[mine].astype(np.int64), n.begin[mine], roots)

    def _instants(self, made: View, units: list[int], count: int) -> tuple[I64, ...]:
        """Of each unit, when anything in it begins or ends; nothing if nobody asks for it."""
        if not self.timed:
            return ()
        n = made.instances
        top = np.maximum.accumulate(np.where(n.parent < 0, np.arange(len(n.parent)), 0))
        bounds = np.searchsorted(n.link[top], np.arange(count + 1)) if len(top) else None
        out = []
        for unit in units:
            first, last = (0, 0) if bounds is None else bounds[unit : unit + 2].tolist()
            out.append(np.concatenate([n.begin[first:last], n.end[first:last]]))
        return tuple(out)

    def _missing(self, part: History, made: View, units: I64, shifts: I64) -> Missing:
        """Which payloads have holes that nothing has come for."""
        f, h, chains = part.fragments, part.holes, part.chains()
        empty = np.diff(chains.first)[h["id"]] == 0
        ends = f["holes"]
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(empty)))
        counts = np.diff(before[np.concatenate((np.zeros(1, np.int64), ends))])
        lacks = counts[made.instances.place] > 0
        top = np.maximum.accumulate(np.where(made.instances.parent < 0, np.arange(len(lacks)), 0))
        owner = made.instances.link[top]
        rows, flags, open_ = [], [], []
        for unit, shift in zip(units.tolist(), shifts.tolist(), strict=True):
            own = owner == unit
            rows.append(made.row[own] + shift)
            flags.append(lacks[own])
            open_.append(bool(lacks[own].any()))
        hollow = hollow_names(self.history.structure)
        return Missing(np.concatenate(rows), np.concatenate(flags), hollow, np.array(open_))

    @property
    def complete(self) -> bool:
        """Whether the root has come, and a fragment for every hole."""
        self._links.catch_up()
        return self._links.unfilled == 0 and len(self.history.roots()) > 0

    def whole(self, store: Store) -> Items:
        """The temporal view of the stream, in a store."""
        if len(self.history) == 0:
            return Items.of_nodes(np.empty(0, np.int64))
        number = store.add(view(self.history))
        return Items.of_nodes(np.array([number << 32], np.int64))

    @property
    def state_bytes(self) -> int:
        """Bytes of index and payload."""
        report = self.history.report()
        kept = 0 if self._insides is None else self._insides.state_bytes
        return report.index_bytes + report.payload_bytes + kept


def _as_long(column: Bools, needed: int) -> Bools:
    if needed <= len(column):
        return column
    return np.concatenate((column, np.zeros(needed - len(column), np.bool_)))


def _extents(tape: Tape, parent: I32, link: I32, row: I64, count: int) -> tuple[I64, I64]:
    """The rows of each root: its versions follow each other."""
    top = np.flatnonzero(parent < 0)
    sizes = tape.columns.size[row[top]].astype(np.int64) + 1
    first, last = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if len(top):
        owners = link[top]
        begins = np.searchsorted(owners, np.arange(count), "left")
        ends = np.searchsorted(owners, np.arange(count), "right")
        some = ends > begins
        first[some] = row[top][begins[some]]
        last[some] = (row[top] + sizes)[ends[some] - 1]
    return first, last
