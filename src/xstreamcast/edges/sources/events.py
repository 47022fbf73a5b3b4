"""Server-sent events: the lines of a response to messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_LINE: Final = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """The data of one event, and the number that a server gave it."""

    data: bytes
    id: bytes


class EventReader:
    """Takes bytes as they come; an event is whole at the empty line behind it."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self.id = b""
        self.retry: float | None = None  # seconds, if the server said

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that a chunk completes."""
        held = self._rest + chunk
        # A carriage return at the end may be half of a line end.
        last = len(held) - 1 if held.endswith(b"\r") else len(held)
        at = 0
        for found in _LINE.finditer(held, 0, last):
            line, at = held[at : found.start()], found.end()
            event = self._line(line)
            if event is not None:
                yield event
        self._rest = held[at:]

    def _line(self, line: bytes) -> Event | None:
        if not line:
            data, self._data = b"\n".join(self._data), []
            return Event(data, self.id) if data else None
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
            case b"id" if b"\0" not in value:
                self.id = value
            case b"retry" if value.isdigit():
                self.retry = int(value) / 1000
            case _:
                pass  # a comment, or the name of an event: all of them are read
        return None
