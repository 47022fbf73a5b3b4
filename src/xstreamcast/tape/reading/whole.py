"""Chunks of a document, or of documents one after another, to one tape."""

from __future__ import annotations

from xml.parsers import expat

from xstreamcast.tape.expat.expat_errors import input_error, unknown_encoding
from xstreamcast.tape.expat.through_sequence import authoritative
from xstreamcast.tape.layout import Tape, frozen_bytes
from xstreamcast.tape.limits import Limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading.chunks import Chunks
from xstreamcast.tape.reading.prolog import LONGEST, look
from xstreamcast.tape.reading.refusals import BEYOND, beyond_at, check_size
from xstreamcast.tape.tokenize.driver import Driver
from xstreamcast.tape.tokenize.state import MORE, POS, ROWS


class WholeReading:
    """A document on its way in; all its bytes are kept, they become the heap."""

    def __init__(self, several: bool, limits: Limits, names: Names, name: str | None) -> None:
        self._several, self._limits, self._names, self._name = several, limits, names, name
        self._chunks = Chunks()
        self._driver: Driver | None = None
        self._doubtful = False
        self._checker: expat.XMLParserType | None = None

    def feed(self, chunk: bytes) -> None:
        check_size(self._chunks.used + len(chunk), self._limits, self._name)
        self._chunks.append(chunk)
        if self._doubtful:
            self._check(chunk)
        else:
            self._advance(final=False)

    def close(self) -> Tape:
        if not self._doubtful:
            self._advance(final=True)
        driver, end = self._driver, self._chunks.used
        if not self._doubtful and driver and driver.complete and driver.state[POS] == end:
            driver.finish_document()
            heap = frozen_bytes(self._chunks.view())
            return Tape(driver.take(int(driver.state[ROWS]), heap), self._names, self._name)
        everything = self._chunks.bytes()
        return authoritative(everything, self._several, self._limits, self._names, self._name)

    def _advance(self, final: bool) -> None:
        if self._driver is None:
            prolog = look(self._chunks.bytes(0, LONGEST), final)
            if prolog is None:
                return
            if prolog.odd:
                return self._doubt()
            self._driver = Driver(self._limits, self._names, unit=None, several=self._several)
            self._driver.begin(prolog)
        answer = self._driver.run(self._chunks.base, self._chunks.used, self._chunks.used)
        if answer in BEYOND:
            pos = int(self._driver.state[POS])
            raise beyond_at(answer, self._limits, self._chunks.bytes(), pos, self._name)
        if answer != MORE:
            self._doubt()

    def _doubt(self) -> None:
        """From here on bytes are only kept, for expat to read at the end.

        A document is shown to expat now, so that an error is not reported at the end only.
        """
        self._doubtful = True
        if not self._several:
            self._checker = expat.ParserCreate(None, "\x01")
            self._check(self._chunks.bytes())

    def _check(self, chunk: bytes) -> None:
        if self._checker is None:
            return
        try:
            self._checker.Parse(chunk, False)
        except expat.ExpatError as said:
            offset = self._checker.ErrorByteIndex
            raise input_error(said, offset, self._chunks.bytes(), self._name) from None
        except (LookupError, ValueError) as unknown:  # what Python's codecs say of the encoding
            raise unknown_encoding(unknown, self._name) from None
