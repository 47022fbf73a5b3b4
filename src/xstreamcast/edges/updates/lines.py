"""Events as lines of JSON: `{"event":"cD","id":1,"text":"x"}`, one event a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from xstreamcast.edges.updates.events import Event
from xstreamcast.edges.updates.parts import EventPart, MalformedEvent, Read
from xstreamcast.edges.updates.records import Record, event, record
from xstreamcast.errors import Error, error

_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,14}")
LONGEST: Final = 64 << 20  # bytes of one line


def line(said: Event) -> bytes:
    """An event as a line."""
    fields = record(said)
    for field in ("id", "target") if fields["event"] != "pi" else ("id",):
        if field in fields and _NUMBER.fullmatch(fields[field]):
            fields[field] = int(fields[field])
    return _ENCODER.encode(fields).encode() + b"\n"


class LineReading:
    """Lines that arrive in chunks, cut anywhere."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._offset = self._line = 0

    def feed(self, chunk: bytes) -> Iterator[Read]:
        """Read a chunk → the events of the lines that it completed."""
        searched = len(self._kept)
        self._kept += chunk
        begin = 0
        while (end := self._kept.find(b"\n", max(begin, searched))) >= 0:
            yield from self._read(bytes(self._kept[begin:end]))
            self._offset += end + 1 - begin
            begin = end + 1
        del self._kept[:begin]
        if len(self._kept) > LONGEST:
            raise error("XSCE0001", f"a line must be shorter than {LONGEST} bytes")

    def close(self) -> Iterator[Read]:
        """End the input → the event of a last line without an end."""
        raw = bytes(self._kept)
        self._kept.clear()
        yield from self._read(raw)
        self._offset += len(raw)

    def _read(self, raw: bytes) -> Iterator[Read]:
        self._line += 1
        if not raw.strip():
            return
        try:
            yield EventPart(event(_record(raw)), self._offset, self._line, raw)
        except Error as refused:
            yield MalformedEvent(refused.code, refused.message, self._offset, self._line, raw)


def _record(raw: bytes) -> Record:
    try:
        found = _DECODER.decode(raw.decode())
    except (ValueError, RecursionError) as failed:
        raise error("XSCE0001", f"a line must be a JSON object: {failed}") from None
    if not isinstance(found, dict):
        raise error("XSCE0001", f"a line must be a JSON object; got {type(found).__name__}")
    return found


def _once(pairs: list[tuple[str, object]]) -> Record:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


# Made once: for lines this short, making them is half of the work.
_DECODER: Final = json.JSONDecoder(object_pairs_hook=_once)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
