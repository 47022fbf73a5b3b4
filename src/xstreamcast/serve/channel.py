"""One listener, or one medium with many: its position, and what is sent next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from xstreamcast.serve.carousel import Carousel, SentFragment

_SOONEST: Final = 0.05  # seconds between two structures at least


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How a stream is sent."""

    repeat: float | None = None  # seconds from the end of one round to the next; None: no rounds
    structure: float = 10.0  # seconds between two structures
    rounds: int | None = None  # after the source's end; then the stream ends
    rate: float | None = None  # fragments a second
    byte_rate: float | None = None  # bytes a second


@dataclass(slots=True)
class Channel:
    """Sends the structure, then the kept fragments, then new ones; rounds when idle."""

    carousel: Carousel
    rhythm: Rhythm = field(default_factory=Rhythm)
    since: int = 0
    most: int = 1 << 16  # bytes sent at once
    sent: int = 0
    repeated: int = 0
    size: int = 0  # bytes
    rounds: int = 0
    over: bool = False
    _at: dict[int, int] = field(default_factory=dict)
    _described: int = 0
    _beats: int = 0
    _next_structure: float = 0.0
    _next_round: float | None = None
    _next_send: float = 0.0
    _round: Iterator[SentFragment] | None = None

    def next(self, now: float) -> list[SentFragment | bytes]:
        """What to send now: fragments and words between them; [] if there is nothing."""
        if now < self._next_send or self.over:
            return []
        heads = self._words(now)
        items = self._live() or self._repeats(now)
        if not items:
            heads += self._end()
        self._count(now, heads, items)
        return [*heads, *items]

    def wait(self, now: float) -> float | None:
        """Seconds until there may be something to send although nothing arrived."""
        due = [self._next_send] if now < self._next_send else []
        if not due and self._next_round is not None and self._may_repeat():
            due.append(self._next_round)
        if self.rhythm.repeat is not None and self._described:
            due.append(self._next_structure)
        return None if not due else max(min(due) - now, 0.0)

    @property
    def finished(self) -> bool:
        """Whether the stream has ended and the listener, who returns, has all of it."""
        ends = self.rhythm.repeat is None or self.rhythm.rounds is not None
        return ends and self.carousel.ended and 0 < self.carousel.seq <= self.since

    # -- words ------------------------------------------------------------------------------------

    def _words(self, now: float) -> list[bytes]:
        """The structure, if it is new or its interval has passed; and the time."""
        heads: list[bytes] = []
        due = self.rhythm.repeat is not None and now >= self._next_structure
        if self.carousel.described and (self._described < self.carousel.described or due):
            self._described = self.carousel.described
            self._next_structure = now + max(self.rhythm.structure, _SOONEST)
            heads.append(self.carousel.structure_bytes)
        return heads

    def _beat(self) -> list[bytes]:
        if self._beats == self.carousel.beats:
            return []
        self._beats = self.carousel.beats
        return [self.carousel.heartbeat]

    def _end(self) -> list[bytes]:
        """The time, when everything before it was sent; the end, when nothing remains."""
        beat = self._beat()
        if beat or not self.carousel.ended or not self.carousel.described:
            return beat
        if self.rhythm.repeat is not None and (
            self.rhythm.rounds is None or self.rounds < self.rhythm.rounds
        ):
            return []
        self.over = True
        return [self.carousel.end_bytes]

    # -- fragments --------------------------------------------------------------------------------

    def _live(self) -> list[SentFragment]:
        """Fragments that are new to this listener, the most urgent first."""
        found: list[SentFragment] = []
        size = 0
        for priority in self.carousel.priorities():
            at = self._at.get(priority, self.since)
            for item in self.carousel.levels[priority].after(at):
                if found and (size + len(item.line) > self.most or len(found) >= self._some()):
                    return found
                found.append(item)
                size += len(item.line)
                self._at[priority] = item.seq
        return found

    def _some(self) -> int:
        """How many fragments at once: a slow channel decides often what is most urgent."""
        return 1 << 30 if self.rhythm.rate is None else max(1, int(self.rhythm.rate / 20))

    def _may_repeat(self) -> bool:
        done = self.carousel.ended and self.rhythm.rounds is not None
        return not (done and self.rounds >= (self.rhythm.rounds or 0))

    def _repeats(self, now: float) -> list[SentFragment]:
        if self.rhythm.repeat is None or not self.carousel.described or not self._may_repeat():
            return []
        if self._next_round is None:
            self._next_round = now + self.rhythm.repeat
        if self._round is None:
            if now < self._next_round:
                return []
            self._round = self._begin_round(now)
        return self._go_round(now)

    def _begin_round(self, now: float) -> Iterator[SentFragment]:
        self.carousel.prune()
        self._next_structure = now  # a round begins with it
        self._beats = 0 if self.carousel.beats else self._beats
        # Later arrivals are sent by themselves; fragments removed meanwhile are left out.
        kept = [
            (self.carousel.levels[priority], seq)
            for priority in self.carousel.priorities()
            for seq in list(self.carousel.levels[priority].items)
        ]
        return (level.items[seq] for level, seq in kept if seq in level.items)

    def _go_round(self, now: float) -> list[SentFragment]:
        assert self._round is not None
        found: list[SentFragment] = []
        size = 0
        for item in self._round:
            found.append(item)
            size += len(item.again)
            if size > self.most or len(found) >= self._some():
                return [_Again.of(one) for one in found]
        self._round, self.rounds = None, self.rounds + 1
        self._next_round = now + (self.rhythm.repeat or 0.0)
        return [_Again.of(one) for one in found]

    def reached(self) -> int:
        """The number up to which this listener has all that it will ever need."""
        found = self.carousel.seq
        for priority in self.carousel.priorities():
            at = self._at.get(priority, self.since)
            if next(self.carousel.levels[priority].after(at), None) is not None:
                found = min(found, at)
        return found

    # -- counting ---------------------------------------------------------------------------------

    def _count(self, now: float, heads: list[bytes], items: list[SentFragment]) -> None:
        size = sum(map(len, heads)) + sum(len(wire(one)) for one in items)
        again = sum(isinstance(one, _Again) for one in items)
        self.sent += len(items) - again
        self.repeated += again
        self.size += size
        pauses = [
            len(items) / self.rhythm.rate if self.rhythm.rate else 0.0,
            size / self.rhythm.byte_rate if self.rhythm.byte_rate else 0.0,
        ]
        self._next_send = now + max(pauses) if max(pauses) else 0.0


class _Again(SentFragment):
    """A fragment that is repeated."""

    __slots__ = ()

    @classmethod
    def of(cls, one: SentFragment) -> SentFragment:
        return cls(one.seq, one.key, one.valid, one.line, one.again, one.priority)


def wire(one: SentFragment | bytes) -> bytes:
    """The bytes that are sent."""
    if isinstance(one, bytes):
        return one
    return one.again if isinstance(one, _Again) else one.line
