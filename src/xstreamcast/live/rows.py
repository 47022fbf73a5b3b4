"""The rows of a live answer: current ones, new ones, and those just retracted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from xstreamcast.edges.changes import ChangeReader
from xstreamcast.model.change import Change

Sign = Literal["+", "-", " "]


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One line of the answer as it is shown."""

    sign: Sign
    item: str


@dataclass(slots=True)
class _Gone:
    item: str
    behind: str | None
    until: float


class ShownAnswer:
    """The answer of changes, with signs that last for `linger` seconds.

    An item that was added and retracted, or revised to its earlier value, has no sign.
    """

    def __init__(self, linger: float = 1.0) -> None:
        self.answer = ChangeReader()
        self._linger = linger
        self._new: dict[str, float] = {}
        self._gone: dict[str, _Gone] = {}
        self._ends: deque[tuple[float, str]] = deque()  # when a sign may have to go

    def __len__(self) -> int:
        return len(self.answer)

    def take(self, change: Change, now: float) -> None:
        """Apply a change."""
        behind = self.answer.behind(change.key)
        self.answer.apply(change)
        until = now + self._linger
        self._ends.append((until, change.key))
        if change.diff < 0:
            if self._new.pop(change.key, None) is None:
                self._gone[change.key] = _Gone(change.item, behind, until)
            return
        gone = self._gone.get(change.key)
        if gone is not None and gone.item == change.item and gone.behind == change.after:
            del self._gone[change.key]
        else:
            self._new[change.key] = until

    def expire(self, now: float) -> bool:
        """Remove expired signs → whether there were any."""
        found = False
        while self._ends and self._ends[0][0] <= now:
            _, key = self._ends.popleft()
            if key in self._new and self._new[key] <= now:
                found = True
                del self._new[key]
            if key in self._gone and self._gone[key].until <= now:
                found = True
                del self._gone[key]
        return found

    @property
    def next_expiry(self) -> float | None:
        """When the next sign expires."""
        return self._ends[0][0] if self._ends else None

    def shown(self, most: int, skipped: int = 0) -> list[ShownRow]:
        """Some rows, in the order of the answer; retracted ones at their former place."""
        return list(islice(self._rows(), skipped, skipped + most))

    def _rows(self) -> Iterator[ShownRow]:
        below: dict[str | None, list[str]] = {}
        for key, gone in self._gone.items():
            below.setdefault(gone.behind, []).append(key)
        yield from self._ghosts(None, below)
        for key, item in self.answer:
            yield ShownRow("+" if key in self._new else " ", item)
            yield from self._ghosts(key, below)

    def _ghosts(self, behind: str | None, below: dict[str | None, list[str]]) -> Iterator[ShownRow]:
        """The retracted items after a key, in order."""
        todo = below.pop(behind, [])
        while todo:
            key = todo.pop(0)
            yield ShownRow("-", self._gone[key].item)
            if key not in self.answer:
                todo = below.pop(key, []) + todo
