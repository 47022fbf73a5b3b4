"""Texts by address: unparsed-text, its lines, and whether there is one.

A query reads only what its caller allows: every address goes through the resolver of the call.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from xstreamcast.errors import Error, error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.resources.addresses import is_valid, resolved
from xstreamcast.functions.rows import lists, maybe, one_or, truths
from xstreamcast.functions.strings.strings import is_xml_character
from xstreamcast.model.atomic import STRING
from xstreamcast.model.column import Column

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LINE_END: Final = re.compile("\r\n|\r|\n")


@function("fn:unparsed-text($href as xs:string?) as xs:string?")
@function("fn:unparsed-text($href as xs:string?, $encoding as xs:string) as xs:string?")
def unparsed_text(call: CallContext, href: Column, encoding: Column | None = None) -> Column:
    """The text at an address that this query may read."""
    return maybe(STRING, _texts(call, href, encoding))


@function("fn:unparsed-text-lines($href as xs:string?) as xs:string*")
@function("fn:unparsed-text-lines($href as xs:string?, $encoding as xs:string) as xs:string*")
def unparsed_text_lines(call: CallContext, href: Column, encoding: Column | None = None) -> Column:
    """The lines of the text at an address."""
    return lists(STRING, (_lines(text or "") for text in _texts(call, href, encoding)))


def _lines(text: str) -> list[str]:
    lines = _LINE_END.split(text)
    return lines[:-1] if lines[-1] == "" else lines


@function("fn:unparsed-text-available($href as xs:string?) as xs:boolean")
@function("fn:unparsed-text-available($href as xs:string?, $encoding as xs:string) as xs:boolean")
def unparsed_text_available(
    call: CallContext, href: Column, encoding: Column | None = None
) -> Column:
    """Whether fn:unparsed-text would return a text."""
    cells = zip(one_or(href), _encodings(call, encoding), strict=True)
    return truths(_available(call, at, name) for at, name in cells)


def _available(call: CallContext, href: str | None, encoding: str | None) -> bool:
    try:
        return href is not None and text_at(call, href, encoding) is not None
    except Error as caught:
        if caught.code.startswith("FOUT"):
            return False
        raise


def _encodings(call: CallContext, encoding: Column | None) -> list[str | None]:
    return [None] * call.n if encoding is None else one_or(encoding)


def _texts(call: CallContext, href: Column, encoding: Column | None) -> list[str | None]:
    cells = zip(one_or(href), _encodings(call, encoding), strict=True)
    return [None if at is None else text_at(call, at, name) for at, name in cells]


def text_at(
    call: CallContext, href: str, encoding: str | None, *, any_character: bool = False
) -> str:
    """The text at an address, decoded."""
    uri = resolved(href, call.static.base_uri)
    if not is_valid(href) or "#" in href:
        raise error("FOUT1170", f"{href!r} is not an address of a text")
    if call.texts is None:
        raise error("FOUT1170", f"{href} is not among the texts this query may read")
    found = call.texts(uri)
    if encoding is not None:
        _known(encoding)
    return decoded(found.data, found.encoding or encoding, href, any_character=any_character)


def _known(encoding: str) -> None:
    try:
        codecs.lookup(encoding)
    except LookupError as caught:
        raise error("FOUT1190", f"the encoding {encoding} is not known") from caught


def decoded(data: bytes, encoding: str | None, href: str, *, any_character: bool = False) -> str:
    """The text of the bytes: by their byte order mark, the requested encoding, or UTF-8."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], name
            break
    try:
        text = data.decode(encoding or "utf-8")
    except LookupError as caught:
        raise error("FOUT1190", f"the encoding {encoding} is not known") from caught
    except UnicodeDecodeError as caught:
        code = "FOUT1190" if encoding else "FOUT1200"
        raise error(code, f"the bytes of {href} are not {encoding or 'UTF-8'}") from caught
    if not any_character and not all(is_xml_character(ord(char)) for char in set(text)):
        raise error("FOUT1190", f"{href} holds characters that XML does not have")
    return text
