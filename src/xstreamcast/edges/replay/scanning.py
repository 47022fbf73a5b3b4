"""Where fragments begin in a file, found by following markup alone; the odd is left to a survey."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Final

import numpy as np

from xstreamcast.edges.inputs import opened
from xstreamcast.edges.replay.survey import STEP, Mark, Survey
from xstreamcast.edges.wire.sync import opening
from xstreamcast.tape.reading.unit_places import (
    BEHIND,
    COUNT,
    LIMIT,
    MARKS,
    SAFE,
    SAID,
    STRANGE,
    UNIT,
)
from xstreamcast.tape.reading.unit_places import unit_places as follow

_HEAD: Final = 1 << 16


def _words(*words: bytes) -> tuple[Any, Any]:
    ends = np.cumsum([len(word) for word in words]).astype(np.int64)
    return np.frombuffer(b"".join(words), np.uint8), ends


_PREFIX, _HOLE = np.frombuffer(b"stream:", np.uint8), np.frombuffer(b"hole", np.uint8)
_BEAT: Final = np.frombuffer(b"stream:heartbeat ", np.uint8)
_PLAIN: Final = _words(b"filler", b"repeat", b"replace", b"remove")
_SAID: Final = _words(b"eos", b"structure", b"tagstructure", b"tagStructure", b"heartbeat")


@dataclass(slots=True)
class Scan:
    """What was found from a mark on: places to split at, where to stop, what is whole."""

    safe: Mark  # all before it is whole fragments
    marks: list[Mark] = field(default_factory=list)
    stop: Mark | None = None  # the limit is reached here
    strange: bool = False  # what comes behind `safe` must be looked at closely


def scanned(name: str, begin: Mark, limit: int | None, most: int) -> Scan:
    """Follow the fragments of a file up to so many, and not many more bytes than `most`."""
    with opened(name) as file:
        start = _opened(file, begin)
        if start is None:
            return Scan(begin, strange=True)
        size = most + STEP
        while True:
            file.seek(start.position)
            data = np.frombuffer(file.read(size), np.uint8)
            found = _followed(data, start, limit, most)
            if found.stop or found.strange or len(data) < size:
                break
            if found.safe.position > start.position:
                return replace(found, stop=found.safe)  # the next batch continues here
            size *= 2  # one fragment is longer than that
    return found if found.safe.position > start.position else replace(found, safe=begin)


def _opened(file: BinaryIO, begin: Mark) -> Mark | None:
    """The mark behind the root's start tag."""
    if begin.tag:
        return begin
    file.seek(begin.position)
    found = opening(file.read(_HEAD), final=False)
    if found is None or found.empty:
        return None
    return Mark(begin.position + found.begin, found.tag.decode(), begin.said)


def _followed(data: Any, start: Mark, limit: int | None, most: int) -> Scan:
    tag, said, at = start.tag, start.said, 0
    places, counts = (np.zeros(len(data) // STEP + 2, np.int64) for _ in range(2))
    totals, scan, last = np.zeros(5, np.int64), Scan(start), start
    while True:
        left = -1 if limit is None else max(limit - said.read, 0)
        why = follow(
            data.ctypes.data, len(data), at, left, most, STEP, _PREFIX, _HOLE, *_PLAIN, *_SAID,
            _BEAT, places, counts, totals,
        )  # fmt: skip
        for place, count in zip(places[: totals[MARKS]].tolist(), counts.tolist(), strict=False):
            before = replace(said, read=said.read + count)
            scan.marks.append(Mark(start.position + place, tag, before))
        said = replace(said, read=said.read + int(totals[COUNT]))
        if why != SAID:
            break
        unit, at = int(totals[UNIT]), int(totals[BEHIND])
        last = Mark(start.position + unit, tag, said)
        said = _heard(bytes(data[unit:at]), tag, said)
    safe = int(totals[SAFE])
    scan.safe = last if why == STRANGE and safe == at else Mark(start.position + safe, tag, said)
    if why == LIMIT:
        scan.stop = Mark(start.position + int(totals[UNIT]), tag, said)
    scan.strange = why == STRANGE
    return scan


def _heard(unit: bytes, tag: str, said: Any) -> Any:
    """What is known after something else than a fragment was said, perhaps."""
    survey = Survey(Mark(0, tag, said))
    for _ in survey.feed(unit):
        pass
    return survey.close()
