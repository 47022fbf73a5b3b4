"""The fragments of one stream: arrivals in columns, their holes, and their versions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.history.attached import attached
from xstreamcast.history.circular import Containment
from xstreamcast.history.columns import NamedColumns
from xstreamcast.history.guides import observed
from xstreamcast.model.column import distinct
from xstreamcast.model.counted import counted
from xstreamcast.model.fragment import (
    KEPT_FLAGS,
    REPEATED,
    TEMPORARY,
    TIMELESS,
    FragmentBatch,
)
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import NOW, START
from xstreamcast.tape.fragments import chain_kernels as k
from xstreamcast.tape.fragments.instance_kernels import EVENT, SNAPSHOT, TEMPORAL, Carried
from xstreamcast.tape.fragments.payload_kernels import Payloads, Places, measure
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.tape.layout import I32, I64, U8, U64, Bools, Tape

WIRE: Final = b"urn:xstreamcast:stream"  # the namespace of the wire's own words
# Columns that not every batch has: the value for a missing entry, and the seed of their hash.
_UNSAID: Final = {"within": np.int32(-1), "to": np.int64(NOW), "version": np.int64(0)}
_MIXERS: Final = {
    "within": np.uint64(0x9E3779B97F4A7C15),
    "to": np.uint64(0xC2B2AE3D27D4EB4F),
    "version": np.uint64(0xBF58476D1CE4E5B9),
}
# Contents cannot be made to collide by who does not know it; one for all, as histories are many.
_SEED: Final = int.from_bytes(os.urandom(8), "big") >> 2
_NO_CLIPS: Final = np.zeros(0, np.int64)
_TYPES: Final = {"snapshot": SNAPSHOT, "temporal": TEMPORAL, "event": EVENT}


@dataclass(frozen=True, slots=True)
class Report:
    """How much a history holds."""

    arrived: int
    repeated: int
    fragments: int
    versions: int
    removals: int
    holes: int
    index_bytes: int
    payload_bytes: int

    def __str__(self) -> str:
        each = self.index_bytes / max(self.fragments, 1)
        return (
            f"{counted(self.fragments, 'fragment')} ({counted(self.versions, 'version')}, "
            f"{counted(self.removals, 'removal')}, {counted(self.holes, 'hole')}), "
            f"{self.repeated} repeated; "
            f"{self.payload_bytes} bytes of payload, {each:.0f} bytes of index each"
        )


class History:
    """What has arrived on a stream.

    add(a), add(b)  →  the same versions as add(b), add(a), but for two contents of one id and
    instant: there the later arrival counts. What is sent as a repeat changes nothing if it came
    before, a filler if it says what the last one of its id and instant said.
    """

    def __init__(
        self,
        name: str,
        structure: TagStructure,
        *,
        store: Store | None = None,
        ids: Ids | None = None,
    ) -> None:
        self.name, self.structure = name, structure
        self.store = Store() if store is None else store
        self.ids = ids
        self.text_codes: I64 | None = None  # the ids' codes in `ids`, if they differ
        self.fragments = NamedColumns(
            id=np.int32, valid=np.int64, hash=np.uint64, before=np.int32, tsid=np.int32,
            flags=np.uint8, tape=np.int32, payload=np.int32, rows=np.int32, nbytes=np.int32,
            shape=np.uint16, holes=np.int64, within=np.int32, to=np.int64, version=np.int64,
        )  # fmt: skip
        self.holes = NamedColumns(
            id=np.int32, tsid=np.int32, row=np.int32, before=np.int32, depth=np.uint16,
            beside=np.uint8, path=np.uint64,
        )  # fmt: skip
        self.arrived = self.repeated = self.removals = 0
        self.newest, self.zoned = START, False  # the current time of the clock, and its time zone
        self.latest = START  # the last instant at which anything begins or ends
        self.attaches = False  # some fragment names its parent
        self._slots: I32 = np.full(2048, -1, np.int32)
        self._tapes: dict[int, tuple[Tape, int]] = {}
        self._chains: dict[int, k.Chains] = {}
        self._said: set[tuple[int, int]] | None = None  # contents by id, computed on first use
        self._attached: tuple[I64, I32] | None = None
        self._containment = Containment()
        self._guide: tuple[tuple[int, TagStructure], Guide] | None = None
        self._seed = _SEED

    def __len__(self) -> int:
        return len(self.fragments)

    def __repr__(self) -> str:
        return f"<History of {self.name}: {self.report()}>"

    # -- arriving --------------------------------------------------------------------------------

    def describe(self, structure: TagStructure) -> None:
        """Store the tag structure that the stream sent, for the first time or again."""
        self.structure = structure

    def reach(self, instant: int) -> None:
        """Advance event time to this instant, although nothing arrived."""
        if instant > self.newest:
            self.newest, self.zoned = instant, False

    def add(
        self, batch: FragmentBatch, contents: U64 | None = None, *, unrepeated: bool = False
    ) -> I32:
        """Add fragments → the ids, as codes, whose versions changed.

        `contents`: hashes of what the payloads were before they were thinned. `unrepeated`: no id
        has another fragment, here or in what is added later. Every fragment moves the clock, a
        repetition too: it was said at its message time.
        """
        self.arrived += len(batch)
        if len(batch) == 0:
            return batch.id
        number = self._number(batch.tape)
        payloads, places = self._measured(batch, -1 if unrepeated else self._seed)
        if contents is not None:
            payloads = payloads._replace(hash=contents)
        fresh = self._enter(batch, payloads)
        kept = len(batch) if bool(fresh.all()) else int(np.count_nonzero(fresh))
        self.repeated += len(batch) - kept
        if kept:
            first = len(self)
            self._append(batch, payloads, places, fresh, number)
            self._containment.follow(self, first)
            self._chains.clear()
            self._attached = None
        self._reach_newest(batch)
        return distinct(batch.id[fresh])

    def _reach_newest(self, batch: FragmentBatch) -> None:
        clock = batch.clock
        at = len(clock) - 1 - int(np.argmax(clock[::-1]))
        if clock[at] >= self.newest:
            self.newest, self.zoned = int(clock[at]), batch.is_clock_zoned(at)

    def _number(self, tape: Tape) -> int:
        """The tape's number in the store; several batches may share one tape."""
        known = self._tapes.get(id(tape))
        if known is None or known[0] is not tape:  # a history that was pickled: ids are new
            known = self._tapes[id(tape)] = tape, self.store.add(tape)
        return known[1]

    def _measured(self, batch: FragmentBatch, seed: int) -> tuple[Payloads, Places]:
        n, m = len(batch), len(batch.hole_id)
        payloads = Payloads(
            np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.uint16),
            np.empty(n, np.uint64),
        )  # fmt: skip
        places = Places(
            np.empty(m, np.int32), np.empty(m, np.uint16), np.empty(m, np.uint8),
            np.empty(m, np.uint64),
        )  # fmt: skip
        names = batch.tape.names
        words = [names.word(WIRE), *bound_names(names), seed]
        measure(
            batch.tape.columns, names.tables, batch.payload, batch.hole_fragment, batch.hole_row,
            np.array(words, np.int64), payloads, places,
        )  # fmt: skip
        return payloads, places

    def _enter(self, batch: FragmentBatch, payloads: Payloads) -> Bools:
        """Which of the arrivals are no repetitions; their keys are kept at once."""
        fragments, n = self.fragments, len(batch)
        fragments.make_room(n)
        needed = 2 * (len(self) + n)
        if needed > len(self._slots):
            self._slots = np.full(1 << (2 * needed).bit_length(), -1, np.int32)
            k.refill(self._slots, self._keys(), len(self))
        fresh = np.empty(n, np.bool_)
        hashed = payloads.hash ^ batch.tsid.astype(np.uint64)
        hashed ^= (batch.flags & np.uint8(TEMPORARY)).astype(np.uint64) << np.uint64(40)
        for name, column in sorted(batch.optional(slice(None)).items()):
            if name != "said":
                said = column.astype(np.uint64) << np.uint64(1) | np.uint64(1)  # never 0
                mixed = (column != _UNSAID[name]) * said
                hashed ^= (mixed * _MIXERS[name]) ^ (mixed >> np.uint64(31))
        known = self._known_repeats(batch, hashed)
        if known.any():
            fresh[known] = False
            fresh[~known] = self._enter_some(batch, hashed, ~known)
            return fresh
        new = k.Keys(batch.id, batch.valid, hashed, batch.id)
        again = batch.flags & np.uint8(REPEATED) != 0
        k.enter(self._slots, self._keys(), len(self), new, again, fresh)
        return fresh

    def _enter_some(self, batch: FragmentBatch, hashed: U64, some: Bools) -> Bools:
        fresh = np.empty(int(np.count_nonzero(some)), np.bool_)
        again = batch.flags[some] & np.uint8(REPEATED) != 0
        new = k.Keys(batch.id[some], batch.valid[some], hashed[some], batch.id[some])
        k.enter(self._slots, self._keys(), len(self), new, again, fresh)
        return fresh

    def _known_repeats(self, batch: FragmentBatch, hashed: U64) -> Bools:
        """Which are repeats without a valid time that equal an earlier content of their id."""
        out = np.zeros(len(batch), np.bool_)
        timeless = batch.flags & np.uint8(REPEATED | TIMELESS) == REPEATED | TIMELESS
        if self._said is None and not timeless.any():
            return out
        if self._said is None:
            f = self.fragments
            self._said = set(zip(f["id"].tolist(), f["hash"].tolist(), strict=True))
        for i, one in enumerate(zip(batch.id.tolist(), hashed.tolist(), strict=True)):
            out[i] = timeless[i] and one in self._said
            self._said.add(one)
        return out

    def _keys(self) -> k.Keys:
        whole = self.fragments.whole
        return k.Keys(whole("id"), whole("valid"), whole("hash"), whole("before"))

    def _append(
        self, batch: FragmentBatch, p: Payloads, h: Places, fresh: Bools, number: int
    ) -> None:
        carried = fresh[batch.hole_fragment] if len(batch.hole_id) else np.zeros(0, np.bool_)
        counts = np.bincount(batch.hole_fragment[carried], minlength=len(batch))[fresh]
        payload = batch.payload[fresh]
        more = {name: np.full(len(payload), _UNSAID[name]) for name in _MIXERS}
        more |= batch.optional(fresh)
        more.pop("said", None)
        self._note(batch.valid[fresh], more)
        self.fragments.append(
            tsid=batch.tsid[fresh], flags=batch.flags[fresh] & np.uint8(KEPT_FLAGS),
            tape=np.full(len(payload), number, np.int32), payload=payload,
            rows=p.rows[fresh], nbytes=p.nbytes[fresh], shape=p.shape[fresh],
            holes=len(self.holes) + np.cumsum(counts), **more,
        )  # fmt: skip
        self.removals += int(np.count_nonzero(payload < 0))
        if carried.any():
            self.holes.append(
                id=batch.hole_id[carried], tsid=batch.hole_tsid[carried],
                row=batch.hole_row[carried], before=h.before[carried], depth=h.depth[carried],
                beside=h.beside[carried], path=h.path[carried],
            )  # fmt: skip

    def _note(self, valid: I64, more: Mapping[str, Any]) -> None:
        """When anything begins or ends, and whether it names its parent."""
        ends = more["to"][more["to"] != NOW]
        self.latest = max(self.latest, int(valid.max()), int(ends.max(initial=START)))
        self.attaches = self.attaches or bool((more["within"] >= 0).any())

    # -- querying ---------------------------------------------------------------------------------

    def chains(self, until: int = NOW) -> k.Chains:
        """The versions of every id whose valid time is not after `until`."""
        until = NOW if until >= self.latest else until
        known = self._chains.get(until)
        if known is None:
            f = self.fragments
            arrived = k.Arrived(f["id"], f["valid"], self.layers(), f["to"], f["version"])
            known = k.chained(arrived, self.codes, until, NOW)
            self._chains = {until: known, **dict(list(self._chains.items())[:7])}
        return known

    def layers(self, places: I64 | slice = slice(None)) -> U8:
        """The flags of fragments as chains read them: an event hides nothing.

        It counts at its instant, and nothing returns when it ends.
        """
        flags: U8 = self.fragments["flags"][places]
        if not (flags & np.uint8(TEMPORARY)).any():
            return flags
        event = self.types()[self.fragments["tsid"][places]] == EVENT
        return np.where(event, flags & ~np.uint8(TEMPORARY), flags)

    @property
    def codes(self) -> int:
        """The number of known ids, in fragments or in holes."""
        met = [int(part["id"].max(initial=-1)) for part in (self.fragments, self.holes)]
        return max(*met, int(self.fragments["within"].max(initial=-1))) + 1

    def clips(self) -> I64:
        """Begin, end and zones of what is around the roots; empty where nothing is."""
        return _NO_CLIPS

    def carried(self) -> Carried:
        """The columns of fragments that the kernel needs to follow holes."""
        f = self.fragments
        first = np.concatenate((np.zeros(1, np.int64), f["holes"]))
        if self._attached is None:
            self._attached = attached(self)
        return Carried(
            f["tsid"], f["payload"], first, self.holes["id"], f["id"], f["within"], *self._attached
        )

    def types(self) -> U8:
        """For each tag id: SNAPSHOT, TEMPORAL or EVENT."""
        found = np.zeros(max(self.structure.tags, default=0) + 2, np.uint8)
        for tsid, tag in self.structure.tags.items():
            found[tsid] = _TYPES[tag.type]
        return found

    def tagged(self, tags: frozenset[int]) -> Bools:
        """Which fragments are of these tags."""
        wanted = np.zeros(max(self.structure.tags, default=0) + 2, np.bool_)
        wanted[list(tags)] = True
        found: Bools = wanted[self.fragments["tsid"]]
        return found

    def roots(self, until: int = NOW) -> I32:
        """The ids of the root's tag that have no hole; their order does not depend on arrival."""
        f = self.fragments
        there = (f["tsid"] == self.structure.root) & (f["valid"] <= until)
        codes: I32 = distinct(f["id"][there]).astype(np.int32)
        codes = codes[~np.isin(codes, self.holes["id"])]
        if self.attaches:
            codes = codes[~np.isin(codes, f["id"][f["within"] >= 0])]
        if len(codes) < 2:
            return codes
        begin = [int(f["valid"][there & (f["id"] == code)].min()) for code in codes]
        text = (lambda code: "") if self.ids is None else self.ids.text
        order = sorted(range(len(codes)), key=lambda i: (begin[i], text(int(codes[i]))))
        ordered: I32 = codes[order]
        return ordered

    @property
    def circular(self) -> int:
        """How many ids contain themselves at some instant."""
        return self._containment.circular(self)

    @property
    def orphans(self) -> int:
        """The number of ids with content that have neither a hole nor a known parent."""
        f = self.fragments
        content = f["payload"] >= 0
        known = np.zeros(self.codes + 1, np.bool_)
        known[f["id"][content]] = True
        placed = np.zeros(self.codes + 1, np.bool_)
        placed[self.holes["id"]] = True
        placed[f["id"][f["tsid"] == self.structure.root]] = True
        named = f["within"] >= 0
        placed[f["id"][named][known[f["within"][named]]]] = True
        return int(np.count_nonzero(known & ~placed))

    def guide(self) -> Guide:
        """The guide of the stream; computed once for the fragments so far."""
        known = len(self), self.structure
        if self._guide is None or self._guide[0] != known:
            self._guide = known, observed(self)
        return self._guide[1]

    def report(self) -> Report:
        """Counts, and bytes of index and payload."""
        chains = self.chains()
        index = self.fragments.nbytes + self.holes.nbytes + self._slots.nbytes
        index += sum(part.nbytes for part in chains)
        index += self._containment.nbytes
        versions = int(np.count_nonzero(self.fragments["payload"][chains.place] >= 0))
        return Report(
            self.arrived, self.repeated, len(self), versions, self.removals,
            len(self.holes), index, int(self.fragments["nbytes"].sum(dtype=np.int64)),
        )  # fmt: skip


def bound_names(names: Any) -> tuple[int, int]:
    """The names of the attributes that carry a lifespan."""
    return names.intern("", "vtFrom", ""), names.intern("", "vtTo", "")


def forked(store: Store) -> Store:
    """A store with the same tapes to which an evaluation may add its own."""
    own = Store(store.names)
    for number in range(len(store._tapes)):
        own._tapes.append(store._tapes[number])
    return own


__all__ = ["History", "Report", "bound_names", "forked"]
