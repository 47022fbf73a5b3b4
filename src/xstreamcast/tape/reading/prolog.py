"""The first bytes of an input: byte order mark, encoding, XML declaration."""

from __future__ import annotations

import re
from typing import Final

from xstreamcast.model.frozen import dataclass

_BOM: Final = b"\xef\xbb\xbf"
_S, _EQUALS = rb"[ \t\r\n]+", rb"[ \t\r\n]*=[ \t\r\n]*"
_DECLARATION: Final = re.compile(
    rb"<\?xml" + _S + rb"version" + _EQUALS + rb"(?:'1\.0'|\"1\.0\")"
    rb"(?:"
    + _S
    + rb"encoding"
    + _EQUALS
    + rb"(?P<encoding>'[A-Za-z][\w.-]*'|\"[A-Za-z][\w.-]*\"))?"
    rb"(?:" + _S + rb"standalone" + _EQUALS + rb"(?P<standalone>'yes'|\"yes\"|'no'|\"no\"))?"
    rb"[ \t\r\n]*\?>",
    re.ASCII,
)
_MISC: Final = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
LONGEST: Final = 4096  # bytes in which an XML declaration must end to be read the fast way


@dataclass(frozen=True, slots=True)
class XmlProlog:
    """Where the content begins, and whether the tokeniser may read it."""

    begin: int
    standalone: bool = False
    encoding: str | None = None  # declared, and not UTF-8
    odd: bool = False  # only expat knows how to read this


def look(head: bytes, final: bool) -> XmlProlog | None:
    """What `head`, the first bytes of an input, says of the rest; None = more bytes are needed."""
    begin = 3 if head.startswith(_BOM) else 0
    if len(head) < begin + 6 and not final:
        return None
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head[:4]:
        return XmlProlog(0, encoding="utf-16", odd=True)
    if not (head.startswith(b"<?xml", begin) and head[begin + 5 : begin + 6].isspace()):
        return XmlProlog(begin)
    if b"?>" not in head[begin:] and not final and len(head) < LONGEST:
        return None
    return declared(head, begin)


def declared(head: bytes, begin: int) -> XmlProlog:
    """What the XML declaration at `begin` says."""
    found = _DECLARATION.match(head, begin)
    if not found:
        return XmlProlog(begin, odd=True)
    encoding = (found["encoding"] or b"utf-8").decode().strip("'\"")
    if encoding.lower() != "utf-8":
        return XmlProlog(found.end(), encoding=encoding, odd=True)
    return XmlProlog(found.end(), standalone=b"yes" in (found["standalone"] or b""))


def behind_misc(head: bytes) -> bytes:
    """The first bytes of an input behind declarations, comments and processing instructions."""
    found = _MISC.match(head)
    assert found is not None  # it matches nothing, too
    return head[found.end() :]
