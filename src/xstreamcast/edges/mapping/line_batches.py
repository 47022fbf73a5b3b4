"""Lines that were written as XML, on one tape: each line is a message of one document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from xstreamcast.edges.mapping.messages import Message, Messages, Unread, roots_of
from xstreamcast.errors import Error, error
from xstreamcast.tape.fragments.document_kernels import in_documents
from xstreamcast.tape.reading.read import read

if TYPE_CHECKING:
    from xstreamcast.edges.lines import LinesAsXml
    from xstreamcast.tape.layout import I64
    from xstreamcast.tape.names import Names


class Lines(Sequence[Message]):
    """Some lines as messages; each is made when it is read."""

    def __init__(self, written: LinesAsXml, which: I64, place: str) -> None:
        self._written, self._which, self._place = written, which, place

    def __len__(self) -> int:
        return len(self._which)

    @overload
    def __getitem__(self, i: int) -> Message: ...
    @overload
    def __getitem__(self, i: slice) -> Lines: ...
    def __getitem__(self, i: int | slice) -> Message | Lines:
        if isinstance(i, slice):
            return Lines(self._written, self._which[i], self._place)
        r, written = int(self._which[i]), self._written
        where = f"{self._place} line" if self._place else "line"
        offset = written.offset + int(written.begins[r])
        return Message(written.raw(r), f"{where} {written.number(r)}", offset)


def line_batches(written: LinesAsXml, names: Names, place: str) -> Iterator[Messages | Unread]:
    """The good lines together, as far as all of them are XML; the others with the reason."""
    yield from _read(written, written.good, names, place)
    which = np.array(sorted(written.reasons), np.int64)
    for message, r in zip(Lines(written, which, place), which.tolist(), strict=True):
        yield Unread(message, error("XSCM0002", written.reasons[r]))


def _read(written: LinesAsXml, which: I64, names: Names, place: str) -> Iterator[Messages | Unread]:
    if not len(which):
        return
    messages = Lines(written, which, place)
    begin = int(written.writes[which[0] - 1]) if which[0] else 0
    end = int(written.writes[which[-1]])
    try:
        tape = read(written.xml[begin:end].data, mode="sequence", names=names)
    except Error as why:
        if len(which) == 1:
            yield Unread(messages[0], why)
            return
        middle = len(which) // 2
        yield from _read(written, which[:middle], names, place)
        yield from _read(written, which[middle:], names, place)
        return
    documents = in_documents(tape, roots_of(tape))
    assert len(documents[1]) == len(which)
    yield Messages(*documents, messages, written.offset + written.begins[which])
