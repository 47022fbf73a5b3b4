"""All streams that are cast and all listeners, in one event loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xstreamcast.kernels.intern import Ids
from xstreamcast.model.fragment import Arrival, Refused
from xstreamcast.serve.carousel import Carousel
from xstreamcast.serve.channel import Rhythm
from xstreamcast.serve.listeners import Listeners


@dataclass(slots=True)
class Hub(Listeners):
    """Streams by name, and their listeners."""

    streams: Mapping[str, Carousel] = field(default_factory=dict)
    rhythm: Rhythm = field(default_factory=Rhythm)
    refused: list[Refused] = field(default_factory=list)
    _reading: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._reading = set(self.streams)

    def named(self, word: str) -> str | None:
        """The stream that a listener names; without a name, the only stream."""
        name = word.strip("/")
        if not name and len(self.streams) == 1:
            return next(iter(self.streams))
        return name if name in self.streams else None

    def take(self, name: str, arrivals: list[Arrival], ids: Ids) -> None:
        """What arrived on a stream."""
        for arrival in arrivals:
            if isinstance(arrival, Refused):
                self.refused.append(arrival)
            self.streams[name].take(arrival, ids)
        self.wake()

    def read(self, name: str) -> None:
        """A source was read to its end."""
        self._reading.discard(name)
        self.streams[name].ended = True
        self.wake()

    @property
    def done(self) -> bool:
        """Whether all sources have ended."""
        return not self._reading
