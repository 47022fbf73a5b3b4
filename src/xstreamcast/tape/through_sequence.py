"""Documents one after another, cut apart by expat and read by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.parsers import expat

from xstreamcast.errors import DataPlace, InputError
from xstreamcast.tape.join import under_one_document
from xstreamcast.tape.layout import Tape
from xstreamcast.tape.limits import Limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.through_expat import columns_from_expat

_JUNK_AFTER_ROOT, _MISPLACED_DECLARATION = 9, 17


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
    begin = 0
    while True:
        length = _length_of_one(data[begin:])
        yield begin, begin + length
        begin += length
        if not data[begin:].strip(b" \t\r\n"):
            return


def _length_of_one(data: bytes) -> int:
    parser = expat.ParserCreate(None, "\x01")
    try:
        parser.Parse(data, True)
    except expat.ExpatError as said:
        at = parser.ErrorByteIndex
        follows = said.code in (_JUNK_AFTER_ROOT, _MISPLACED_DECLARATION)
        if follows and at > 0 and data[at : at + 1] == b"<":
            return at
    return len(data)


def _moved(refused: InputError, data: bytes, begin: int) -> InputError:
    """An error in the part of `data` from `begin` on, placed in the whole."""
    at = refused.place
    if isinstance(at, DataPlace) and begin and at.line is not None and at.column is not None:
        before = data[:begin].decode("utf-8", "replace")
        column = at.column if at.line > 1 else at.column + len(before) - before.rfind("\n") - 1
        refused.place = replace(
            at,
            offset=(at.offset or 0) + begin,
            line=at.line + before.count("\n"),
            column=column,
        )
        refused.args = (refused.code, refused.message, refused.place, refused.hint)
    return refused
