"""Bytes of a wire to fragments in columns, and other messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from xstreamcast.edges.structures import structure_of
from xstreamcast.edges.wire import checking
from xstreamcast.edges.wire.checking import KnownTags, Reasons
from xstreamcast.edges.wire.numbers import TagNumbers
from xstreamcast.edges.wire.reading import Broken, Read, Stray, WireReading
from xstreamcast.edges.wire.scanned import ABSENT, CUT, NOT_ONE, Scanned, scan
from xstreamcast.edges.wire.spots import Spot
from xstreamcast.edges.wire.words import EOS, HOLE, MEANING, REMOVE, REPEAT, REPLACE, Words
from xstreamcast.errors import CODES, DataPlace, Error, error
from xstreamcast.kernels.intern import Ids
from xstreamcast.model import fragment as model
from xstreamcast.model.evolution import fragmented, merged
from xstreamcast.model.fragment import (
    Arrival,
    Ended,
    FragmentBatch,
    Heartbeat,
    NewStructure,
    Op,
    Refused,
)
from xstreamcast.model.instant import NOW, SECOND, START
from xstreamcast.model.structure import TagStructure
from xstreamcast.tape.layout import I32, U8
from xstreamcast.tape.names import Names

OnError = Literal["quarantine", "stop"]

_MOST_WAITING: Final = 10_000  # fragments with tags that the structure lacks
_WIDEST: Final = 40  # characters of a text that a message shows
_OPS: Final = np.zeros(16, np.uint8)
_OPS[REPLACE], _OPS[REMOVE] = Op.REPLACE, Op.REMOVE


@dataclass(slots=True)
class Counts:
    """What has passed a decoder."""

    read: int = 0  # fragments, refused ones included
    refused: int = 0
    structures: int = 0
    heartbeats: int = 0
    shortened: int = 0  # valid times finer than a microsecond


class Decoder:
    """One stream on its way in.

    Fragments that come before their tag structure are kept until it comes; so are those with tags
    that the structure lacks, because it may be sent again with more of them. What does not fit is
    refused: handed out as `Refused` and counted, or raised where `on_error` is "stop". `more` says
    that another input follows the one that is being read: an eos in it ends that one alone.
    """

    more: bool = False

    def __init__(
        self,
        name: str,
        structure: TagStructure | None = None,
        *,
        ids: Ids | None = None,
        names: Names | None = None,
        on_error: OnError = "quarantine",
        renumbers: bool = False,
    ) -> None:
        self.name, self.on_error = name, on_error
        self._numbers = TagNumbers(renumbers)
        self.ids = Ids() if ids is None else ids
        self.names = Names() if names is None else names
        self.structure = None if structure is None else self._numbers.structure(structure)
        self._said = structure  # with the ids that the stream uses
        self.counts = Counts()
        self.ended = False
        self._reading = WireReading(name, self.names)
        self._words = Words(self.names)
        self._known = None if structure is None else KnownTags.of(structure, self._words)
        self._waiting: list[tuple[Scanned, int, int]] = []
        self._early: Heartbeat | None = None  # the last one before the first structure

    @property
    def has_numbers(self) -> bool:
        """Whether tags have other numbers than the stream gives them."""
        return self._numbers.differ

    @property
    def has_waiting(self) -> bool:
        """Whether fragments wait for their structure."""
        return bool(self._waiting)

    def feed(self, chunk: bytes) -> list[Arrival]:
        """Read a chunk → what it completed, in order of arrival."""
        return list(self._arrivals(self._reading.feed(chunk)))

    def take(self, found: Scanned) -> list[Arrival]:
        """Add fragments that are in columns already → those that fit, and refusals."""
        self.counts.read += len(found)
        return list(self._run(found, 0, len(found)))

    def end_input(self) -> list[Arrival]:
        """End one input of the stream, a file of a folder say; the stream continues."""
        out = list(self._arrivals(self._reading.close()))
        self._reading = WireReading(self.name, self.names)
        self.ended = self.ended and not self.more
        return out

    def close(self) -> list[Arrival]:
        """End the stream → what was still waiting."""
        out = self.end_input()
        while self._waiting:
            out += self._give_up(*self._waiting.pop(0))
        return out

    def _give_up(self, found: Scanned, first: int, last: int) -> Iterator[Arrival]:
        """No structure has come that has the tags of these."""
        if self._known is None:
            why = np.full(last - first, checking.NO_STRUCTURE, np.uint8)
            return self._refusals(found, first, why)
        part = found.part(first, last)
        why = checking.reasons(part, self._known, self._words, self.ids)
        return self._refusals(part, 0, why)

    def _arrivals(self, parts: Iterator[Read | Broken | Stray]) -> Iterator[Arrival]:
        for part in parts:
            if isinstance(part, Broken):
                self.counts.read += 1
                yield self._refuse("XSCF0001", None, part.begin, part.reason, part.raw)
            elif isinstance(part, Stray):
                said = f"text must be inside a fragment; got {_shown(part.raw)}, which is left out"
                yield self._refuse("XSCF0016", None, part.begin, said, part.raw)
            else:
                yield from self._read(scan(part, self._words, self.ids))

    def _read(self, found: Scanned) -> Iterator[Arrival]:
        """Fragments in runs, cut where something else is said between them."""
        meant: U8 = found.units.word & np.uint8(MEANING)
        said = np.flatnonzero((meant >= EOS) & (meant != HOLE)).tolist()
        self._set_clock(found, meant)
        first = 0
        for unit in [*said, len(found)]:
            if unit > first:
                yield from self._run(found, first, unit)
            if unit < len(found):
                yield from self._say(found, unit, int(meant[unit]))
            first = unit + 1

    def _set_clock(self, found: Scanned, meant: U8) -> None:
        """The n-th fragment of the stream is of second n where it has no valid time."""
        counted = np.cumsum((meant < EOS) | (meant == HOLE)) + self.counts.read
        timeless = found.said == ABSENT
        found.valid[timeless] = counted[timeless] * SECOND
        self.counts.shortened += int(np.count_nonzero((found.said > 0) & (found.said & CUT != 0)))
        self.counts.read = int(counted[-1]) if len(counted) else self.counts.read

    def _say(self, found: Scanned, unit: int, meant: int) -> Iterator[Arrival]:
        match meant:
            case 6:
                yield from self._describe(found, unit)
            case 7 if found.said[unit] == ABSENT or found.said[unit] == NOT_ONE:
                yield from self._refusals(found, unit, np.array([checking.NO_TIME], np.uint8))
            case 7:
                self.counts.heartbeats += 1
                beat = Heartbeat(int(found.valid[unit]))
                if self._known is not None:
                    yield beat
                elif self._early is None or self._early.instant < beat.instant:
                    self._early = beat
            case _:
                if not self.ended and not self.more:
                    yield Ended()
                self.ended = True

    def _describe(self, found: Scanned, unit: int) -> Iterator[Arrival]:
        """A structure, at first or again."""
        self.counts.structures += 1
        row = int(found.units.row[unit])
        try:
            new = structure_of(found.tape, row)
            if self._reading.identifiers:
                new = replace(new, identifiers=new.identifiers | self._reading.identifiers)
            new = new if self._said is None else merged(self._said, new)
            described = None if new is self._said else self._set_structure(new)
        except Error as refused:
            raw = found.tape.serialize(row)
            yield self._refuse(refused.code, None, found.spot(unit), refused.message, raw)
            return
        if described is None:
            return
        yield described
        if self._early is not None:
            yield self._early
            self._early = None
        waiting, self._waiting = self._waiting, []
        for earlier in waiting:
            yield from self._run(*earlier)

    def _set_structure(self, structure: TagStructure) -> NewStructure:
        self.structure = self._numbers.structure(structure)
        self._said = structure
        self._known = KnownTags.of(structure, self._words)
        return NewStructure(self.structure)

    def _run(self, found: Scanned, first: int, last: int) -> Iterator[Arrival]:
        """Fragments from `first` to `last`, judged; or kept, where there is no structure yet."""
        if self._known is None:
            self._waiting.append((found, first, last))
            return
        part = found.part(first, last)
        if self._known.structure.open:
            yield from self._open(part, self._known)
        if self.ended:
            why = np.full(len(part), checking.ENDED, np.uint8)
        else:
            why = checking.reasons(part, self._known, self._words, self.ids)
        batch = _batch(part, why, self._numbers)
        if len(batch):
            yield batch
        if len(batch) < len(part):
            for unit in np.flatnonzero(checking.may_fit_later(part, self._known, why)).tolist():
                self._waiting.append((part, unit, unit + 1))
                why[unit] = checking.FITS
            yield from self._refusals(part, 0, why)
        while len(self._waiting) > _MOST_WAITING:
            yield from self._give_up(*self._waiting.pop(0))

    def _open(self, part: Scanned, known: KnownTags) -> Iterator[Arrival]:
        """Learn from the fragments which tags travel, where the structure does not say it."""
        met = np.unique(np.concatenate([part.units.tsid, part.holes.tsid])).tolist()
        structure = known.structure
        new = [tsid for tsid in met if tsid in structure and not structure.travels(tsid)]
        if new:
            yield self._set_structure(fragmented(structure, new))

    def _refusals(self, found: Scanned, first: int, why: Reasons) -> Iterator[Arrival]:
        for unit in np.flatnonzero(why).tolist():
            at, reason = first + unit, int(why[unit])
            code = int(found.id[at])
            name = None if code < 0 else self.ids.text(code)
            said = checking.sentence(found, at, reason, self._known, self.ids)
            raw = found.raw(at)
            yield self._refuse(f"XSCF{reason:04}", name, found.spot(at), said, raw)

    def _refuse(
        self, code: str, name: str | None, at: Spot, said: str | None, raw: bytes
    ) -> Refused:
        self.counts.refused += 1
        said = said or CODES[code][1]
        if self.on_error == "stop":
            raise error(code, said, at=DataPlace(self.name, name, at.offset, at.line, at.column))
        return Refused(self.name, name, at.offset, code, said, raw, at.line, at.column)


def _shown(raw: bytes) -> str:
    """Bytes as a message has them."""
    text = " ".join(raw.decode("utf-8", "replace").split())
    return repr(text if len(text) <= _WIDEST else text[:_WIDEST] + "…")


def _batch(part: Scanned, why: Reasons, numbers: TagNumbers) -> FragmentBatch:
    """The units that fit, in columns."""
    units, holes = part.units, part.holes
    meant = units.word & MEANING
    op = _OPS[meant]
    flags = np.where(part.said == ABSENT, model.TIMELESS, part.said & 1).astype(np.uint8)
    flags[meant == REPEAT] |= model.REPEATED
    flags[units.temporary & 1 != 0] |= model.TEMPORARY
    flags[units.temporary & 2 != 0] |= model.TIMELESS
    flags[(part.to_said >= 0) & (part.to_said & 1 != 0)] |= model.ENDS_ZONED
    apart = part.message_said & 1 != flags & model.ZONED
    flags[(part.message_said >= 0) & apart] |= model.SAID_APART
    more = _optional(part)
    if part.rows is not None and part.rows.name is not None:
        more["row"] = part.rows.name
    payload = np.where(op == Op.REMOVE, np.int32(-1), units.payload)
    offset = part.offsets()
    columns = (part.id, numbers.of(units.tsid), part.valid, flags, op, payload, offset)
    owners, hole_columns = holes.unit, (part.hole_id, numbers.of(holes.tsid), holes.row)
    if why.any():
        fits = why == checking.FITS
        place: I32 = (np.cumsum(fits) - 1).astype(np.int32)
        kept = fits[owners]
        columns = tuple(column[fits] for column in columns)
        hole_columns = tuple(column[kept] for column in hole_columns)
        owners = place[owners[kept]]
        more = {name: column[fits] for name, column in more.items()}
    shows = part.place if part.rows is None else None
    return FragmentBatch(part.tape, *columns, owners, *hole_columns, shows, **more)


def _optional(part: Scanned) -> dict[str, Any]:
    """The columns that not every batch has."""
    given = {
        "within": (part.within, part.within >= 0),
        "to": (np.where(part.to_said == ABSENT, NOW, part.to), part.to_said != ABSENT),
        "version": (np.maximum(part.units.version, 0), part.units.version > 0),
        "said": (
            np.where(part.message_said == ABSENT, START, part.message),
            part.message_said != ABSENT,
        ),
    }
    if part.inside is not None:
        given["unit"] = part.inside, part.inside >= 0
    return {name: column for name, (column, there) in given.items() if there.any()}
