"""A stream in any encoding that expat knows, as UTF-8."""

from __future__ import annotations

import codecs
from xml.parsers import expat

from xstreamcast.errors import DataPlace, Error, error
from xstreamcast.tape.expat.expanding import Expander, has_subset
from xstreamcast.tape.expat.expat_errors import input_error
from xstreamcast.tape.reading.prolog import LONGEST, XmlProlog, look


class Transcoder:
    """Chunks as they come → chunks of UTF-8 without an internal DTD subset.

    It holds back the first until the encoding is clear, and whether there is a subset.
    """

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._head = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._begun = False
        self._held: bytes | None = b""  # decoded, until it is known whether there is a subset
        self._expander: Expander | None = None
        self.prolog = XmlProlog(0)

    @property
    def transcodes(self) -> bool:
        """Whether the output differs from what came."""
        return self._decoder is not None or self.expands

    @property
    def expands(self) -> bool:
        """Whether entities and default attributes are expanded on the way."""
        return self._expander is not None

    @property
    def identifiers(self) -> frozenset[tuple[str, str, str]]:
        """(element, attribute, ID or IDREF) of what a DTD declares."""
        found = {} if self._expander is None else self._expander.identifiers
        return frozenset((*names, kind) for names, kind in found.items())

    def feed(self, chunk: bytes) -> bytes | None:
        """What the chunk represents; None while more is needed to begin."""
        decoded = self._in_utf8(chunk)
        if decoded is None or (self._held is None and self._expander is None):
            return decoded
        return self._expanded(decoded)

    def _expanded(self, decoded: bytes) -> bytes | None:
        if self._expander is not None:
            return self._expander.feed(decoded)
        assert self._held is not None
        self._held += decoded
        found = has_subset(self._held[self.prolog.begin :])
        if found is None:
            return None
        held, self._held = self._held, None
        if not found:
            return held
        self._expander = Expander(self._name)
        self.prolog = XmlProlog(0)
        return self._expander.feed(held)

    def _in_utf8(self, chunk: bytes) -> bytes | None:
        if self._begun:
            return self._decoded(chunk)
        self._head += chunk
        prolog = look(self._head, False)
        if prolog is None:
            return None
        return self._begin_odd(prolog) if prolog.odd else self._begin(prolog)

    def close(self) -> None:
        """Check that the bytes do not end inside a character."""
        if self._decoder is not None:
            self._decoded(b"", final=True)

    def _begin(self, prolog: XmlProlog) -> bytes:
        self._begun, self.prolog = True, prolog
        head, self._head = self._head, b""
        return head

    def _begin_odd(self, prolog: XmlProlog) -> bytes | None:
        """Let expat read the declaration, which says what Python must decode."""
        wide = _without_mark(self._head)
        encoding = wide or prolog.encoding or "latin-1"
        # A declaration is ASCII in whatever is not UTF-16.
        text = codecs.getincrementaldecoder(wide or "latin-1")("replace").decode(self._head)
        complete = "?>" in text or not "<?xml".startswith(text[:5])
        if not complete and len(self._head) < LONGEST:
            return None
        end = text.index("?>") + 2 if text.startswith("<?xml") and "?>" in text else 0
        declared, standalone = self._ask(self._head)
        if prolog.encoding is None and (declared or "utf-8").lower() == "utf-8":
            return self._begin(XmlProlog(self._head.index(b"?>") + 2, standalone=standalone))
        self._decoder = self._lookup(encoding)
        self._begun, self.prolog = True, XmlProlog(0, standalone=standalone)
        head, self._head = self._head, b""
        return self._decoded(head).decode()[end:].encode()

    def _ask(self, head: bytes) -> tuple[str | None, bool]:
        """(encoding, standalone) of an XML declaration, as expat has it."""
        said: list[tuple[str | None, bool]] = []
        parser = expat.ParserCreate()
        parser.XmlDeclHandler = lambda _, encoding, alone: said.append((encoding, alone == 1))
        try:
            parser.Parse(head, False)
        except expat.ExpatError as refused:
            if not said or refused.code in (18, 19):
                raise input_error(refused, parser.ErrorByteIndex, head, self._name) from None
        except (ValueError, LookupError):
            raise self._unknown() from None
        return said[0] if said else (None, False)

    def _lookup(self, encoding: str) -> codecs.IncrementalDecoder:
        try:
            return codecs.getincrementaldecoder(encoding)()
        except LookupError:
            raise self._unknown() from None

    def _unknown(self) -> Error:
        return error("XSCX0003", at=DataPlace(self._name or "input", None, 0, 1, 1))

    def _decoded(self, chunk: bytes, final: bool = False) -> bytes:
        if self._decoder is None:
            return chunk
        try:
            return self._decoder.decode(chunk, final).encode()
        except UnicodeError as failed:
            at = DataPlace(self._name or "input")
            raise error("XSCX0002", f"the bytes do not fit the encoding: {failed}", at=at) from None


def _without_mark(head: bytes) -> str | None:
    """UTF-16 that is known by its zero bytes alone."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if head[:1] == b"\0":
        return "utf-16-be"
    return "utf-16-le" if head[1:2] == b"\0" else None
