"""Documents one after another, cut apart by expat and read by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.parsers import expat

from xstreamcast.errors import DataPlace, InputError
from xstreamcast.tape.expat.expat_errors import place
from xstreamcast.tape.expat.through_expat import columns_from_expat
from xstreamcast.tape.join import under_one_document
from xstreamcast.tape.layout import Tape
from xstreamcast.tape.limits import Limits
from xstreamcast.tape.names import Names

_JUNK_AFTER_ROOT, _MISPLACED_DECLARATION = 9, 17
_NOTHING_MORE = re.compile(rb"[ \t\r\n]*\Z")
_FIRST = 1 << 12  # bytes that expat sees at first


def authoritative(
    data: bytes | memoryview, several: bool, limits: Limits, names: Names, name: str | None
) -> Tape:
    """What expat makes of `data`: the tape, or the error."""
    if not several:
        return columns_from_expat(data, names=names, limits=limits, source=name)
    whole, read = bytes(data), []
    for begin, end in _documents(whole):
        try:
            part = whole[begin:end]
            read.append(columns_from_expat(part, names=names, limits=limits, source=name))
        except InputError as refused:
            raise _moved(refused, whole, begin) from None
    return under_one_document(read)


def _documents(data: bytes) -> Iterator[tuple[int, int]]:
    """Where documents begin and end: where expat sees a second one begin."""
    begin, whole = 0, memoryview(data)
    while True:
        length = _length_of_one(whole[begin:])
        yield begin, begin + length
        begin += length
        if _NOTHING_MORE.match(data, begin):
            return


def _length_of_one(data: memoryview) -> int:
    """What expat reads before it sees another document; it is given little more than that."""
    parser = expat.ParserCreate(None, "\x01")
    at, step = 0, _FIRST
    try:
        while at < len(data):
            parser.Parse(data[at : at + step], False)
            at, step = at + step, 2 * step
        parser.Parse(b"", True)
    except (LookupError, ValueError):  # an unknown encoding: reading it reports that
        return len(data)
    except expat.ExpatError as said:
        at = parser.ErrorByteIndex
        follows = said.code in (_JUNK_AFTER_ROOT, _MISPLACED_DECLARATION)
        if follows and at > 0 and bytes(data[at : at + 1]) == b"<":
            return at
    return len(data)


def _moved(refused: InputError, data: bytes, begin: int) -> InputError:
    """An error in the part of `data` from `begin` on, placed in the whole."""
    at = refused.place
    if isinstance(at, DataPlace) and begin:
        refused.place = place(data, begin + (at.offset or 0), at.stream)
        refused.args = (refused.code, refused.message, refused.place, refused.hint)
    return refused
