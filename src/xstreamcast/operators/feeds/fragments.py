"""A fragment stream on its way in: which units are dirty, and what they look like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra.analysis.cut import TagCut
from xstreamcast.history.view import view, written
from xstreamcast.model.column import distinct
from xstreamcast.model.instant import NOW, START
from xstreamcast.model.items import Items
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.feeds.holes import HoleFeed, as_long
from xstreamcast.operators.inner.inner import Unmaintained
from xstreamcast.operators.units.minis import wrapped_units
from xstreamcast.operators.units.parts import tops_of, unit_part
from xstreamcast.operators.units.spine_view import SPINE, SpineView
from xstreamcast.operators.units.units import NOTHING, Minis, UnitDelta
from xstreamcast.operators.units.versions import VersionUnits

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.model.sequence_type import NodeItem
    from xstreamcast.operators.feeds.sifting import Sifting
    from xstreamcast.tape.layout import U64, Bools
    from xstreamcast.tape.store import Store


def plans_ahead(batch: FragmentBatch, until: int) -> bool:
    """Whether a fragment begins or ends after an instant that the clock has come to."""
    given = [one for one in (batch.valid, batch.to) if one is not None]
    return any(bool(((one > until) & (one != NOW)).any()) for one in given)


class FragmentFeed(HoleFeed):
    """Fragments in, units that are dirty out: by hole and version, or by hole alone."""

    def __init__(self, history: History, cut: TagCut | None, strict: bool = False) -> None:
        super().__init__(history, cut, strict)
        self.versioned = False  # each version of a hole's content is a unit
        self.moves_clock = True  # what arrives does; False: only `reach` does
        self._by_version: VersionUnits | None = None
        self._spine: SpineView | None = None

    def add(self, batch: FragmentBatch) -> bool:
        """Add fragments → whether there was anything new in them."""
        return self._entered(batch)

    def _entered(self, batch: FragmentBatch, contents: U64 | None = None) -> bool:
        """The same; `contents`: hashes of payloads before they were thinned."""
        self._plan(batch)
        return len(self.history.add(batch, contents)) > 0

    def _plan(self, batch: FragmentBatch) -> None:
        """Remember when fragments begin or end that the clock has not come to."""
        until = self.until
        if self.moves_clock:
            until = max(until, int(batch.clock.max(initial=START)))
        for instants in (batch.valid, batch.to):
            if instants is not None:
                later = np.flatnonzero((instants > until) & (instants != NOW))
                for instant, code in zip(
                    instants[later].tolist(), batch.id[later].tolist(), strict=True
                ):
                    heappush(self._planned, (instant, code))

    @property
    def plans(self) -> bool:
        """Whether something begins or ends after what the clock has come to."""
        return bool(self._planned)

    def reach(self, now: int) -> bool:
        """The clock has come to an instant → whether anything that was planned has come too."""
        self.until, met = max(now, self.until), False
        while self._planned and self._planned[0][0] <= self.until:
            self._due.append(heappop(self._planned))
            met = True
        return met

    @property
    def wanted(self) -> Bools | None:
        """By tag: whether its fragments are kept; None: all are."""
        return None

    @property
    def current(self) -> frozenset[int]:
        """The tags of which no version is seen that has ended."""
        return frozenset()

    @property
    def sifting(self) -> Sifting | None:
        """What finds the fragments that can never count; None: all of them may."""
        return None

    @property
    def ends(self) -> bool:
        """Whether the query may read when versions end."""
        return True

    def take(self) -> UnitDelta:
        """The units that have become dirty since the last time."""
        first, last = self._news()
        due, self._due = self._due, []
        self._check_circles()
        if self._by_version is not None and self.cut is not None:
            return self._versions_taken(self._by_version, first, last, due)
        if self.cut is None or (first == last and self._insides is None and not due):
            return NOTHING
        new = self.history.fragments["id"][first:last]
        planned = np.array([code for _, code in due], new.dtype)
        ids = distinct(np.concatenate((new, planned))).astype(np.int64)
        if self._insides is not None and (self._planned or due):
            raise Unmaintained("states are planned")
        if len(ids) and (self._root is None or self._of_root[ids].any()):
            return self._rooted(first, last, self._links.above(ids))
        grows = self.history.attaches and first < last and self._root is not None
        if grows and not self._grow(first, last):
            return self._rooted(first, last, self._links.above(ids))
        return self._moved(first, last, ids)

    def _check_circles(self) -> None:
        """What contains itself is left out below itself: what is around a unit must be known."""
        if self.cut is None or not self.history.circular:
            return
        if self._insides is not None:
            raise Unmaintained("fragments contain themselves")
        if self.cut.passed:
            raise Forbidden("fragments contain themselves")

    def _news(self) -> tuple[int, int]:
        """The places of what has arrived since the last time."""
        self._links.catch_up()
        first, self._taken = self._taken, len(self.history)
        self._is_unit = as_long(self._is_unit, self._links.ids)
        self._of_root = as_long(self._of_root, self._links.ids)
        f = self.history.fragments
        rooted = f["tsid"][first:] == self.history.structure.root
        self._of_root[f["id"][first:][rooted]] = True
        if self._insides is not None:
            self._insides.catch_up()
        return first, self._taken

    def everything(self) -> UnitDelta:
        """All units, to be evaluated again, whatever was known of them."""
        if self._by_version is not None:
            minis = self._versions_made(self._by_version, self._by_version.units)
            return UnitDelta(
                minis, places=self._by_version.ranks, reordered=True, complete=True,
            )  # fmt: skip
        minis = self._minis(self._codes()) if self._units else None
        return UnitDelta(minis, places=self._places, reordered=True, complete=True)

    def cut_at(self, cut: TagCut | None) -> None:
        """Another cut holds from now on; `everything` gives the units."""
        self.cut, self._root, self._places, self._units = cut, None, {}, {}
        self._is_unit[:] = False
        self._by_version = None
        _, last = self._news()
        if cut is None:
            return
        if self.versioned and self._insides is None and self.mine is None:
            self._by_version = VersionUnits(
                self.history, self._links, cut, self.wanted, self.sifting
            )
            self._by_version.current, self._by_version.ends = self.current, self.ends
            self._by_version.until, self._by_version.now = self._horizon, self.until
            self._by_version.take(0, last, ())
            self._by_version.taken()
        else:
            self._rooted(last, last, np.empty(0, np.int64), emit=False)

    # -- versions ---------------------------------------------------------------------------------

    def _versions_taken(
        self, units: VersionUnits, first: int, last: int, due: Sequence[tuple[int, int]]
    ) -> UnitDelta:
        if first < last or due:
            units.until, units.now = self._horizon, self.until
            units.take(first, last, due)
        dirty, gone, moved = units.taken()
        minis = self._versions_made(units, dirty)
        return UnitDelta(minis, tuple(gone), units.ranks, reordered=moved)

    def _versions_made(self, units: VersionUnits, keys: Iterable[str]) -> Minis | None:
        """Some units, in the order of their ranks."""
        found = sorted((units.units[key] for key in keys), key=attrgetter("rank"))
        if not found:
            return None
        tags, at = units.tags_around(found), np.arange(len(found))
        part = unit_part(self.history, self._links, tops_of(found))
        view_ = written(part, self._horizon, document=False)
        starts = [i for i in at.tolist() if i == 0 or tags[i] is not tags[i - 1]]
        grouped = zip([tags[i] for i in starts], np.split(at, starts[1:]), strict=True)
        made, missing = wrapped_units(part, view_, grouped, at, self.timed, self.strict)
        names = tuple(one.key for one in found)
        return Minis(made.tape, made.documents, names, missing, made.instants)

    def again(self, keys: Sequence[str]) -> list[UnitDelta]:
        """Some units to evaluate again, and elements of the root; those that are no longer there
        are left out.
        """
        around = [key for key in keys if key.startswith(SPINE)]
        if not around:
            return [self._units_again(keys)]
        units, spine = [key for key in keys if not key.startswith(SPINE)], self.spine()
        found = [self._units_again(units)] if units else []
        return found if spine is None else [UnitDelta(spine.minis(around)), *found]

    def _units_again(self, keys: Sequence[str]) -> UnitDelta:
        units = self._by_version
        known = [key for key in keys if key in (self._places if units is None else units.units)]
        minis = self._again(known) if known else None
        places = self._places if units is None else units.ranks
        return UnitDelta(minis, places=places)

    def _again(self, keys: Sequence[str]) -> Minis:
        if self._by_version is None:
            return super()._again(keys)
        minis = self._versions_made(self._by_version, keys)
        assert minis is not None
        return minis

    @property
    def complete(self) -> bool:
        """Whether the root has come, and a fragment for every hole."""
        self._links.catch_up()
        return self._links.unfilled == 0 and len(self.history.roots()) > 0

    def has_root(self, test: NodeItem) -> bool:
        """Whether the root has come, and passes a test; the structure has its name."""
        root = self.history.structure[self.history.structure.root]
        if (test.uri is not None and test.uri != root.uri) or test.local not in (None, root.local):
            return False
        if self._by_version is not None:
            return self._by_version.root is not None
        return self._root is not None

    def spine(self) -> SpineView | None:
        """The elements of the current root; None if there is none."""
        if self._by_version is not None:
            return self._by_version.spine()
        root = self._root
        if root is None:
            self._spine = None
        elif self._spine is None or self._spine.tape is not root.tape:
            self._spine = SpineView(self.history, root.place, root.tape, self._row_around)
        return self._spine

    def _row_around(self, unit: str) -> int | None:
        assert self._root is not None
        at = self._at.get(unit)
        return None if at is None else self._root.rows[int(self._root.spine_of[at])]

    def whole(self, store: Store) -> Items:
        """The temporal view of the stream, in a store; empty while nothing has come."""
        number = store.add(view(self.history, self._horizon))
        return Items.of_nodes(np.array([number << 32], np.int64))

    @property
    def state_bytes(self) -> int:
        """Bytes of index and payload."""
        report = self.history.report()
        kept = 0 if self._insides is None else self._insides.state_bytes
        kept += 0 if self._cache is None else self._cache.state_bytes
        kept += 0 if self._verdicts is None else self._verdicts.state_bytes
        return report.index_bytes + report.payload_bytes + kept
