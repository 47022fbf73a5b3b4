"""A fragment stream on its way in: which units are dirty, and what they look like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra.cut import TagCut
from xstreamcast.history.view import view, written
from xstreamcast.operators.history_part import Places, history_part
from xstreamcast.operators.missing import Missing, hollow_names
from xstreamcast.operators.root import Root, root_of
from xstreamcast.operators.units import NOTHING, Minis, Moved
from xstreamcast.tape.join import joined
from xstreamcast.tape.wrap import wrapped

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.history.view import View
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.model.items import Items
    from xstreamcast.tape.layout import I32, I64, Tape
    from xstreamcast.tape.store import Store


class FragmentFeed:
    """Units are what stands in the holes of the root; a dirty fragment makes its units dirty."""

    def __init__(self, history: History, cut: TagCut | None, strict: bool = False) -> None:
        self.history, self.cut, self.strict = history, cut, strict
        self.timed = False  # somebody asks when units may change by themselves
        self._links = Places(history)
        self._root: Root | None = None
        self._dirty: set[int] = set()
        self._places: dict[str, int] = {}
        self._units: dict[int, list[str]] = {}  # the keys under which an id is a unit

    def add(self, batch: FragmentBatch) -> bool:
        """Take fragments in → whether they said anything new."""
        dirty = self.history.add(batch)
        self._dirty.update(dirty.tolist())
        return len(dirty) > 0

    def take(self) -> Moved:
        """The units that have become dirty since the last time."""
        dirty, self._dirty = np.array(sorted(self._dirty), np.int32), set()
        self._links.catch_up()
        if self.cut is None or len(dirty) == 0:
            return NOTHING
        return self._moved(dirty)

    def _moved(self, dirty: I32) -> Moved:
        # a unit may stand in a hole of another one, so that looking up goes on behind it
        met = self._links.above(dirty)
        root = self._root
        if root is None or root.concerns(set(dirty.tolist())) or self._is_root(dirty):
            return self._rooted(met)
        asked = [code for code in met if code in self._units]
        minis = self._minis(asked) if asked else None
        return Moved(minis, places=self._places, again=self._again)

    def _is_root(self, dirty: I32) -> bool:
        """Whether an id of the root's tag is among them: it may be a root of its own."""
        tags = self.history.fragments["tsid"]
        tag = self.history.structure.root
        return any(tags[place] == tag for code in dirty.tolist() for place in self._links.of(code))

    def _rooted(self, met: set[int], tell: bool = True) -> Moved:
        """The root is new, or was sent again: units may be new, gone or elsewhere."""
        assert self.cut is not None
        before, root = self._places, self._root
        self._root = root_of(self.history, self._links, self.cut)
        if self._root is None:
            self._places, self._units = {}, {}
            return Moved(None, tuple(before), reordered=True)
        keys = self._root.keys
        self._places = {key: place for place, (key, _) in enumerate(keys)}
        self._units = {}
        for key, code in keys:
            self._units.setdefault(code, []).append(key)
        if not tell:
            return NOTHING
        gone = tuple(key for key in before if key not in self._places)
        known = {key for key in self._places if root and self._stands_as_before(key, root, before)}
        asked = [c for c in self._units if c in met or not known.issuperset(self._units[c])]
        minis = self._minis(asked) if asked else None
        return Moved(minis, gone, self._places, reordered=True, again=self._again)

    def _stands_as_before(self, key: str, root: Root, before: dict[str, int]) -> bool:
        assert self._root is not None
        if key not in before:
            return False
        return self._root.same_around(root, self._places[key], before[key])

    def everything(self) -> Moved:
        """All units, to be asked again, whatever was known of them."""
        minis = self._minis(list(self._units)) if self._units else None
        return Moved(minis, places=self._places, reordered=True, complete=True, again=self._again)

    def cut_at(self, cut: TagCut | None) -> None:
        """Another cut holds from now on; `everything` tells the units."""
        self.cut, self._root, self._places, self._units = cut, None, {}, {}
        self._links.catch_up()
        self._dirty = set()
        if cut is not None:
            self._rooted(set(), tell=False)

    def again(self, keys: Sequence[str]) -> Moved:
        """Some units, to be asked again; those that are no longer there are left out."""
        known = [key for key in keys if key in self._places]
        minis = self._again(known) if known else None
        return Moved(minis, places=self._places, again=self._again)

    def _again(self, keys: Sequence[str]) -> Minis:
        assert self._root is not None
        codes = dict.fromkeys(self._root.keys[self._places[key]][1] for key in keys)
        return self._minis(list(codes), set(keys))

    # -- minis --------------------------------------------------------------------------------

    def _minis(self, codes: list[int], only: set[str] | None = None) -> Minis:
        """The units of some ids, each below the start tags around its hole."""
        assert self._root is not None
        part = history_part(self.history, self._links, codes)
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
        missing = None
        if self.strict:
            at = np.array([unit for _, _, unit in wanted], np.int64)
            missing = self._missing(part, made, at, np.concatenate(shifts))
        instants = self._instants(made, [unit for _, _, unit in wanted], len(codes))
        return Minis(joined(parts), np.concatenate(documents), keys, missing, instants)

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
        from xstreamcast.model.items import Items

        if len(self.history) == 0:
            return Items.of_nodes(np.empty(0, np.int64))
        number = store.add(view(self.history))
        return Items.of_nodes(np.array([number << 32], np.int64))

    @property
    def state_bytes(self) -> int:
        """Bytes of index and payload."""
        report = self.history.report()
        return report.index_bytes + report.payload_bytes


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
