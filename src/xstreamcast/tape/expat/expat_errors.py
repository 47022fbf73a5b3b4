"""What expat says of a document, said as our errors."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias
from xml.parsers import expat

from xstreamcast.errors import DataPlace, Error, error
from xstreamcast.tape.expat.outside import OutsideEntities
from xstreamcast.tape.reading.prolog import LONGEST, behind_misc, look

if TYPE_CHECKING:
    from xstreamcast.tape.reading.origin import Origin

_SHOWN: Final = 120  # bytes of the line before and after the place that a message may show

Buffer: TypeAlias = bytes | bytearray | memoryview

# expat's number → our code, sentence, hint
_TABLE: Final[dict[int, tuple[str, str, str | None]]] = {
    2: ("XSCX0001", "the markup is not complete", None),
    3: ("XSCX0004", "the input ends before the root element is complete", None),
    4: (
        "XSCX0001",
        "a character that is not allowed here",
        "`<` and `&` are written &lt; and &amp;",
    ),
    5: ("XSCX0004", "the input ends inside a tag or other markup", None),
    6: ("XSCX0002", "the input ends inside a character", None),
    7: ("XSCX0001", "the end tag must match the start tag", None),
    8: ("XSCX0001", "the element has two attributes of the same name", None),
    9: ("XSCX0001", "content after the end of the root element", "a document has one root element"),
    11: ("XSCX0001", "the entity is not declared", "XML itself knows lt, gt, amp, apos and quot"),
    12: ("XSCX0104", "the entity contains itself", None),
    13: ("XSCX0001", "the entity is declared in a part that was not read", None),
    14: ("XSCX0001", "the character reference does not name an XML character", None),
    15: ("XSCX0001", "the entity is not text", None),
    16: ("XSCX0001", "an attribute cannot refer to an external entity", None),
    17: ("XSCX0001", "the XML declaration must be at the very start", None),
    18: ("XSCX0003", "the encoding is not known", "UTF-8, UTF-16, ISO-8859-1 and others are"),
    19: ("XSCX0002", "the bytes do not fit the declared encoding", None),
    20: ("XSCX0004", "the input ends inside a CDATA section", None),
    24: ("XSCX0001", "the document is not standalone", None),
    27: ("XSCX0005", "the namespace prefix is not declared", 'add xmlns:prefix="…"'),
    28: ("XSCX0005", "a prefix cannot be undeclared in XML 1.0", None),
    30: ("XSCX0001", "the XML declaration is not well-formed", None),
    31: ("XSCX0001", "the declaration is not well-formed", None),
    38: ("XSCX0005", "the prefix xml cannot be bound to another namespace", None),
    39: ("XSCX0005", "the prefix xmlns cannot be declared", None),
    40: ("XSCX0005", "the namespaces of xml and xmlns cannot be bound to another prefix", None),
    43: ("XSCX0104", "entities expand to too much text", None),
}


def input_error(
    said: expat.ExpatError, offset: int, data: Buffer, source: str | None, before: bytes = b"",
    placed: Callable[[int], DataPlace] | None = None,
) -> Error:  # fmt: skip
    """The error for what expat said at byte `offset` of `data`; `before`: tags that are open.

    `placed` gives the places of its bytes where `data` is not the beginning of the input.
    """
    where = placed or partial(place, data, source=source)
    otherwise = ("XSCX0001", expat.ErrorString(said.code) or "not well-formed", None)
    code, sentence, hint = _TABLE.get(said.code, otherwise)
    offset = max(offset, 0)
    other = not_xml(bytes(data[:LONGEST])) if not before else None
    if other is not None:
        sentence, hint = other
    elif said.code == 4 and bytes(data[offset : offset + 1]) >= b"\x80":
        hint = "the bytes may be in another encoding than declared (UTF-8 if none is)"
    elif said.code in _UNCLOSED:
        sentence, hint = _left_open(said.code, sentence, hint, bytes(data), before, where)
    return error(code, sentence, at=where(offset), hint=hint)


_NO_ELEMENT, _MISMATCH = 3, 7
_UNCLOSED: Final = (_NO_ELEMENT, 5, _MISMATCH, 20)  # the errors that an open element explains


def _left_open(
    code: int, sentence: str, hint: str | None, data: bytes, before: bytes,
    where: Callable[[int], DataPlace],
) -> tuple[str, str | None]:  # fmt: skip
    """The sentence and hint of an error, with the innermost element that is open there."""
    opened = _open_elements(data, before)
    if not opened:
        return sentence, hint
    name, at = opened[-1]
    if code == _MISMATCH:
        sentence = f"the end tag must be that of <{name}>"
    elif code == _NO_ELEMENT:
        sentence = f"the input ends before <{name}> is closed"
    if at < 0:
        return sentence, hint
    spot = where(at)
    return sentence, f"<{name}> was opened in line {spot.line}, column {spot.column}"


def _open_elements(data: bytes, before: bytes) -> list[tuple[str, int]]:
    """The elements that are open where expat gives up: names as written, and their bytes."""
    found: list[tuple[str, int]] = []
    parser = expat.ParserCreate()

    def begin(name: str, _attributes: dict[str, str]) -> None:
        found.append((name, parser.CurrentByteIndex - len(before)))

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda name: found.pop() and None
    try:
        parser.Parse(before, False)
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError):  # as the first time; the rest is known
        pass
    return found


def not_xml(head: bytes) -> tuple[str, str] | None:
    """What the first bytes are those of, if surely not of XML: a sentence, and what can be done."""
    begin = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    if not begin and len(head) < LONGEST:
        return "the input is empty", "a document has one root element"
    if head[:2] == b"\x1f\x8b":
        return "the input is compressed by gzip", "gunzip -c FILE | xstreamcast … -i -"
    if head[:4] == b"PK\x03\x04":
        return "the input is a ZIP archive", "unzip -p FILE | xstreamcast … -i -"
    if head[:4] == b"\x28\xb5\x2f\xfd":
        return "the input is compressed by Zstandard", "zstd -dc FILE | xstreamcast … -i -"
    if begin[:14].lower() == b"<!doctype html" or begin[:5].lower() == b"<html":
        return "the input is HTML that is not well-formed XML", "a converter makes it XHTML"
    if begin[:1] in (b"{", b"[") and head[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        return "the input is JSON, not XML", "json-to-xml() reads JSON inside a query"
    if begin[:1].isascii() and begin[:1] not in (b"<", b"", b"\0") and b"\0" not in head[:4]:
        return "the input is text, not XML", "a document begins with <"
    return None


def unknown_encoding(why: Exception, source: str | None) -> Error:
    """The error for an encoding for which Python's codecs, called by expat, gave `why`."""
    at = DataPlace(source or "input", None, 0, 1, 1)
    return error("XSCX0003", f"the encoding is not known: {why}", at=at)


def place(data: Buffer, offset: int, source: str | None) -> DataPlace:
    """Byte `offset` of `data` with its line and column in characters, both from 1."""
    encoding = _encoding(bytes(data[:LONGEST]))
    passed, before = _lines(bytes(data[:offset]), encoding)
    after = bytes(data[offset : offset + _SHOWN]).decode(encoding, "replace")
    cut = max(0, len(before) - _SHOWN)
    shown = before[cut:] + after.partition("\n")[0].rstrip("\r")
    return DataPlace(source or "input", None, offset, passed + 1, len(before) + 1, shown, cut)


def _lines(before: bytes, encoding: str) -> tuple[int, str]:
    """How many lines end in `before`, and what is after the last of them."""
    if encoding == "utf-8":  # a large document is not decoded for its last line
        ended = before.count(b"\n")
        return ended, before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace").lstrip("\ufeff")
    text = before.decode(encoding, "replace").lstrip("\ufeff")
    return text.count("\n"), text[text.rfind("\n") + 1 :]


def _encoding(head: bytes) -> str:
    """What the first bytes say that the rest is to be decoded with; UTF-8 if they say nothing."""
    if head[:2] == b"\xfe\xff" or head[:1] == b"\0":
        return "utf-16-be"
    if head[:2] == b"\xff\xfe" or head[1:2] == b"\0":
        return "utf-16-le"
    prolog = look(head, True)
    try:
        return codecs.lookup((prolog and prolog.encoding) or "utf-8").name
    except LookupError:
        return "utf-8"


def refuse(before: bytes, kept: bytes, name: str | None, origin: Origin, at: DataPlace) -> NoReturn:
    """Let expat say what is wrong: it sees the tags that are open, then what is kept."""
    wrong = wrong_in(before, kept, name, origin, at)
    if wrong is not None:
        raise wrong
    other = None if before else not_xml(kept[:LONGEST])
    if other is not None:
        raise error("XSCX0001", other[0], at=at, hint=other[1])
    raise error(
        "XSCX0007",
        "a stream must have its internal DTD subset at its beginning, and only entities that are "
        "declared there; got others",
        at=at,
        hint="xstreamcast run reads the complete document",
    )


def wrong_in(
    before: bytes, kept: bytes, name: str | None, origin: Origin, at: DataPlace
) -> Error | None:
    """What is wrong with what is kept, below the tags that are open; it may end anywhere."""
    if behind_misc(kept).startswith(b"<!DOCTYPE"):  # what is kept begins before the root
        before = b""
    parser = expat.ParserCreate("utf-8", "\x01")
    entities = OutsideEntities(parser, lambda: at)
    parser.StartElementHandler = lambda *_: entities.check_attributes()
    try:
        parser.Parse(before, False)
        parser.Parse(kept, False)
    except expat.ExpatError as said:
        pos = max(parser.ErrorByteIndex - len(before), 0)
        return input_error(said, pos, kept, name, before, partial(origin.place, kept))
    return None
