"""Documents one after another as their bytes come: expat finds where the next one begins.

b"<a/><b>", b"</b>"   →   (b"<a/>"), (b"<b>", b"</b>")
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple
from xml.parsers import expat

from xstreamcast.errors import DataPlace, Error

_FOLLOWS: Final = (9, 17)  # content, or a declaration, behind the end of the root
_INCOMPLETE: Final = (3, 5, 6, 20)  # an open element, tag, character or CDATA section
_UNKNOWN_ENCODING: Final = 18
_TOLD: Final = 16  # with so many bytes of a tag, expat knows whether it begins a document


class DocumentStart(NamedTuple):
    """Where a document begins among others: byte, line and column, each from 0."""

    offset: int = 0
    line: int = 0
    column: int = 0


def documents(chunks: Iterable[bytes]) -> Iterator[tuple[DocumentStart, Iterator[bytes]]]:
    """Each document with where it begins; its bytes must be taken before the next one."""
    following = _Following(chunks)
    while not following.over:
        yield following.begin, following.one()


def moved(refused: Error, begin: DocumentStart) -> Error:
    """An error in a document, placed among all of them."""
    at = refused.place
    if isinstance(at, DataPlace) and begin.offset:
        line = None if at.line is None else at.line + begin.line
        column = at.column
        if at.line == 1 and column is not None:
            column += begin.column
        offset = None if at.offset is None else at.offset + begin.offset
        refused.place = DataPlace(at.stream, at.fragment, offset, line, column)
        if begin.line and "line" in (refused.hint or ""):
            refused.hint = None  # it counts the lines of the document
    return refused


class _Following:
    """The bytes of documents; each is handed out up to where another one begins."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""
        self.begin = DocumentStart()
        self.over = False

    def one(self) -> Iterator[bytes]:
        """The chunks of the next document."""
        parser, passed, held = _parser(), 0, b""
        for chunk in chain([self._rest] if self._rest else [], self._chunks):
            held += chunk
            try:
                parser.Parse(chunk, False)
            except (expat.ExpatError, LookupError, ValueError) as said:
                at = parser.ErrorByteIndex - passed
                if not (_follows(said) and passed + at > 0 and held[at : at + 1] == b"<"):
                    break  # it is no document: who reads it says why
                yield held[:at]
                self._next(parser, held[at:])
                return
            sure = _sure(held)
            yield held[:sure]
            passed, held = passed + sure, held[sure:]
        yield held
        yield from self._chunks
        self.over = True

    def _next(self, parser: expat.XMLParserType, rest: bytes) -> None:
        before, lines = self.begin, parser.ErrorLineNumber - 1
        self.begin = DocumentStart(
            before.offset + parser.ErrorByteIndex,
            before.line + lines,
            parser.ErrorColumnNumber + (0 if lines else before.column),
        )
        self._rest = rest


def _parser() -> expat.XMLParserType:
    made = expat.ParserCreate()
    if hasattr(made, "SetReparseDeferralEnabled"):  # of newer versions, which else wait for more
        made.SetReparseDeferralEnabled(False)
    return made


def _follows(said: Exception) -> bool:
    return isinstance(said, expat.ExpatError) and said.code in _FOLLOWS


def _sure(held: bytes) -> int:
    """Up to where no other document begins: markup at the end may be too short to decide."""
    last = held.rfind(b"<")
    if last < 0 or b">" in held[last:]:
        return len(held)
    short = len(held) - last < _TOLD or held.startswith(b"<?", last)
    return last if short else len(held)


def complete_documents(chunks: Iterable[bytes]) -> int:
    """How many bytes the documents have that are complete, or that are not well-formed."""
    complete = length = 0
    for _, document in documents(chunks):
        parser, fault = _parser(), 0
        for chunk in document:
            length += len(chunk)
            fault = fault or _fault(parser, chunk, False)
        if (fault or _fault(parser, b"", True)) not in _INCOMPLETE:
            complete = length
    return complete


def _fault(parser: expat.XMLParserType, chunk: bytes, final: bool) -> int:
    """What expat finds wrong, by its number; 0 if nothing is."""
    try:
        parser.Parse(chunk, final)
    except expat.ExpatError as said:
        return said.code
    except (LookupError, ValueError):
        return _UNKNOWN_ENCODING
    return 0
