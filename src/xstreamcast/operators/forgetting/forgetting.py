"""A fragment stream of which only what can still count is kept.

Where nothing that is kept will be revised (immutable tags), a unit without unfilled holes is
dropped once it is emitted; so are versions that ended before any projection begins, and older
contents of what has no versions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.history.forgetting import held_bytes, superseded
from xstreamcast.model.column import ranges
from xstreamcast.model.fragment import TEMPORARY
from xstreamcast.operators.units.history_part import FragmentPlaces
from xstreamcast.operators.units.units import Minis, UnitDelta
from xstreamcast.tape.fragments.instance_kernels import EVENT

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.history.history import History
    from xstreamcast.operators.units.versions import VersionUnits
    from xstreamcast.tape.layout import I32, I64, Bools

from xstreamcast.operators.forgetting.selecting import SelectingFeed

_FEW: Final = 64  # fragments that must have come before the past is searched for
_EACH: Final = 400  # bytes of a unit's key: a string, a tuple, entries of two dictionaries


class ForgettingFeed(SelectingFeed):
    """Drops what was emitted and cannot change any more."""

    def __init__(
        self, history: History, program: Program, strict: bool, fixed: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(history, program, strict, fixed)
        self.settles = False  # whether no emitted unit is evaluated again
        self.lateness: int | None = None  # no fragment comes that is older than now by more
        self._evaluated: list[I64] = []
        self._first = 0  # all units before this place are emitted and dropped

    # -- units that are emitted --------------------------------------------------------------------

    def everything(self) -> UnitDelta:
        """All units that are not forgotten, to be evaluated again."""
        if self._by_version is not None or self._is_unit.any():
            return super().everything()
        return UnitDelta(places=self._places, reordered=True, complete=True)

    def _minis(self, codes: I64, only: set[str] | None = None) -> Minis:
        self._evaluated.append(codes)
        return super()._minis(codes, only)

    def _versions_made(self, units: VersionUnits, keys: Iterable[str]) -> Minis | None:
        keys = list(keys)
        if self._fixed:
            self._evaluated.append(units.codes(keys))
        return super()._versions_made(units, keys)

    def emitted(self, now: int) -> tuple[list[str], int]:
        """All evaluated units are emitted → keys of units that will not change, and the first place
        before which there is no other.
        """
        evaluated, self._evaluated = self._evaluated, []
        self._let_superseded_go()
        if self.shared is not None:
            return [], 0
        if self.kept.recent and self._insides is None:
            self._let_past_go(min(now, self.history.newest))
        if not self.settles or not evaluated or not self.kept.tags <= self._fixed:
            return [], 0
        if self.history.attaches:  # more may be attached to what is complete
            return [], 0
        codes = np.unique(np.concatenate(evaluated))
        if self._by_version is not None:
            return self._versions_emitted(self._by_version, self._complete(codes))
        codes = codes[self._is_unit[codes]]
        done = self._complete(codes)
        self._let_go(done)
        keys = [key for code in done.tolist() for key in self._units[code]]
        places = self._place_codes
        while self._first < len(places) and not self._is_unit[places[self._first]]:
            self._first += 1
        return keys, self._first

    def _versions_emitted(self, units: VersionUnits, done: I64) -> tuple[list[str], int]:
        keys = [key for code in done.tolist() for key in units.keys_of(code)]
        units.drop(done.tolist())
        self._let_go(done)
        return keys, units.first_rank()

    def _complete(self, codes: I64) -> I64:
        """The units without unfilled holes, no part of which is in another place as well."""
        links, f, h = self._links, self.history.fragments, self.history.holes
        codes = codes[_filled(links, codes)]
        shown = links.below(links.all_of(codes))
        holes = ranges(*links.carried(shown))
        child = h["id"][holes]
        open_ = self._wanted[h["tsid"][holes]] & ~_filled(links, child)
        open_ |= _shared(links, child)
        owners = np.unique(f["id"][links.owner(holes[open_])]).astype(np.int64)
        return np.setdiff1d(codes, links.above(owners))

    def _let_go(self, codes: I64) -> None:
        """Forget units; the root's own fragment goes as soon as it was read."""
        links, ids = self._links, self.history.fragments["id"]
        tops = np.union1d(links.below(links.all_of(codes)), links.all_of(self._root_codes()))
        if len(tops) == 0:
            return
        self._bury(tops)
        self._known_gone(ids[tops].astype(np.int64))
        self._gone[ids[tops]] = True
        self._is_unit[codes] = False
        self._compact_if_worth()

    def _root_codes(self) -> I64:
        if self._by_version is not None:
            root = self._by_version.root
            return np.array([] if root is None else [root.code], np.int64)
        assert self._root is not None
        return np.array(sorted(self._root.codes), np.int64)

    # -- versions that have ended ------------------------------------------------------------------

    def _let_past_go(self, now: int) -> None:
        """Forget what had ended before any projection begins; it is looked for now and then."""
        f, n = self.history.fragments, len(self.history)
        if n - self._looked < max(_FEW, n // 8):
            return
        self._looked = n
        back = np.full(len(self._wanted), -1, np.int64)
        back[list(self.kept.recent)] = list(self.kept.recent.values())
        hidden = np.zeros(self._links.ids, np.bool_)  # what is temporary gives back what it hides
        hidden[f["id"][f["flags"] & np.uint8(TEMPORARY) != 0]] = True
        tags = self._tags()
        places = np.flatnonzero((tags >= 0) & (back[tags] >= 0) & ~hidden[f["id"]])
        places = places[np.lexsort((f["valid"][places], f["id"][places]))]
        ids, valid = f["id"][places], f["valid"][places]
        begin = now - back[tags[places]]
        # a version ends where the next one begins or where it is removed, an event where it began
        later = np.append((ids[1:] == ids[:-1]) & (valid[1:] > valid[:-1]), False)
        past = later & (np.append(valid[1:], 0) <= begin)
        past |= (self.history.types()[tags[places]] == EVENT) & (valid < begin)
        over = np.concatenate((places[past], self._removals_without_effect(tags, now)))
        if len(over):
            self._bury(over)
            if self._by_version is not None:
                self._by_version.bury(places[past].tolist())
            self._compact_if_worth()

    def _removals_without_effect(self, tags: I32, now: int) -> I64:
        """Removals of what was forgotten, older than anything that may still come."""
        f = self.history.fragments
        if self.lateness is None or self.strict:
            return np.empty(0, np.int64)
        removals = np.flatnonzero((tags < 0) & (f["payload"] < 0))
        attached = self._links.in_no_hole(f["id"][removals].astype(np.int64))
        found: I64 = removals[attached & (f["valid"][removals] < now - self.lateness)]
        return found

    def _tags(self) -> I32:
        """The tag of each fragment; one that removes has that of what it removes, or -1."""
        f = self.history.fragments
        tags, known = f["tsid"][:], np.full(self._links.ids, -1, np.int32)
        said = tags >= 0
        known[f["id"][said]] = tags[said]
        found: I32 = np.where(said, tags, known[f["id"]])
        return found

    def _let_superseded_go(self) -> None:
        """Forget older contents of what has no versions: only the latest ever counts."""
        n, feeds = self._size, [self] if self.shared is None else self.shared.feeds
        if n - self._weighed < max(_FEW, n // 2) or any(feed._insides for feed in feeds):
            return
        self._weighed = n
        past = superseded(self.history, min(feed.until for feed in feeds))
        if len(past):
            self._bury(past)
            self._compact_if_worth()

    # -- codes of ids ------------------------------------------------------------------------------

    def mark(self, codes: Bools) -> bool:
        """Mark the ids of which anything is known → False if it may be any."""
        f, h, said = self.history.fragments, self.history.holes, self.history._said
        by_place = self._by_version is None and self.cut is not None
        if self._insides is not None or self.mine is not None or by_place:
            return False
        codes[f["id"]] = codes[h["id"]] = True
        codes[f["within"][f["within"] >= 0]] = True
        codes[[code for _, code in (*self._planned, *self._due)]] = True
        codes[[code for code, _ in said or ()]] = True
        codes[np.flatnonzero(self._gone)] = True
        self._conforming.mark(codes, self._dropped)
        if self._by_version is not None:
            self._by_version.mark(codes)
        return True

    def forget_codes(self, codes: I64) -> None:
        """Nothing is known of these ids, and others will have their codes."""
        for column in (self._of_root, self._is_unit):
            column[codes[codes < len(column)]] = False
        self._conforming.forget(codes)
        if self._by_version is not None:
            self._by_version.forget(codes)

    # -- what there is -----------------------------------------------------------------------------

    @property
    def complete(self) -> bool:
        """Whether the root has come, and a fragment for every hole that the query sees."""
        if self._gone.any():
            units = self._by_version
            return not (self._is_unit.any() if units is None else len(units.units))
        self._links.catch_up()
        h = self.history.holes
        child = h["id"][self._wanted[h["tsid"]]].astype(np.int64)
        return bool(_filled(self._links, child).all()) and len(self.history.roots()) > 0

    @property
    def payload_bytes(self) -> int:
        """Bytes of the tapes of payloads."""
        return held_bytes(self.history)[1]

    @property
    def state_bytes(self) -> int:
        """Bytes of index, payload and keys."""
        lent = self.shared is not None and self.shared.lead is not self
        index, payload = (0, 0) if lent else held_bytes(self.history)
        inside = 0 if self._insides is None else self._insides.state_bytes
        own = self._gone.nbytes + self._is_unit.nbytes + self._of_root.nbytes + self._dead.nbytes
        links = sum(p.nbytes for p in vars(self._links).values() if isinstance(p, np.ndarray))
        checks = 0 if lent else self._conforming.nbytes + links
        units = _EACH * len(self._places)
        units += 0 if self._by_version is None else self._by_version.state_bytes
        return index + payload + inside + own + checks + units


def _filled(links: FragmentPlaces, ids: I64) -> Bools:
    """Which ids have fragments."""
    found: Bools = links._last[ids] >= 0
    return found


def _shared(links: FragmentPlaces, ids: I64) -> Bools:
    """Which ids are in several holes."""
    hole = links._hole[ids]
    found: Bools = (hole >= 0) & (links._hole_before[hole] >= 0)
    return found
