"""A fragment stream of which only what can still count is kept.

answers over what is kept  →  answers over all that arrived

Fragments of tags that the query cannot see are dropped as they arrive. Where nothing that is kept
will be revised (immutable tags), a unit without unfilled holes is dropped once it is emitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra.analysis.forgetting import SeenTags, kept, missed
from xstreamcast.algebra.analysis.guide import structured
from xstreamcast.errors import Error, error
from xstreamcast.history.forgetting import forget, held_bytes, superseded, tape_bytes
from xstreamcast.history.thinning import Lost, content_hashes, thinned
from xstreamcast.kernels.instances import EVENT
from xstreamcast.model.column import distinct, ranges
from xstreamcast.model.fragment import TEMPORARY
from xstreamcast.model.instant import START
from xstreamcast.operators.feeds.conforming import Conforming
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.feeds.sifting import Sifting, sifted_tags
from xstreamcast.operators.units.history_part import FragmentPlaces
from xstreamcast.operators.units.mini_cache import MiniCache
from xstreamcast.operators.units.units import Minis, UnitDelta

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.algebra.program import Program
    from xstreamcast.circuit.inputs.sieve import Sieve
    from xstreamcast.history.history import History
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.operators.feeds.sharing import Shared
    from xstreamcast.operators.units.evaluating import EvaluationContext
    from xstreamcast.operators.units.versions import VersionUnits
    from xstreamcast.tape.layout import I32, I64, Bools

_FEW: Final = 64  # dead fragments that are not worth moving the others for
_SEVERAL: Final = 16  # small batches, before tapes are weighed
_SPARE: Final = 1 << 18  # bytes of tapes that are not worth cutting payloads out for
_ROW: Final = 27  # bytes of a node's columns
_EACH: Final = 400  # bytes of a unit's key: a string, a tuple, entries of two dictionaries


class ForgettingFeed(FragmentFeed):
    """Keeps the fragments of `kept.tags`; of `fixed` tags no second version will come."""

    def __init__(
        self, history: History, program: Program, strict: bool, fixed: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(history, None, strict)
        self._program, self._fixed = program, fixed
        self.settles = False  # whether no emitted unit is evaluated again
        self.shared: Shared | None = None  # others read the same history: nothing is forgotten
        self.lateness: int | None = None  # what is older than now by more does not come
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
        self._dead: Bools = np.zeros(0, np.bool_)  # by place
        self._evaluated: list[I64] = []
        self._looked = 0  # how many fragments there were when the past was looked for
        self._held = 0  # bytes of tapes when they were last weighed
        self._least = 0  # bytes of tapes when all that could go had gone
        self._weighed = 0  # the same for older contents
        self._first = 0  # all units before this place are emitted and dropped
        self._since = self._batches = 0  # bytes and batches since tapes were weighed

    # -- arrival ----------------------------------------------------------------------------------

    def add(self, batch: FragmentBatch) -> bool:
        """Take in what the query may see → whether it said anything new."""
        if len(batch) == 0:
            return False
        return self.add_alone(batch) if self.shared is None else self.shared.add(self, batch)

    def add_alone(self, batch: FragmentBatch) -> bool:
        """Take in what the query may see, or one of those that read the same history."""
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
        """Take fragments in; a tape stays with all that lies on it until that is too much."""
        contents = None
        if self.shared is None and self._thin[batch.tsid].any():
            contents = content_hashes(batch, self.history._seed)
            batch = thinned(batch, self._thin, self._seen_names(), self._lost)
        new = self._entered(batch, contents)
        if self.shared is None and self._insides is None and self._is_heavy(batch):
            self._compact()
        return new

    def _is_heavy(self, batch: FragmentBatch) -> bool:
        """Whether tapes hold too much that nobody needs; weighed when enough has come since."""
        self._since += tape_bytes(batch.tape)
        self._batches += 1
        few = max(_SEVERAL, len(self.history.store._tapes) // 16)
        if self._since <= max(_SPARE // 4, self._held // 16) and self._batches < few:
            return False
        self._since = self._batches = 0
        return self._waste() > _SPARE

    # -- sharing ----------------------------------------------------------------------------------

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
        """Whether somebody may see when versions end."""
        return self.kept.ends

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

    def _seen_names(self) -> Bools:
        """By tag and name: whether children of that name may be seen."""
        names = self.history.store.names
        if self._seen.shape[1] != len(names):
            self._seen = np.zeros((len(self._wanted), len(names)), np.bool_)
            for tag, inner in self.kept.thin.items():
                for uri, local in inner:
                    self._seen[tag] |= names.matching(local, uri)[: len(names)]
        return self._seen

    def _waste(self) -> int:
        """Bytes of tapes that no payload needs, beyond what is needed."""
        f, tapes = self.history.fragments, self.history.store._tapes
        live = slice(0, len(f)) if len(self._dead) == 0 else self._live()
        rows, text = f["rows"][live].sum(dtype=np.int64), f["nbytes"][live].sum(dtype=np.int64)
        held = self._held = sum(tape_bytes(tape) for tape in tapes if tape is not None)
        return held - 2 * max(int(_ROW * rows + text), self._least)

    def describe(self, structure: TagStructure) -> None:
        """The stream says another tag structure."""
        self.history.describe(structure)
        guide = structured(structure).joined(self.kept.guide)
        found = kept(self._program, self.history.name, structure, guide)
        if self._gone.any() or self._misses(found):
            raise self._needed("has another tag structure now")
        self._keep(found)

    def _keep(self, found: SeenTags) -> None:
        """From now on this is kept."""
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

    def take(self) -> UnitDelta:
        """The units that have become dirty since the last time."""
        self._check_around()
        if self._other_units and self._by_version is not None:
            self._other_units = False
            self.cut_at(self.cut)
            return self.everything()
        return super().take()

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

    def _check(self, batch: FragmentBatch) -> None:
        """The structure promised what is kept: what breaks the promise must not need the rest."""
        guide = self._conforming.broken(batch)
        if guide is None:
            return
        feeds = [self] if self.shared is None else self.shared.feeds
        for feed in feeds:
            feed._adapt(guide)

    def _check_late(self, batch: FragmentBatch) -> None:
        """Where older versions were dropped, nobody knows when one that comes before them ends."""
        for tag, valid in self._closed.items():
            if (batch.valid[batch.tsid == tag] <= valid).any():
                raise self._needed("holds a version before others that were dropped")

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

    def _by_tag(self) -> Bools:
        structure = self.history.structure
        wanted = np.zeros(max(structure.tags, default=0) + 2, np.bool_)
        wanted[list(structure.tags if structure.open else self.kept.tags)] = True
        wanted[-1] = True  # holes and removals need not say their tag: it may be any
        self._thin = np.zeros_like(wanted)
        self._thin[list(self.kept.thin)] = True
        self._seen = np.zeros((len(wanted), 0), np.bool_)
        return wanted

    def _known_gone(self, ids: I64) -> Bools:
        most = int(ids.max()) + 1
        if most > len(self._gone):
            self._gone = np.concatenate((self._gone, np.zeros(most, np.bool_)))
        found: Bools = self._gone[ids]
        return found

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

    # -- emitting ---------------------------------------------------------------------------------

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
        """The units without unfilled holes, of which no part stands elsewhere too."""
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

    @property
    def _size(self) -> int:
        """Fragments and holes."""
        return len(self.history) + len(self.history.holes)

    def _bury(self, places: I64) -> None:
        more = len(self.history) - len(self._dead)
        if more > 0:
            self._dead = np.concatenate((self._dead, np.zeros(more, np.bool_)))
        self._dead[places] = True

    def _compact_if_worth(self) -> None:
        dead = int(np.count_nonzero(self._dead))
        held = np.diff(self.history.fragments["holes"], prepend=0)[: len(self._dead)]
        empty, size = dead + int(held[self._dead].sum()), self._size
        # holes are copied too: where others hold many, more fragments must have gone
        worth = 2 * empty > size or (2 * dead > len(self.history) and 16 * dead > size)
        if (empty > _FEW and worth) or self._waste() > _SPARE:
            self._compact()

    def _root_codes(self) -> I64:
        if self._by_version is not None:
            root = self._by_version.root
            return np.array([] if root is None else [root.code], np.int64)
        assert self._root is not None
        return np.array(sorted(self._root.codes), np.int64)

    def _compact(self) -> None:
        live = self._live()
        place = np.where(live, np.cumsum(live) - 1, -1)
        moved = distinct(self.history.fragments["id"][place != np.arange(len(live))])
        forget(self.history, live)
        links = FragmentPlaces(self.history)
        links.catch_up()
        tapes = self.history.store._tapes
        self._least = sum(tape_bytes(tape) for tape in tapes if tape is not None)
        for feed in [self] if self.shared is None else self.shared.feeds:
            feed._relink(links, place, moved)

    def _relink(self, links: FragmentPlaces, place: I64, moved: I64) -> None:
        """Fragments are at other places: below 0 those that are gone; `moved` are their ids."""
        self._links, self._dead = links, np.zeros(0, np.bool_)
        if self._by_version is not None:
            self._by_version.compacted(links, place, moved.tolist())
        if self._attached is not None:
            self._attached.links = links
        self._taken = int((place[: self._taken] >= 0).sum())
        self._looked = min(self._looked, len(self.history))
        self._weighed = min(self._weighed, self._size)

    def _live(self) -> Bools:
        live = np.ones(len(self.history), np.bool_)
        live[: len(self._dead)] = ~self._dead
        return live

    # -- codes of ids -----------------------------------------------------------------------------

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
        """Bytes of the tapes that payloads lie on."""
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
    """Which ids stand in several holes."""
    hole = links._hole[ids]
    found: Bools = (hole >= 0) & (links._hole_before[hole] >= 0)
    return found
