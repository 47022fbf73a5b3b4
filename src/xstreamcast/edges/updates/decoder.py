"""Bytes of an update stream to fragments in columns: the same arrivals as a wire of fragments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from xstreamcast.edges.updates.answers import ANSWER
from xstreamcast.edges.updates.events import At, Event, StartStream, StartTuple
from xstreamcast.edges.updates.fixing import Fixing
from xstreamcast.edges.updates.fragments import Cutter
from xstreamcast.edges.updates.lines import LineReading
from xstreamcast.edges.updates.markup import MarkupReading
from xstreamcast.edges.updates.parts import EventPart, MalformedEvent, Read
from xstreamcast.edges.updates.regions import EventCounts
from xstreamcast.edges.updates.tuples import ROOT, Tuples
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.edges.wire.encoder import OPEN
from xstreamcast.errors import DataPlace, Error, error
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.fragment import Arrival, FragmentBatch, NewStructure, Refused
from xstreamcast.model.structure import TagStructure
from xstreamcast.tape.names import Names

if TYPE_CHECKING:
    from xstreamcast.edges.immutable import TagPath


_FULL: Final = 1 << 15  # bytes of a chunk behind which more is waiting to be read


class UpdateDecoder:
    """One update stream on its way in, as lines of JSON or as XML, by its first byte.

    Used as `wire.Decoder` is. An event that does not fit is refused, handed out and counted, or
    raised where `on_error` is "stop". `wrap` names an element to put around what is no document;
    without it, a stream of tuples (an answer) is an element `answer` with the items in it.
    Without a structure the tags are learnt, and a query sees the current content only; with
    `versions` it sees every replacement as a version with its lifespan. Updates of regions at
    `immutable` paths are left out, and counted.
    """

    more: bool = False  # whether another input follows the one that is being read

    def __init__(
        self,
        name: str,
        structure: TagStructure | None = None,
        *,
        ids: Ids | None = None,
        names: Names | None = None,
        on_error: Literal["quarantine", "stop"] = "quarantine",
        wrap: str | None = None,
        versions: bool = False,
        immutable: tuple[TagPath, ...] = (),
    ) -> None:
        self.name, self.on_error = name, on_error
        self.more = False  # whether another input follows
        self.ids = Ids() if ids is None else ids
        self.names = Names() if names is None else names
        self.structure = structure
        self._cutter = Cutter(structure, wrap, versions)
        self._fixing = Fixing(self._cutter.regions, immutable) if immutable else None
        self._tuples: Tuples | None = None
        self._open_form = wrap is None and structure is None  # whether the stream may say its form
        self._reading: LineReading | MarkupReading | None = None
        self._waiting: list[bytes] = []
        self._wire = None if structure is None else self._new_wire(structure)

    @property
    def counts(self) -> EventCounts:
        """What has passed: events, updates, refused."""
        return self._cutter.regions.counts

    @property
    def ignored(self) -> int:
        """How many updates of immutable regions were left out."""
        return 0 if self._fixing is None else self._fixing.ignored

    def feed(self, chunk: bytes) -> list[Arrival]:
        """Read a chunk → what it completed, in order of arrival."""
        if self._reading is None:
            chunk = chunk.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
            if not chunk:
                return []
            lines = chunk.startswith(b"{")
            self._reading = LineReading() if lines else MarkupReading(self.name)
        return list(self._arrivals(self._reading.feed(chunk), full=len(chunk) >= _FULL))

    def said(self, events: Iterable[Event], last: bool = False) -> list[Arrival]:
        """Apply events that came some other way → what they completed."""
        return list(self._arrivals((EventPart(event, 0, 0, b"") for event in events), last))

    def end_input(self) -> list[Arrival]:
        """End one input of the stream; regions stay open for updates from the next."""
        reading, self._reading = self._reading, None
        return [] if reading is None else list(self._arrivals(reading.close(), last=True))

    def close(self) -> list[Arrival]:
        """End the stream."""
        return self.end_input()

    def _arrivals(
        self, parts: Iterator[Read], last: bool = False, full: bool = True
    ) -> Iterator[Arrival]:
        for part in parts:
            try:
                if not isinstance(part, EventPart):
                    self.counts.events += 1
                    self.counts.refused += 1
                    raise error(part.code, part.reason)
                if isinstance(part.event, At):
                    yield from self._tell()
                for event in self._events(part.event):
                    if self._cutter.take(event):
                        yield from self._tell()
            except Error as refused:
                yield self._refuse(refused, part)
        if last or self._cutter.timed or self._counts_now(full):
            try:
                yield from self._tell()
            except Error as refused:
                yield self._refuse(refused, MalformedEvent("", "", 0, 0, b""))
        yield from self._sent()

    def _counts_now(self, full: bool) -> bool:
        """Whether to emit what has arrived although no update has ended: the root may stay open.

        Behind a full chunk there is more to come: the element around is written again only when
        much is new in it, so that a long stream is not written over and over.
        """
        cutter = self._cutter
        if not cutter.waiting or (full and 8 * cutter.waiting < cutter.sent_hosts):
            return False
        return cutter.timeless

    def _events(self, event: Event) -> Iterator[Event]:
        """The event, or its replacement if the stream is an answer."""
        if self._open_form and not isinstance(event, At):
            self._open_form = isinstance(event, StartStream) and event.id != ANSWER
            if isinstance(event, StartTuple) or event == StartStream(ANSWER):
                self._tuples = Tuples()
                self._cutter.wrap(ROOT)
        found = (event,) if self._tuples is None else self._tuples.take(event)
        for one in found:
            yield from (one,) if self._fixing is None else self._fixing.take(one)

    def _tell(self) -> Iterator[Arrival]:
        """Have what changed sent with the rest of the chunk; a structure that grew, at once."""
        lines = list(self._cutter.emitted())
        structure = self._cutter.structure
        if lines and structure is not None and structure is not self.structure:
            yield from self._sent()
            self.structure, self._wire = structure, self._new_wire(structure)
            yield NewStructure(structure)
        self._waiting += lines

    def _sent(self) -> Iterator[Arrival]:
        lines, self._waiting = self._waiting, []
        if lines:
            assert self._wire is not None
            for arrival in self._wire.feed(b"".join(lines)):
                self.counts.refused += isinstance(arrival, Refused)
                yield _unplaced(arrival)

    def _new_wire(self, structure: TagStructure) -> Decoder:
        wire = Decoder(self.name, structure, ids=self.ids, names=self.names, on_error=self.on_error)
        wire.feed(OPEN)
        return wire

    def _refuse(self, refused: Error, part: Read) -> Refused:
        if self.on_error == "stop":
            at = DataPlace(self.name, None, part.offset, part.line)
            raise refused.located(at)
        said, raw = refused.message, part.raw
        return Refused(self.name, None, part.offset, refused.code, said, raw, part.line)


def _unplaced(arrival: Arrival) -> Arrival:
    """Without lines: generated fragments have none."""
    match arrival:
        case FragmentBatch():
            return replace(arrival, place=None)
        case Refused():
            return replace(arrival, line=None, column=None)
        case _:
            return arrival
