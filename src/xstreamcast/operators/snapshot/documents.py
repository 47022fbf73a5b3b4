"""A document on its way in: what is open and unfinished of it, and the units that are kept."""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.operators.feeds.document import DocumentFeed, WholeDocument
from xstreamcast.operators.snapshot.arrow import NotNow, Unreadable, Unwritten
from xstreamcast.operators.units.kept import KeptUnits, _Part
from xstreamcast.operators.units.units import Minis
from xstreamcast.tape.reading.resumption import Resumption

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xstreamcast.operators.feeds.document import LevelCut
    from xstreamcast.operators.feeds.split import SplitFeed
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
    from xstreamcast.operators.watching.plans import DocumentReader
    from xstreamcast.tape.reading.pieces import PieceReading
    from xstreamcast.tape.reading.places import PlacedReading


def write_document(to: TableWriter, at: str, feed: DocumentReader) -> None:
    """What a feed needs to continue; Unwritten if it cannot be interrupted where it is."""
    to.facts[f"{at}.document"] = {"kind": type(feed).__name__, "units": feed.units}
    to.facts[f"{at}.document"]["ended"] = isinstance(feed, WholeDocument) and feed.ended
    match feed:
        case WholeDocument():
            _write_bytes(to, f"{at}.before", feed._before)
            _write_bytes(to, f"{at}.raw", bytes(feed._raw))
        case DocumentFeed():
            to.facts[f"{at}.pieces"] = {
                "count": feed._places.count, "counted": _cut_facts(feed.counted),
            }  # fmt: skip
            _write_reading(to, at, feed._reading)
        case _:
            to.facts[f"{at}.split"] = {
                "count": feed._places.count, "keeps": feed.keeps, "drops": feed.drops,
                "cut": _cut_facts(feed.cut),
            }  # fmt: skip
            _write_bytes(to, f"{at}.raw", bytes(feed.raw))
            _write_reading(to, at, feed._reading)
            _write_units(to, at, feed._kept)


def read_document(source: TableReader, at: str, feed: DocumentReader) -> None:
    """Restore a feed that has read nothing yet."""
    facts = source.facts[f"{at}.document"]
    if facts["kind"] != type(feed).__name__:
        raise Unreadable("a document is read in another way now")
    match feed:
        case WholeDocument():
            feed._before = _bytes(source, f"{at}.before")
            feed.feed(_bytes(source, f"{at}.raw"))
            feed.ended = facts["ended"]
        case DocumentFeed():
            more = source.facts[f"{at}.pieces"]
            feed._places.count = more["count"]
            feed.counted = _cut_from(more["counted"])
            if "reading" in source.facts[f"{at}.reading"]:
                feed._reading = feed.reading()
                _read_reading(source, at, feed._reading)
        case _:
            more = source.facts[f"{at}.split"]
            feed._places.count = more["count"]
            feed.keeps, feed.drops = more["keeps"], more["drops"]
            feed.raw = bytearray(_bytes(source, f"{at}.raw"))
            feed.cut = _cut_from(more["cut"])
            if "reading" in source.facts[f"{at}.reading"]:
                feed._reading = feed.reading()
                _read_reading(source, at, feed._reading)
            _read_units(source, at, feed._kept)
    feed.units = facts["units"]


def _cut_facts(cut: LevelCut) -> list[Any]:
    level, guards = cut
    return [level, [list(one) for one in guards]]


def _cut_from(facts: list[Any]) -> LevelCut:
    level, guards = facts
    return level, [(uri, local) for uri, local in guards]


def hold_units(source: TableReader, number: int, feed: SplitFeed) -> None:
    """Units are kept for as long as one of the rows that were read refers to them."""
    for (which, unit), name in source.unit_names.items():
        if which == number:
            feed._alive[unit] = weakref.ref(name, partial(_died, feed, unit))


def _died(feed: SplitFeed, unit: str, _: object) -> None:
    feed._dead.append(unit)


# -- what is open ---------------------------------------------------------------------------------


def _write_reading(to: TableWriter, at: str, reading: PieceReading | PlacedReading | None) -> None:
    facts: dict[str, Any] = {}
    if reading is not None:
        if not reading.begun:
            raise NotNow("a document has hardly begun")
        found = reading.resumption()
        if found is None:
            raise Unwritten(
                "a document is not in UTF-8, has a document type, or is not well-formed"
            )
        _write_bytes(to, f"{at}.open", found.tags)
        _write_bytes(to, f"{at}.rest", found.rest)
        facts = {"reading": [found.line, found.column, found.offset]}
    to.facts[f"{at}.reading"] = facts


def _read_reading(source: TableReader, at: str, reading: PieceReading | PlacedReading) -> None:
    place = source.facts[f"{at}.reading"]["reading"]
    tags, rest = _bytes(source, f"{at}.open"), _bytes(source, f"{at}.rest")
    reading.resume(Resumption(tags, rest, *place))


def _write_bytes(to: TableWriter, name: str, raw: bytes) -> None:
    to.arrays(name, {"byte": np.frombuffer(raw, np.uint8)})


def _bytes(source: TableReader, name: str) -> bytes:
    found: Mapping[str, Any] = source.arrays(name)
    return bytes(found["byte"].astype(np.uint8))


# -- units that are kept --------------------------------------------------------------------------


def _write_units(to: TableWriter, at: str, kept: KeptUnits) -> None:
    to.tapes(f"{at}.tapes", [part.minis.tape for part in kept._parts])
    counts = [len(part.numbers) for part in kept._parts]
    nothing = np.zeros(0, np.int64)
    to.arrays(f"{at}.parts", {"first": np.array(kept._firsts, np.int64), "count": counts})
    columns = {
        "number": np.concatenate([nothing, *(part.numbers for part in kept._parts)]),
        "document": np.concatenate([nothing, *(part.minis.documents for part in kept._parts)]),
    }
    dead = [number for part in kept._parts for number in sorted(part.dead)]
    to.arrays(f"{at}.units", columns)
    to.arrays(f"{at}.dead", {"number": np.array(dead, np.int64)})


def _read_units(source: TableReader, at: str, kept: KeptUnits) -> None:
    parts, units = source.arrays(f"{at}.parts"), source.arrays(f"{at}.units")
    dead = set(source.arrays(f"{at}.dead")["number"].tolist())
    begin = 0
    for tape, count in zip(source.tapes(f"{at}.tapes"), parts["count"].tolist(), strict=True):
        here = slice(begin, begin + count)
        numbers = units["number"][here]
        minis = Minis(tape, units["document"][here], tuple(map(str, numbers.tolist())))
        kept._parts.append(_Part(numbers, minis, dead & set(numbers.tolist())))
        begin += count
    kept._firsts = parts["first"].tolist()
