"""Events as XML elements of the namespace urn:xstreamcast:updates, each of them by itself.

<u:updates xmlns:u="urn:xstreamcast:updates">
<u:sM target="0" id="1"/><u:cD id="1">x</u:cD><u:eM target="0" id="1"/>
<u:sE id="0" tag="a"><u:attribute name="n" value="1"/></u:sE>
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from xml.parsers import expat

from xstreamcast.edges.updates.events import Event
from xstreamcast.edges.updates.parts import EventPart, MalformedEvent, Read
from xstreamcast.edges.updates.records import FIELDS, Record, event, record
from xstreamcast.errors import DataPlace, Error, error
from xstreamcast.model.markup import escape, quoteattr

UPDATES: Final = "urn:xstreamcast:updates"
OPEN: Final = f'<u:updates xmlns:u="{UPDATES}">\n'.encode()
CLOSE: Final = b"</u:updates>\n"

_WITHIN: Final = {"text"}  # said as the content of the element, not as an attribute
_BREAKS: Final = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def element(said: Event) -> bytes:
    """An event as an element, on a line of its own."""
    said_fields = record(said)
    word, attributes = said_fields.pop("event"), said_fields.pop("attributes", {})
    fields = "".join(f" {k}={_quoted(v)}" for k, v in said_fields.items() if k not in _WITHIN)
    inner = escape(said_fields.get("text", ""), {"\r": "&#13;"})
    inner += "".join(
        f"<u:attribute name={_quoted(name)} value={_quoted(value)}/>"
        for name, value in attributes.items()
    )
    end = f">{inner}</u:{word}>" if inner else "/>"
    return f"<u:{word}{fields}{end}\n".encode()


def _quoted(value: str) -> str:
    return quoteattr(value, _BREAKS)


class MarkupReading:
    """Elements that arrive in chunks, cut anywhere; a root around them may stay open."""

    def __init__(self, name: str = "updates") -> None:
        self._name = name
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._open: Record | None = None
        self._depth = self._event_depth = self._at = self._line = 0
        self._wrong: str | None = None
        self._out: list[Read] = []
        self._stray: tuple[str, int, int] | None = None  # text between events, and where it began

    def feed(self, chunk: bytes) -> Iterator[Read]:
        """Read a chunk → the events that it completed."""
        try:
            self._parser.Parse(chunk, False)
        except expat.ExpatError as failed:
            yield from self._taken()
            why = f"the input is not well-formed: {expat.ErrorString(failed.code)}"
            raise error("XSCX0001", why, at=self._place()) from None
        yield from self._taken()

    def close(self) -> Iterator[Read]:
        """End the input; a root that is still open is no mistake."""
        if self._open is not None:
            raise error("XSCX0004", "the input ends within an event", at=self._place())
        self._end_stray()
        return self._taken()

    def _taken(self) -> Iterator[Read]:
        out, self._out = self._out, []
        return iter(out)

    def _place(self) -> DataPlace:
        p = self._parser
        return DataPlace(
            self._name, None, p.CurrentByteIndex, p.CurrentLineNumber, p.CurrentColumnNumber + 1
        )

    def _doctype(self, *_: object) -> None:
        raise error("XSCX0006", "an update stream must have no DOCTYPE", at=self._place())

    def _end_stray(self) -> None:
        """Text between events is refused as one, in however many pieces it came."""
        stray, self._stray = self._stray, None
        if stray is not None and (text := stray[0].strip()):
            why = f"between events there must be no text; got {text[:40]}"
            self._out.append(MalformedEvent("XSCE0001", why, stray[1], stray[2], text.encode()))

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._end_stray()
        uri, _, word = tag.rpartition(" ")
        self._depth += 1
        if self._open is None:
            if self._depth == 1 and word == "updates" and uri == UPDATES:
                return
            p = self._parser
            self._at, self._line, self._wrong = p.CurrentByteIndex, p.CurrentLineNumber, None
            self._open, self._event_depth = {"event": word, **attributes}, self._depth
            if "text" in FIELDS.get(word, ()):
                self._open["text"] = ""
            if uri != UPDATES:
                self._wrong = f"an event must be an element of {UPDATES}; got {tag}"
        elif (uri, word, self._open["event"]) == (UPDATES, "attribute", "sE"):
            said = self._open.setdefault("attributes", {})
            name, value = attributes.get("name"), attributes.get("value")
            if name is None or value is None or name in said:
                self._wrong = "an attribute must have a name, once, and a value"
            else:
                said[name] = value
        else:
            self._wrong = f"an event has no element {tag} in it"

    def _text(self, text: str) -> None:
        if self._open is None:
            p = self._parser
            before, at, line = self._stray or ("", p.CurrentByteIndex, p.CurrentLineNumber)
            self._stray = before + text, at, line
        elif "text" in self._open and "text" in FIELDS.get(self._open["event"], ()):
            self._open["text"] += text
        elif text.strip():
            self._wrong = f"{self._open['event']} has no text"

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if self._open is None or self._depth >= self._event_depth:
            return
        said, self._open = self._open, None
        raw = repr(said).encode()
        try:
            if self._wrong is not None:
                raise error("XSCE0001", self._wrong)
            self._out.append(EventPart(event(said), self._at, self._line, raw))
        except Error as refused:
            code, why = refused.code, refused.message
            self._out.append(MalformedEvent(code, why, self._at, self._line, raw))
