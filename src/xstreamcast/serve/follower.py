"""A client that follows an answer: its place in the changes, and what it is sent next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from xstreamcast.serve.answers import Answers, ServedAnswer

_MOST: Final = 1 << 16  # bytes of changes in an event, about
_SILENCE: Final = 15.0  # seconds after which a comment says that the server is there
_COMMENT: Final = b":\n\n"


@dataclass(slots=True)
class Follower:
    """A place in the changes of an answer, and nothing else: no change is kept for a client."""

    answers: Answers
    name: str
    at: str = ""  # the last number that the client has
    restarts: int = 0  # how often it was sent the whole answer
    over: bool = False
    _due: float = 0.0  # when a comment is sent

    @property
    def _answer(self) -> ServedAnswer:
        return self.answers.of[self.name]

    @property
    def finished(self) -> bool:
        """Whether nothing more will come for a client that returns."""
        with self.answers.lock:
            return self.answers.ended and self.at == self._answer.id

    def next(self, now: float) -> list[bytes]:
        """An event with what follows, or with the whole answer; a comment now and then."""
        lines = self._lines() if self.answers.started and not self.answers.closing else b""
        self.over |= self.answers.closing
        if not lines and (self.over or now < self._due):
            return []
        self._due = now + _SILENCE
        return [_event(lines, self.at) if lines else _COMMENT]

    def _lines(self) -> bytes:
        with self.answers.lock:
            answer = self._answer
            found = answer.since(self.at, _MOST)
            if found is None:
                self.restarts += 1
                found = answer.whole(), answer.id
            lines, self.at = found
            self.over = not lines and (self.answers.ended or answer.failed is not None)
            return lines

    def wait(self, now: float) -> float:
        """Seconds until a comment is due."""
        return max(self._due - now, 0.0)


def _event(lines: bytes, id: str) -> bytes:
    data = b"".join(b"data: " + line + b"\n" for line in lines.split(b"\n") if line)
    return b"id: " + id.encode() + b"\n" + data + b"\n"
