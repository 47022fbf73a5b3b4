"""A document given to tasks: ranges of its bytes, each a document below the tags open before it."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.batch.cuts import ByteBoundary, Unmatched, has_one_root, places
from xstreamcast.edges.batch.task import Question, answered, failing
from xstreamcast.operators.batch.around import OpenElements

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.cut import Guard
    from xstreamcast.operators.feeds.document import LevelCut

_HEAD: Final = 1 << 16
_ENCODING: Final = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_NAME: Final = re.compile(rb"<([^\s/>]+)")
_PLAIN: Final = frozenset({b"utf-8", b"us-ascii", b"ascii"})


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes of a document; what comes before them, the prolog and start tags; tags open behind."""

    begin: int
    end: int
    before: tuple[bytes, ...]
    behind: tuple[bytes, ...]


def ranges(
    path: str, cut: LevelCut, step: int, held: Sequence[Guard] = (), threads: int = 1
) -> list[ByteRange] | str:
    """The ranges of a document, about `step` bytes each; or why it has none."""
    size = os.path.getsize(path)
    data = np.memmap(path, np.uint8, "r") if size else np.zeros(0, np.uint8)
    head = data[:_HEAD].tobytes()
    declared = _ENCODING.match(head.removeprefix(b"\xef\xbb\xbf"))
    if head[:2] in (b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"\x00<", b"<\x00") or (
        declared is not None and declared[1].lower() not in _PLAIN
    ):
        return "the document is not in UTF-8"
    level, guards = cut
    try:
        found = places(data, level, step, guards, held, threads)
    except Unmatched:
        return "its tags do not match"  # reading all of it reports the place
    if not has_one_root(data, found):
        return "it has several roots"
    return _between(data, size, found)


def _between(data: Any, size: int, found: list[ByteBoundary]) -> list[ByteRange]:
    """The ranges between some places; each begins with what is before the root."""
    out = []
    begin, before = 0, tuple[bytes, ...]()
    prolog = data[: found[0].open[0]].tobytes() if found else b""
    for place in found:
        behind = tuple(_tag(data, at) for at in place.open)
        out.append(ByteRange(begin, place.at, before, behind))
        begin, before = place.at, (prolog, *behind)
    out.append(ByteRange(begin, size, before, ()))
    return out


def _tag(data: Any, at: int) -> bytes:
    """The start tag at a place."""
    end, quote = at + 1, 0
    while quote or data[end] != 62:
        byte = int(data[end])
        if byte in (34, 39):
            quote = 0 if quote == byte else quote or byte
        end += 1
    return bytes(data[at : end + 1].tobytes())


class RangesTask:
    """The query evaluated over ranges of a document, which every task reads by itself."""

    def __init__(self, question: Question, path: str, found: list[ByteRange]) -> None:
        self.question, self.path, self.ranges = question, path, found

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from failing(lambda place=place: self._range(place))  # type: ignore[misc]

    def _range(self, place: int) -> Iterator[Any]:
        one = self.ranges[place]
        open_ = OpenElements(
            max(len(one.before) - 1, 0), len(one.behind)
        )  # the prolog is no element
        yield from answered(self.question, place, _document(self.path, one), open_)


def _document(path: str, one: ByteRange) -> memoryview:
    """A range as a document, read in place in the file.

    Start tags that were open are written over the bytes before it, end tags over those behind it.
    Only this process sees what is written, and both were there once, so that there is room.
    """
    before = b"".join(one.before)
    after = b"".join(b"</" + _name(tag) + b">" for tag in reversed(one.behind))
    begin, end = one.begin - len(before), one.end + len(after)
    if begin == end:
        return memoryview(b"")
    with open(path, "rb") as file:
        if end > os.fstat(file.fileno()).st_size:  # tags that end otherwise than they begin
            file.seek(one.begin)
            return memoryview(before + file.read(one.end - one.begin) + after)
        first = begin - begin % mmap.ALLOCATIONGRANULARITY
        there = mmap.mmap(file.fileno(), end - first, access=mmap.ACCESS_COPY, offset=first)
    there[begin - first : one.begin - first] = before
    there[one.end - first : end - first] = after
    return memoryview(there)[begin - first :].toreadonly()


def _name(tag: bytes) -> bytes:
    found = _NAME.match(tag)
    assert found is not None
    return found[1]
