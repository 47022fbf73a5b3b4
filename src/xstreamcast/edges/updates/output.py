"""What `--format events` writes: an answer's changes as bytes of an update stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from xstreamcast.edges.updates.answers import EventWriter
from xstreamcast.edges.updates.events import Event
from xstreamcast.edges.updates.lines import line
from xstreamcast.edges.updates.markup import CLOSE, OPEN, element
from xstreamcast.model.change import Accumulated, Change


class EventOutput:
    """Batches of changes to bytes, as lines of JSON or as XML."""

    def __init__(self, form: Literal["lines", "xml"] = "lines") -> None:
        self.writer = EventWriter()
        self._written = line if form == "lines" else element
        self._open, self._close = (b"", b"") if form == "lines" else (OPEN, CLOSE)

    def write(self, changes: Iterable[Change]) -> bytes:
        """The bytes of the changes of a batch; a revision must not span batches."""
        return self._bytes(self.writer.write(changes))

    def close(self) -> bytes:
        """The bytes that say that no more items will come."""
        return self._bytes(self.writer.end()) + self._close

    def go_on(self, answer: Accumulated, begun: bool, instant: int | None) -> None:
        """Continue behind what was written before: this answer, at this instant."""
        self.writer = EventWriter(answer, begun, instant)
        self._open = b"" if begun else self._open

    def _bytes(self, events: Iterable[Event]) -> bytes:
        head, self._open = self._open, b""
        return head + b"".join(map(self._written, events))
