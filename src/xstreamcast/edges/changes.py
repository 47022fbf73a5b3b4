"""Streams of changes: an answer's changes as lines of JSON, written, and read to the answer again.

    {"time":"2026-01-01T10:00:00Z","diff":1,"key":"a","after":null,"item":"<a/>"}

A line {"time":…,"diff":0} retracts all items: what follows it is the whole answer again.

read(write(changes)) = the accumulated changes
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xstreamcast.errors import DataPlace, Error, error
from xstreamcast.model.change import Accumulated, Change, restarts


def write(changes: Iterable[Change]) -> Iterator[str]:
    """Changes as lines, with their ends."""
    return (change.to_json() + "\n" for change in changes)


@dataclass(slots=True)
class ChangeCounts:
    """What has been read."""

    lines: int = 0
    came: int = 0
    went: int = 0


class ChangeReader:
    """The current answer of a stream of changes; constant work for each change.

    Where several queries wrote the changes, `query` names the one whose answer it is.

    for answer in ChangeReader("changes").read(open("changes.ndjson")):
        print(answer.items())
    """

    def __init__(self, name: str = "changes", query: str = "") -> None:
        self.name = name
        self.query = query  # of changes of several queries, whose are read
        self.counts = ChangeCounts()
        self.last: Change | None = None
        self._answer = Accumulated()
        self._kept = b""

    def __len__(self) -> int:
        return len(self._answer)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Keys and items, in the order of the answer."""
        return iter(self._answer)

    def __contains__(self, key: str) -> bool:
        return key in self._answer

    def __getitem__(self, key: str) -> str:
        return self._answer[key]

    def behind(self, key: str) -> str | None:
        """The key before a key; None for the first."""
        return self._answer.behind(key)

    def items(self) -> list[str]:
        """The current answer."""
        return self._answer.items()

    def apply(self, change: Change) -> None:
        """Apply a change; one that does not fit what is there is an error and changes nothing."""
        self._answer.apply(change)
        self.last = change
        if change.diff > 0:
            self.counts.came += 1
        else:
            self.counts.went += 1

    def take(self, line: str | bytes) -> Change | None:
        """Read a line → its change, the last one if it has several; an error has its number."""
        changes = self.changes(line)
        return changes[-1] if changes else None

    def changes(self, line: str | bytes) -> list[Change]:
        """Read a line → its changes: one, none, or retractions of all items."""
        self.counts.lines += 1
        try:
            found = self._read(line.decode() if isinstance(line, bytes) else line)
            for change in found:
                self.apply(change)
            return found
        except UnicodeDecodeError:
            raise error("XSCX0002", at=DataPlace(self.name, line=self.counts.lines)) from None
        except Error as refused:
            raise refused.located(DataPlace(self.name, line=self.counts.lines)) from None

    def _read(self, text: str) -> list[Change]:
        if not text.strip():
            return []
        at = restarts(text)
        if at is not None:
            return [Change(at, -1, key, None, item, self.query) for key, item in self._answer]
        change = Change.from_json(text)
        if change.query != self.query:
            self._pass_by(change)
            return []
        return [change]

    def _pass_by(self, change: Change) -> None:
        """A change of a query that is not followed; an error unless one was chosen."""
        if not self.query:
            raise error(
                "XSCC0001", f"the change is of the query {change.query}, one of several",
                hint=f'choose one: ChangeReader(query="{change.query}")',
            )  # fmt: skip

    def feed(self, chunk: bytes) -> list[Change]:
        """Read bytes, cut anywhere → the changes of the lines that they completed."""
        *lines, self._kept = (self._kept + chunk).split(b"\n")
        return [change for line in lines for change in self.changes(line)]

    def close(self) -> list[Change]:
        """End the input → the change of a last line without an end."""
        line, self._kept = self._kept, b""
        return self.changes(line) if line else []

    def read(self, lines: Iterable[str | bytes]) -> Iterator[ChangeReader]:
        """Itself after each change: the current answer, step by step."""
        for line in lines:
            if self.take(line) is not None:
                yield self


def read(lines: Iterable[str | bytes], name: str = "changes") -> Iterator[ChangeReader]:
    """The answer after each change of a stream of changes."""
    return ChangeReader(name).read(lines)
