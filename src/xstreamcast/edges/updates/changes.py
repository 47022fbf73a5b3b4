"""Bytes of an answer's changes to fragments: an element `answer`, and the items in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from xstreamcast.edges.changes import ChangeReader
from xstreamcast.edges.updates.answers import EventWriter
from xstreamcast.edges.updates.decoder import UpdateDecoder
from xstreamcast.edges.updates.events import Event
from xstreamcast.edges.updates.regions import EventCounts
from xstreamcast.errors import Error
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.change import Change
from xstreamcast.model.fragment import Arrival, Refused
from xstreamcast.model.instant import START
from xstreamcast.tape.names import Names

if TYPE_CHECKING:
    from xstreamcast.edges.immutable import TagPath


class ChangeDecoder:
    """One stream of changes on its way in; used as `wire.Decoder` is.

    A line that is no change, or does not fit, is refused by itself and changes nothing.
    """

    more: bool = False  # whether another input follows the one that is being read

    def __init__(
        self,
        name: str,
        *,
        names: Names | None = None,
        on_error: Literal["quarantine", "stop"] = "quarantine",
        immutable: tuple[TagPath, ...] = (),
    ) -> None:
        self.name, self.on_error = name, on_error
        self.more = False  # whether another input follows
        self._answer = UpdateDecoder(name, names=names, on_error=on_error, immutable=immutable)
        self._reader = ChangeReader(name)
        self._writer = EventWriter()
        self._kept = b""
        self._offset = 0
        self._latest = START

    @property
    def ids(self) -> Ids:
        return self._answer.ids

    @property
    def ignored(self) -> int:
        """How many revisions of immutable items were left out."""
        return self._answer.ignored

    @property
    def counts(self) -> EventCounts:
        """What has passed: events, updates, refused."""
        return self._answer.counts

    def feed(self, chunk: bytes) -> list[Arrival]:
        """Read a chunk → the arrivals of its lines."""
        *lines, self._kept = (self._kept + chunk).split(b"\n")
        return self._taken(lines)

    def end_input(self) -> list[Arrival]:
        """End one input of the stream; the next continues with the same answer."""
        line, self._kept = self._kept, b""
        return self._taken([line])

    def close(self) -> list[Arrival]:
        """End the stream."""
        return [*self.end_input(), *self._answer.said(self._writer.end(), last=True)]

    def _taken(self, lines: list[bytes]) -> list[Arrival]:
        found: list[Arrival] = []
        changes: list[Change] = []
        for raw in lines:
            try:
                changes += map(self._in_order, self._reader.changes(raw))
            except Error as refused:
                found.append(self._refuse(refused, raw))
            self._offset += len(raw) + 1
        return found + (self._answer.said(self._events(changes)) if changes else [])

    def _in_order(self, change: Change) -> Change:
        """Changes apply to the current answer: a later change does not count earlier."""
        self._latest = max(self._latest, change.instant)
        return change if change.instant == self._latest else replace(change, instant=self._latest)

    def _events(self, changes: list[Change]) -> list[Event]:
        return list(self._writer.write(changes))

    def _refuse(self, refused: Error, raw: bytes) -> Refused:
        if self.on_error == "stop":
            raise refused
        self.counts.refused += 1
        return Refused(self.name, None, self._offset, refused.code, refused.message, raw)
