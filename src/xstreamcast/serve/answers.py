"""The answers of queries that are left running, as they are served to clients.

Each tick that changes an answer has a number, N-DIGEST: how many changes there were, and a digest
of all of them. Who comes back with such a number is sent what follows it, if the same changes led
to it here and what follows is still kept; else the whole answer. So no restart, and no difference
between two runs, makes a client miss a change or apply one twice.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from threading import Lock
from typing import Final

from xstreamcast.edges.sinks.forms import WrittenAnswer
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated, Change, restart_line
from xstreamcast.model.instant import START

_DIGEST: Final = 8  # bytes


@dataclass(frozen=True, slots=True)
class AnswerStep:
    """What one tick changed, as lines, and where the answer was after it."""

    after: str
    lines: bytes


@dataclass(slots=True)
class ServedAnswer:
    """The answer of one query, and its last changes."""

    backlog: int  # bytes of changes that are kept
    items: Accumulated = field(default_factory=Accumulated)
    count: int = 0  # changes so far
    digest: str = "0" * (2 * _DIGEST)
    instant: int = START  # of the last change
    failed: Error | None = None
    _steps: OrderedDict[str, AnswerStep] = field(
        default_factory=OrderedDict
    )  # by where it was before
    _held: int = 0
    _whole: tuple[str, bytes] = ("", b"")  # the last whole answer that a client was sent

    @property
    def id(self) -> str:
        """Where the answer is."""
        return f"{self.count}-{self.digest}"

    def apply(self, changes: Sequence[Change]) -> None:
        """What a tick changed."""
        before, said = self.id, blake2b(self.digest.encode(), digest_size=_DIGEST)
        for change in changes:
            self.items.apply(change)
            after = "" if change.after is None else f"={change.after}"
            said.update(f"{change.diff}\0{change.key}\0{after}\0{change.item}\0".encode())
        self.count += len(changes)
        self.digest, self.instant = said.hexdigest(), changes[-1].instant
        lines = "".join(change.to_json() + "\n" for change in changes).encode()
        self._steps[before], self._whole = AnswerStep(self.id, lines), ("", b"")
        self._held += len(lines)
        while self._held > self.backlog:
            self._held -= len(self._steps.popitem(last=False)[1].lines)

    def since(self, id: str, most: int) -> tuple[bytes, str] | None:
        """The changes behind a place, about as many bytes, and where they end; None: not kept."""
        if id == self.id:
            return b"", id
        found: list[bytes] = []
        while most > 0 and (step := self._steps.get(id)) is not None:
            found.append(step.lines)
            id, most = step.after, most - len(step.lines)
        return (b"".join(found), id) if found else None

    def whole(self) -> bytes:
        """A line that retracts all items, and all items as changes."""
        if self._whole[0] != self.id:  # many clients may come at once
            keys = [key for key, _ in self.items]
            rows = zip(self.items, [None, *keys], strict=False)
            added = (Change(self.instant, 1, key, after, item) for (key, item), after in rows)
            lines = [restart_line(self.instant), *(change.to_json() for change in added)]
            self._whole = self.id, "".join(line + "\n" for line in lines).encode()
        return self._whole[1]


class Answers:
    """The answers by the names of their queries; a form of output for a query that runs.

    A query's thread changes them and others read them, each with the lock held. With a checkpoint,
    changes are held back until a restart would not emit them again.
    """

    def __init__(self, names: Sequence[str], backlog: int, holds: bool) -> None:
        self.lock = Lock()
        self.of: Mapping[str, ServedAnswer] = {name: ServedAnswer(backlog) for name in names}
        self.started = False  # what was emitted before a restart is there
        self.ended = False  # nothing more will change
        self.closing = False  # the server stops; clients may come back to the next one
        self._holds, self._held = holds, list[Sequence[Change]]()

    def take(self, changes: Sequence[Change]) -> bool:
        """What a tick changed → whether clients may see it."""
        self._held.append(changes)
        return not self._holds and self.release()

    def release(self) -> bool:
        """Clients may see all changes so far → whether there were any."""
        held, self._held = self._held, []
        for changes in held:
            self.recall(changes)
        return bool(held)

    # -- a form of output -------------------------------------------------------------------------

    def write(self, changes: Sequence[Change]) -> str:
        """Nothing is written to a sink."""
        self.take(changes)
        return ""

    def close(self) -> str:
        return ""

    def recall(self, changes: Sequence[Change]) -> None:
        """Changes that clients may have seen."""
        by_query: dict[str, list[Change]] = {}
        for change in changes:
            by_query.setdefault(change.query, []).append(_alone(change))
        with self.lock:
            for name, own in by_query.items():
                self.of[name].apply(own)

    def written(self) -> WrittenAnswer:
        """All answers, one behind the other, for a snapshot."""
        pairs = [pair for one in self.of.values() for pair in one.items]
        facts = [(n, len(one.items), one.count, one.digest) for n, one in self.of.items()]
        return WrittenAnswer(
            [key for key, _ in pairs], [item for _, item in pairs], queries=facts
        )  # fmt: skip

    def restore(self, written: WrittenAnswer) -> None:
        """Continue from what a snapshot kept."""
        at = 0
        with self.lock:
            for name, length, count, digest in written.queries:
                end, one = at + length, self.of[name]
                part = WrittenAnswer(written.keys[at:end], written.items[at:end])
                one.items, one.count, one.digest, at = part.answer(), count, digest, end


def _alone(change: Change) -> Change:
    """A change in the answer of its query alone."""
    return Change(change.instant, change.diff, change.key, change.after, change.item)
