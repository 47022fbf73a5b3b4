"""A fragment stream of which only the tags and elements that the query can see are kept.

answers over what is kept  →  answers over all that arrived

A tag structure that grows, and payloads that break their structure's promise, may need what was
dropped: then it is an error, before anything wrong is emitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra.analysis.forgetting import SeenTags, kept, missed
from xstreamcast.algebra.analysis.guide import structured
from xstreamcast.errors import Error, error
from xstreamcast.history.thinning import Lost, content_hashes, thinned
from xstreamcast.model.instant import START
from xstreamcast.operators.feeds.conforming import Conforming
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.feeds.sifting import Sifting, sifted_tags
from xstreamcast.operators.units.mini_cache import MiniCache
from xstreamcast.operators.units.units import UnitDelta

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.algebra.program import Program
    from xstreamcast.circuit.inputs.sieve import Sieve
    from xstreamcast.history.history import History
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.operators.feeds.sharing import Shared
    from xstreamcast.operators.units.evaluating import EvaluationContext
    from xstreamcast.tape.layout import I64, Bools

from xstreamcast.operators.forgetting.compacting import CompactingFeed


class SelectingFeed(CompactingFeed):
    """Keeps the fragments of `kept.tags`; of `fixed` tags no second version will come."""

    def __init__(
        self, history: History, program: Program, strict: bool, fixed: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(history, strict)
        self._program, self._fixed = program, fixed
        self.dropped = 0
        self._sieve: tuple[Sieve, Callable[[], EvaluationContext]] | None = None
        self.kept: SeenTags = kept(program, history.name, history.structure)
        self._conforming = Conforming(self.kept, history)
        self._thin: Bools = np.zeros(0, np.bool_)  # by tag: payloads are kept in part
        self._seen: Bools = np.zeros((0, 0), np.bool_)
        self._wanted: Bools = self._by_tag()
        self._lost: Lost = set()  # children of payloads that were dropped
        self._dropped: dict[int, int] = {}  # by tag: the last valid time of what was dropped of it
        self._closed: dict[int, int] = {}  # of such tags as are kept now: nothing may come before
        self._other_units = False  # other tags are kept now: more holes may hold units
        self._gone: Bools = np.zeros(1024, np.bool_)  # by id: emitted, and dropped

    # -- arrival -----------------------------------------------------------------------------------

    def add(self, batch: FragmentBatch) -> bool:
        """Add what the query may see → whether there was anything new."""
        if len(batch) == 0:
            return False
        return self.add_alone(batch) if self.shared is None else self.shared.add(self, batch)

    def add_alone(self, batch: FragmentBatch) -> bool:
        """Add what the query, or another one that reads the same history, may see."""
        self._check(batch)
        self._check_late(batch)
        tags = self._wanted
        if self.shared is not None:
            tags = np.logical_or.reduce([feed._wanted for feed in self.shared.feeds])
        wanted = tags[batch.tsid] & ~self._known_gone(batch.id.astype(np.int64))
        if wanted.all():
            return self._taken_in(batch)
        self.dropped += int(np.count_nonzero(~wanted))
        for tag in np.unique(batch.tsid[~wanted]).tolist():
            newest = int(batch.valid[~wanted & (batch.tsid == tag)].max())
            self._dropped[tag] = max(newest, self._dropped.get(tag, START))
        self.history.arrived += int(np.count_nonzero(~wanted))
        self.history._reach_newest(batch)
        part = batch.some(wanted)
        return len(part) > 0 and self._taken_in(part)

    def _taken_in(self, batch: FragmentBatch) -> bool:
        """Add fragments; a tape is kept with all of its content until that is too much."""
        contents = None
        if self.shared is None and self._thin[batch.tsid].any():
            contents = content_hashes(batch, self.history._seed)
            batch = thinned(batch, self._thin, self._seen_names(), self._lost)
        new = self._entered(batch, contents)
        if self.shared is None and self._insides is None and self._is_heavy(batch):
            self._compact()
        return new

    def _known_gone(self, ids: I64) -> Bools:
        most = int(ids.max()) + 1
        if most > len(self._gone):
            self._gone = np.concatenate((self._gone, np.zeros(most, np.bool_)))
        found: Bools = self._gone[ids]
        return found

    def take(self) -> UnitDelta:
        """The units that have become dirty since the last time."""
        self._check_around()
        if self._other_units and self._by_version is not None:
            self._other_units = False
            self.cut_at(self.cut)
            return self.everything()
        return super().take()

    # -- what is kept ------------------------------------------------------------------------------

    @property
    def wanted(self) -> Bools:
        """By tag: whether its fragments are kept."""
        return self._wanted

    @property
    def current(self) -> frozenset[int]:
        """The tags of which no version is seen that has ended, nor anything below one."""
        if self.shared is not None:
            return frozenset()
        links = self.kept.guide.links
        return frozenset(
            tag for tag, back in self.kept.recent.items() if back == 0 and not links.get(tag)
        )

    @property
    def ends(self) -> bool:
        """Whether the query may read when versions end."""
        return self.kept.ends

    def _by_tag(self) -> Bools:
        structure = self.history.structure
        wanted = np.zeros(max(structure.tags, default=0) + 2, np.bool_)
        wanted[list(structure.tags if structure.open else self.kept.tags)] = True
        wanted[-1] = True  # holes and removals need not say their tag: it may be any
        self._thin = np.zeros_like(wanted)
        self._thin[list(self.kept.thin)] = True
        self._seen = np.zeros((len(wanted), 0), np.bool_)
        return wanted

    def _seen_names(self) -> Bools:
        """By tag and name: whether children of that name may be seen."""
        names = self.history.store.names
        if self._seen.shape[1] != len(names):
            self._seen = np.zeros((len(self._wanted), len(names)), np.bool_)
            for tag, inner in self.kept.thin.items():
                for uri, local in inner:
                    self._seen[tag] |= names.matching(local, uri)[: len(names)]
        return self._seen

    def _keep(self, found: SeenTags) -> None:
        """Keep this from now on."""
        before, seen, sifted = self._wanted, self.current, self._sifted
        self.kept = found
        for tag in [one for one in self._dropped if one in found.tags]:
            self._closed[tag] = self._dropped.pop(tag)
        self._conforming = self._conforming.grown(found, self.history)
        self._wanted = self._by_tag()
        self._other_units = self._other_units or not np.array_equal(before, self._wanted)
        self._other_units = self._other_units or bool(seen - self.current)  # what ended is seen
        self._other_units = self._other_units or sifted != self._sifted
        if self._by_version is not None:
            self._by_version.current, self._by_version.ends = self.current, self.ends

    @property
    def _sifted(self) -> frozenset[int]:
        """The tags of fragments that are sifted."""
        sifting = self.sifting
        return frozenset() if sifting is None else sifting.tags

    def sift(self, sieve: Sieve | None, asking: Callable[[], EvaluationContext]) -> None:
        """From the next cut on, no unit is made of what does not pass."""
        self._sieve = None if sieve is None else (sieve, asking)

    @property
    def sifting(self) -> Sifting | None:
        """What finds the fragments that can never count; None: all of them may."""
        if self._sieve is None or self._fixed or self.strict or self.cut is None:
            return None
        sieve, asking = self._sieve
        tags = sifted_tags(sieve, self.kept.guide, self.cut)
        return Sifting(sieve, tags, asking) if tags else None

    def _settle(self, keys: list[tuple[str, int]]) -> None:
        """Units are those that the query can see; those that are forgotten stay so."""
        root, h = self._root, self.history.holes
        assert root is not None
        tags = np.full(self._links.ids, -1, np.int64)
        tags[h["id"]] = h["tsid"]
        if self.history.attaches:
            f = self.history.fragments
            attached = f["within"] >= 0
            tags[f["id"][attached]] = f["tsid"][attached]
        codes = np.array([code for _, code in keys], np.int64)
        seen = self._wanted[tags[codes]] if len(codes) else np.zeros(0, np.bool_)
        if not seen.all():
            left = [key for key, one in zip(keys, seen.tolist(), strict=True) if one]
            self._root = replace(root, keys=left, spine_of=root.spine_of[seen])
        super()._settle(self._root.keys if self._root is not None else [])

    # -- other structures --------------------------------------------------------------------------

    def describe(self, structure: TagStructure) -> None:
        """The stream has sent another tag structure."""
        self.history.describe(structure)
        guide = structured(structure).joined(self.kept.guide)
        found = kept(self._program, self.history.name, structure, guide)
        if self._gone.any() or self._misses(found):
            raise self._needed("has another tag structure now")
        self._keep(found)

    def _check(self, batch: FragmentBatch) -> None:
        """Fragments that violate their structure must not need what was dropped because of it."""
        guide = self._conforming.broken(batch)
        if guide is None:
            return
        feeds = [self] if self.shared is None else self.shared.feeds
        for feed in feeds:
            feed._adapt(guide)

    def _adapt(self, guide: Guide) -> None:
        """The stream holds what this guide describes."""
        found = kept(self._program, self.history.name, self.history.structure, guide)
        if self._misses(found):
            raise self._needed("contains elements that its tag structure does not declare")
        self._keep(found)

    def _misses(self, found: SeenTags) -> bool:
        """Whether anything was dropped that is needed now."""
        if any(missed(self.kept, found, tag) for tag in self._dropped):
            return True
        names = self.history.store.names
        for tag, name in self._lost:
            needed = found.thin.get(tag, found.entries.get(tag))
            if tag in found.tags and (needed is None or names.qname(name)[:0:-1] in needed):
                return True
        return False

    def _check_late(self, batch: FragmentBatch) -> None:
        """Older versions were dropped: the end of a version before them would not be known."""
        for tag, valid in self._closed.items():
            if (batch.valid[batch.tsid == tag] <= valid).any():
                raise self._needed("holds a version before others that were dropped")

    def _check_around(self) -> None:
        """What could be a unit may be inside of a fragment around units: then those are units."""
        if self.cut is None or not self.cut.passed:
            return
        structure, inner = self.history.structure, self.kept.guide.inner
        known = {(structure[tag].uri, structure[tag].local) for tag in self.cut.spine_tags()}
        if any(inner.get(tag, frozenset()) - known for tag in self.cut.passed):
            raise Forbidden("a fragment around units holds what its structure does not declare")

    def _needed(self, what: str) -> Error:
        return error(
            "XSCF0015",
            f"{self.history.name} {what}, and the query needs data that was dropped",
            hint="send a complete tag structure before any fragment",
        )

    # -- sharing -----------------------------------------------------------------------------------

    def may_share(self) -> bool:
        """Whether it keeps whatever comes of its tags, and nothing has come yet."""
        forgets = self._fixed or self.kept.thin or (self.kept.recent and self._insides is None)
        all_tags = bool(self._wanted[list(self.history.structure.tags)].all())
        kept = self._insides is not None or all_tags
        return not forgets and kept and len(self.history) == 0 and self.history.arrived == 0

    def read_from(self, shared: Shared) -> None:
        """Read the history of others from now on."""
        self.shared, lead = shared, shared.lead
        self.history, self._links = lead.history, lead._links
        if self._insides is not None:
            self._insides.read_from(self.history, self._links)
        if self._by_version is not None:
            self.cut_at(self.cut)

    def _new_cache(self, units: int) -> MiniCache:
        """Units look the same to all that keep the same of them elsewhere."""
        if self.shared is None or self._insides is None:
            return super()._new_cache(units)
        kind = self._insides.tags, self.timed, self.strict, self._wanted.tobytes()
        return self.shared.cache(
            kind,
            (self._taken, units),
            lambda: MiniCache(self.history.store.names, self.history.name, units),
        )
