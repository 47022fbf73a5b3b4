"""What a tape of fragments says, in columns, before anything is judged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from xstreamcast.edges.wire.reading import Read
from xstreamcast.edges.wire.spots import Spot, UncountedSpot
from xstreamcast.edges.wire.words import ATTRIBUTES, Words
from xstreamcast.kernels.instants import ABSENT, CUT, NOT_ONE, UNSURE, ZONED, instants
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import parse_instant
from xstreamcast.tape.fragments.fragment_kernels import (
    NOT_A_NUMBER,
    ODD,
    Holes,
    UnitColumns,
    fragments,
)
from xstreamcast.tape.layout import I32, I64, U8, Tape
from xstreamcast.tape.node import Node

__all__ = ["ABSENT", "CUT", "NOT_ONE", "ZONED", "Scanned", "TakenRows", "decode_holes", "scan"]


@dataclass(frozen=True, slots=True, eq=False)
class TakenRows:
    """Units that were rows of a table: their numbers there, and where those were read."""

    number: I64
    position: I64
    raw: Callable[[int], bytes]  # a row as the wire would have it
    name: I64 | None = None  # what rows are known by elsewhere

    def part(self, first: int, last: int) -> TakenRows:
        """The rows from `first` to `last`."""
        name = None if self.name is None else self.name[first:last]
        return TakenRows(self.number[first:last], self.position[first:last], self.raw, name)


@dataclass(frozen=True, slots=True, eq=False)
class Scanned:
    """The units of a tape, whatever they are, and their holes."""

    tape: Tape
    base: int  # byte 0 of the heap on the wire
    begin: UncountedSpot  # of the first byte that the heap has from the wire
    units: UnitColumns
    id: I32
    valid: I64
    said: npt.NDArray[np.int8]  # of the valid time
    holes: Holes
    hole_id: I32
    within: I32  # the id of the parent that a unit names, -1 = none
    to: I64
    to_said: npt.NDArray[np.int8]
    message: I64  # the message time
    message_said: npt.NDArray[np.int8]
    rows: TakenRows | None = None  # where the units were rows of a table
    inside: I32 | None = None  # the id of the unit that a fragment names, -1 = none

    def __len__(self) -> int:
        return len(self.id)

    def part(self, first: int, last: int) -> Scanned:
        """The units from `first` to `last` with their holes."""
        if first == 0 and last == len(self):
            return self
        begin, end = np.searchsorted(self.holes.unit, [first, last]).tolist()
        holes = Holes._make(column[begin:end] for column in self.holes)
        return Scanned(
            self.tape,
            self.base,
            self.begin,
            UnitColumns._make(column[first:last] for column in self.units),
            self.id[first:last],
            self.valid[first:last],
            self.said[first:last],
            holes._replace(unit=holes.unit - np.int32(first)),
            self.hole_id[begin:end],
            self.within[first:last],
            self.to[first:last],
            self.to_said[first:last],
            self.message[first:last],
            self.message_said[first:last],
            None if self.rows is None else self.rows.part(first, last),
            None if self.inside is None else self.inside[first:last],
        )

    def offsets(self) -> I64:
        """Where units begin on the wire, or where they were read."""
        if self.rows is not None:
            return self.rows.position
        return self.base + self.tape.columns.start[self.units.row]

    def raw(self, unit: int) -> bytes:
        """A unit as it came."""
        if self.rows is not None:
            return self.rows.raw(int(self.rows.number[unit]))
        return self.tape.serialize(int(self.units.row[unit]))

    def spot(self, unit: int) -> Spot:
        """Where a unit begins on the wire."""
        if self.rows is not None:
            return Spot(int(self.rows.position[unit]), None, None)
        return self._at(self.base + int(self.tape.columns.start[self.units.row[unit]]))

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte of the wire."""
        found = self._at(offset)
        assert found.line is not None
        assert found.column is not None
        return found.line, found.column

    def _at(self, offset: int) -> Spot:
        first, end = self.begin.offset - self.base, offset - self.base
        return self.begin.spot().after(self.tape.columns.heap[first:end].tobytes())


def scan(read: Read, words: Words, ids: Ids) -> Scanned:
    """The columns of a tape of whole fragments."""
    tape = read.tape
    words.catch_up()
    c = tape.columns
    units, holes = fragments(c, words.elements, words.attributes)
    valid, said = _instants(c.heap, units.valid_start, units.valid_length)
    to, to_said = _instants(c.heap, units.to_start, units.to_length)
    message, message_said = _instants(c.heap, units.said_start, units.said_length)
    codes = ids.codes(c.heap, units.id_start, units.id_length)
    hole_codes = ids.codes(c.heap, holes.id_start, holes.id_length)
    within = ids.codes(c.heap, units.in_start, units.in_length)
    found = Scanned(
        tape, read.base, read.begin, units, codes, valid, said, holes, hole_codes,
        within, to, to_said, message, message_said,
        inside=_inside(c.heap, units, ids),
    )  # fmt: skip
    unsure = (said == UNSURE) | (to_said == UNSURE) | (message_said == UNSURE)
    for unit in np.flatnonzero((units.fault & ODD != 0) | unsure).tolist():
        _decode_unit(found, unit, ids)
    decode_holes(tape, holes, hole_codes, ids)
    return found


def _inside(heap: U8, units: UnitColumns, ids: Ids) -> I32 | None:
    """The units that fragments name, if any does."""
    if (units.unit_length < 0).all():
        return None
    return ids.codes(heap, units.unit_start, units.unit_length)


def decode_holes(tape: Tape, holes: Holes, codes: I32, ids: Ids) -> None:
    """Read the attributes of holes again, from their values, where those are not their bytes."""
    for hole in np.flatnonzero(holes.odd).tolist():
        known = _attributes(tape, int(holes.row[hole]))
        codes[hole] = ids.code(known["id"]) if "id" in known else -1
        holes.tsid[hole] = _number(known.get("tsid"))


def _instants(heap: U8, start: I64, length: I32) -> tuple[I64, npt.NDArray[np.int8]]:
    values, said = np.empty(len(start), np.int64), np.empty(len(start), np.int8)
    instants(heap, start, length, values, said)
    return values, said


def _decode_unit(found: Scanned, unit: int, ids: Ids) -> None:
    """Read the attributes of one unit again, from their values."""
    known = _attributes(found.tape, int(found.units.row[unit]))
    found.units.fault[unit] &= ~np.uint8(ODD)
    found.id[unit] = ids.code(known["id"]) if "id" in known else -1
    found.within[unit] = ids.code(known["in"]) if "in" in known else -1
    if found.inside is not None:
        found.inside[unit] = ids.code(known["unit"]) if "unit" in known else -1
    found.units.tsid[unit] = _number(known.get("tsid"))
    for name, values, said in (
        ("validtime", found.valid, found.said),
        ("validto", found.to, found.to_said),
        ("messagetime", found.message, found.message_said),
    ):
        if name in known:
            instant = parse_instant(known[name])
            values[unit] = instant[0] if instant else 0
            said[unit] = (ZONED if instant[1] else 0) if instant else NOT_ONE


def _attributes(tape: Tape, row: int) -> dict[str, str]:
    found = {}
    for attribute in Node(tape, row).attributes:
        local = attribute.name.rpartition(":")[2].lower()
        if local in ATTRIBUTES:
            found[local] = attribute.string
    return found


def _number(text: str | None) -> int:
    if text is None:
        return ABSENT
    short = text.strip()
    return int(short) if short.isascii() and short.isdigit() and len(short) < 10 else NOT_A_NUMBER
