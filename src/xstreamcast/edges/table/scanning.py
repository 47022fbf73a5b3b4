"""Rows of a stream onto a tape: payloads are read in place from Arrow's buffers.

scan_rows(rows) → the result of `scan` for the same fragments on a wire
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.table.schema import WORDS, arrow
from xstreamcast.edges.table.wire import wire
from xstreamcast.edges.wire.encoder import OPEN
from xstreamcast.edges.wire.reading import Read
from xstreamcast.edges.wire.scanned import ABSENT, ZONED, Scanned, TakenRows, decode_holes, scan
from xstreamcast.edges.wire.spots import Spot, UncountedSpot
from xstreamcast.edges.wire.words import FILLER, REMOVE, REPEAT, REPLACE
from xstreamcast.errors import Error
from xstreamcast.model.fragment import FragmentBatch
from xstreamcast.tape.fragments.fragment_kernels import FINE, UnitColumns, fragments
from xstreamcast.tape.layout import ELEMENT, I32, I64, KIND, U8, Tape
from xstreamcast.tape.limits import default_limits
from xstreamcast.tape.reading.units import UnitReading

if TYPE_CHECKING:
    from xstreamcast.edges.wire.decoder import Decoder
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.model.fragment import Arrival

_MEANT: Final = np.array([FILLER, REPLACE, REMOVE, REPEAT], np.uint8)  # in the order of WORDS
_NOTHING: Final = UncountedSpot(0, Spot(), b"")
_ANY: Final = b"<any/>"  # a batch of removals has a tape, too


class _Payloads(UnitReading):
    """Elements one after another; the prefix of holes is bound around them, not given to them."""

    def _bindings(self) -> list[tuple[int, int]]:
        return []


@dataclass(frozen=True, slots=True)
class Spans:
    """A column of text or bytes: a heap, and where each value is; a length of -1: there is none."""

    heap: U8
    start: I64
    length: I32

    @staticmethod
    def of(column: Any) -> Spans:
        pa = arrow()
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        _, offsets, data = array.buffers()
        if len(array) == 0 or offsets is None:
            return Spans(np.zeros(1, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int32))
        bounds = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
        length = np.diff(bounds)
        if array.null_count:
            length = np.where(array.is_null().to_numpy(zero_copy_only=False), np.int32(-1), length)
        heap = np.zeros(1, np.uint8) if data is None else np.frombuffer(data, np.uint8)
        return Spans(heap, bounds[:-1].astype(np.int64), length.astype(np.int32))

    def codes(self, ids: Ids) -> I32:
        return ids.codes(self.heap, self.start, self.length)


def taken_rows(rows: Any, decoder: Decoder, numbers: I64 | None = None) -> list[Arrival]:
    """Rows that are fragments, read by a decoder → those that fit, and refusals."""
    scanned = scan_rows(rows, decoder, numbers)
    if scanned is not None:
        return decoder.take(scanned)
    return [one for at in range(rows.num_rows) for one in _alone(rows, decoder, numbers, at)]


def _alone(rows: Any, decoder: Decoder, numbers: I64 | None, at: int) -> list[Arrival]:
    """One row; where it is not as we write them, what is wrong is said as on a wire."""
    row, number = rows.slice(at, 1), None if numbers is None else numbers[at : at + 1]
    scanned = scan_rows(row, decoder, number)
    if scanned is not None:
        return decoder.take(scanned)
    found = [*decoder.feed(b"".join(wire(row))), *decoder.end_input()]
    return [replace(one, row=number) if isinstance(one, FragmentBatch) else one for one in found]


def scan_rows(rows: Any, decoder: Decoder, numbers: I64 | None = None) -> Scanned | None:
    """Rows that are fragments, in columns; None where one is not as we write them.

    `numbers`: what the rows are known by, if not by their places here.
    """
    operation = arrow().compute.index_in(rows["operation"], arrow().array(WORDS))
    word = _MEANT[operation.to_numpy()]
    removes = word == REMOVE
    spans = Spans.of(rows["payload"])
    there = np.flatnonzero(~removes)
    if (spans.length[there] < 0).any():
        return None
    found = _forest(spans, there, decoder)
    if found is None:
        return None
    tape, tops = found
    words = decoder._words
    words.catch_up()
    _, holes = fragments(tape.columns, words.elements, words.attributes, True)
    payload = np.full(len(word), -1, np.int32)
    payload[there] = tops[: len(there)]
    more = _attributes(rows, decoder)
    if more is None:
        return None
    zoned = _filled(rows["zoned"], False).astype(np.int8) * np.int8(ZONED)
    timeless = _filled(rows["timeless"], False).astype(np.uint8) * np.uint8(2)
    units = _units(word, payload, _filled(rows["tag"], ABSENT).astype(np.int32), more, timeless)
    hole_id = decoder.ids.codes(tape.columns.heap, holes.id_start, holes.id_length)
    scanned = Scanned(
        tape, 0, _NOTHING, units, Spans.of(rows["id"]).codes(decoder.ids),
        _filled(rows["valid"], 0).astype(np.int64), zoned,
        holes._replace(unit=there[holes.unit].astype(np.int32)), hole_id,
        more.within, more.to, more.to_said, more.message, more.message_said,
        _taken(rows, numbers),
    )  # fmt: skip
    decode_holes(tape, holes, hole_id, decoder.ids)
    return scanned


def _filled(column: Any, value: Any) -> Any:
    """A column as an array, with a value where there is none."""
    return arrow().compute.fill_null(column, value).to_numpy()


def _taken(rows: Any, numbers: I64 | None) -> TakenRows:
    here = np.arange(rows.num_rows, dtype=np.int64)
    position = _filled(rows["position"], 0).astype(np.int64)
    shown = TakenRows(here, position, lambda at: b"".join(wire(rows.slice(at, 1))).rstrip(b"\n"))
    return shown if numbers is None else replace(shown, name=numbers)


def _forest(spans: Spans, there: I64, decoder: Decoder) -> tuple[Tape, I64] | None:
    """A tape of payloads, and the row of each; None if one of them is not an element alone."""
    if len(there) == 0:
        tape = _read(_ANY, decoder)
        assert tape is not None
        return tape, np.zeros(0, np.int64)
    first, length = spans.start[there], spans.length[there].astype(np.int64)
    low, high = int(first[0]), int(first[-1] + length[-1])
    if (first[1:] != (first + length)[:-1]).any():
        parts = zip(first.tolist(), length.tolist(), strict=True)
        data = b"".join(spans.heap[at : at + size].tobytes() for at, size in parts)
        first = np.cumsum(length) - length
        low = 0
    else:
        data = spans.heap[low:high].tobytes()
    tape = _read(data, decoder)
    if tape is None:
        return None
    c = tape.columns
    tops = np.flatnonzero(c.parent < 0)
    begin = first - low + len(OPEN)
    is_one = len(tops) == len(there) and bool(
        (c.start[tops] == begin).all()
        and (c.length[tops] == length).all()
        and (c.kind[tops] & KIND == ELEMENT).all()
    )
    return (tape, tops) if is_one else None


def _read(data: bytes, decoder: Decoder) -> Tape | None:
    reading = _Payloads(1, default_limits(), decoder.names, decoder.name)
    reading.feed(OPEN)
    try:
        tape = reading.feed(data)
        reading.feed(b" ")  # an error behind what was read
    except Error:
        return None
    return tape


@dataclass(frozen=True, slots=True)
class _More:
    """What not every fragment says."""

    within: I32
    to: I64
    to_said: Any
    message: I64
    message_said: Any
    version: I64
    temporary: U8


def _attributes(rows: Any, decoder: Decoder) -> _More | None:
    pa, n = arrow(), rows.num_rows
    said = rows["attributes"]
    absent = np.full(n, ABSENT, np.int8)
    more = _More(
        np.full(n, -1, np.int32), np.zeros(n, np.int64), absent, np.zeros(n, np.int64),
        absent.copy(), np.full(n, ABSENT, np.int64), np.zeros(n, np.uint8),
    )  # fmt: skip
    if said.null_count == n:
        return more
    at = np.flatnonzero(said.is_valid().to_numpy())
    tags = pa.compute.binary_join_element_wise("<stream:filler", said.drop_null(), "/>", "")
    tape = _read("".join(tags.to_pylist()).encode(), decoder)
    if tape is None or int((tape.columns.parent < 0).sum()) != len(at):
        return None
    found = scan(Read(tape, 0, _NOTHING), decoder._words, decoder.ids)
    more.within[at], more.to[at], more.to_said[at] = found.within, found.to, found.to_said
    more.message[at], more.message_said[at] = found.message, found.message_said
    more.version[at], more.temporary[at] = found.units.version, found.units.temporary
    return more


def _units(word: U8, payload: I32, tag: I32, more: _More, timeless: U8) -> UnitColumns:
    n = len(word)
    nowhere, nothing = np.zeros(n, np.int64), np.full(n, -1, np.int32)
    return UnitColumns(
        np.maximum(payload, 0), word, nowhere, nothing, nowhere, nothing, tag, payload,
        np.full(n, FINE, np.uint8), nowhere, nothing, nowhere, nothing, nowhere, nothing,
        more.version, more.temporary | timeless, nowhere, nothing,
    )  # fmt: skip
