"""The forms in which changes are written. Some must know the answer that was written before.

A query that starts again hands its form what was written already: changes of the journal's ticks
(`recall`), or what a snapshot kept of it (`restore`). From then on the form writes to the byte what
it would have written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.update import RankedAnswer, Update

if TYPE_CHECKING:
    from xstreamcast.edges.updates.output import EventOutput

FORMS: Final = ("changes", "updates", "lines", "xml", "events", "events-xml")
ONE_BY_ONE: Final = ("changes", "updates", "lines")  # forms that several queries can share


class WrittenAnswer(NamedTuple):
    """What a form must know of what it wrote: the answer, and the instant of the last event.

    Of several queries, the answers follow each other; `queries` has for each its name, the number
    of its items, the number of its changes so far, and a digest of them. Updates are written with
    ranks: in place of items there are the ranks of the keys.
    """

    keys: list[str]
    items: list[str]
    begun: bool = False
    instant: int | None = None
    queries: Sequence[tuple[str, int, int, str]] = ()

    @staticmethod
    def of(answer: Accumulated, begun: bool = False, instant: int | None = None) -> WrittenAnswer:
        """An answer in its order."""
        pairs = list(answer)
        return WrittenAnswer([key for key, _ in pairs], [item for _, item in pairs], begun, instant)

    def answer(self) -> Accumulated:
        """The answer again."""
        rows = zip(self.keys, [None, *self.keys], self.items, strict=False)
        return Accumulated(Change(0, 1, key, after, item) for key, after, item in rows)


class OutputForm(Protocol):
    """Changes to text."""

    def write(self, changes: Sequence[Change]) -> str:
        """What is written for the changes of a tick."""

    def close(self) -> str:
        """What is written when no more changes will come."""

    def recall(self, changes: Sequence[Change]) -> None:
        """Add changes that were written before."""

    def written(self) -> WrittenAnswer | None:
        """What a snapshot must keep; None: each change is written for itself."""

    def restore(self, written: WrittenAnswer) -> None:
        """Continue from what a snapshot kept."""


def form_of(name: str) -> OutputForm:
    """The form of a name."""
    match name:
        case "changes":
            return ChangeLines(changes=True)
        case "lines":
            return ChangeLines(changes=False)
        case "updates":
            return UpdateLines()
        case "xml":
            return AnswerXml()
        case "events" | "events-xml":
            from xstreamcast.edges.updates.output import EventOutput

            return EventForm(EventOutput("lines" if name == "events" else "xml"))
    raise ValueError(name)


class ChangeLines:
    """A line for each change: JSON, or the item behind + or -."""

    def __init__(self, changes: bool) -> None:
        self._line = Change.to_json if changes else _signed

    def write(self, changes: Sequence[Change]) -> str:
        return "".join(self._line(change) + "\n" for change in changes)

    def close(self) -> str:
        return ""

    def recall(self, changes: Sequence[Change]) -> None:
        """A line says nothing of those before it."""

    def written(self) -> WrittenAnswer | None:
        return None

    def restore(self, written: WrittenAnswer) -> None:
        """A line says nothing of those before it."""


def _signed(change: Change) -> str:
    said = f"{'+' if change.diff > 0 else '-'} {change.item}"
    return f"{change.query} {said}" if change.query else said


class UpdateLines:
    """A line of JSON for each key that a tick changed: its rank and item, or that it is gone."""

    def __init__(self) -> None:
        self._ranked: dict[str, RankedAnswer] = {}  # by query

    def write(self, changes: Sequence[Change]) -> str:
        return "".join(f"{one.to_json(query)}\n" for query, one in self._updates(changes))

    def close(self) -> str:
        return ""

    def recall(self, changes: Sequence[Change]) -> None:
        for _ in self._updates(changes):
            pass

    def _updates(self, changes: Sequence[Change]) -> Iterator[tuple[str, Update]]:
        for query, own in groupby(changes, key=attrgetter("query")):
            ranked = self._ranked.setdefault(query, RankedAnswer())
            yield from ((query, one) for one in ranked.updates(own))

    def written(self) -> WrittenAnswer:
        pairs = [pair for one in self._ranked.values() for pair in one.ranks.items()]
        facts = [(query, len(one.ranks), one.ticks, "") for query, one in self._ranked.items()]
        return WrittenAnswer(
            [key for key, _ in pairs], [rank.hex() for _, rank in pairs], queries=facts
        )

    def restore(self, written: WrittenAnswer) -> None:
        at = 0
        for query, length, ticks, _ in written.queries:
            keys, ranks = written.keys[at : at + length], written.items[at : at + length]
            at += length
            pairs = zip(keys, map(bytes.fromhex, ranks), strict=True)
            self._ranked[query] = RankedAnswer.of(dict(pairs), ticks)


class AnswerXml:
    """The answer as one element, when no more changes will come."""

    def __init__(self) -> None:
        self._answer = Accumulated()

    def write(self, changes: Sequence[Change]) -> str:
        self.recall(changes)
        return ""

    def close(self) -> str:
        lines = map(_content, self._answer.items())
        return "".join(f"{line}\n" for line in ("<results>", *lines, "</results>"))

    def recall(self, changes: Iterable[Change]) -> None:
        for change in changes:
            self._answer.apply(change)

    def written(self) -> WrittenAnswer:
        return WrittenAnswer.of(self._answer)

    def restore(self, written: WrittenAnswer) -> None:
        self._answer = written.answer()


def _content(item: str) -> str:
    """An item as content of an element: a node as it is, a value escaped."""
    from xstreamcast.edges.updates.writing import parsed
    from xstreamcast.model.markup import escape

    return item if item.startswith("<") and parsed(item) is not None else escape(item)


class EventForm:
    """The answer as an update stream."""

    def __init__(self, output: EventOutput) -> None:
        self._output = output

    def write(self, changes: Sequence[Change]) -> str:
        return self._output.write(changes).decode()

    def close(self) -> str:
        return self._output.close().decode()

    def recall(self, changes: Sequence[Change]) -> None:
        if changes:  # if nothing was emitted, nothing was begun
            self._output.write(changes)

    def written(self) -> WrittenAnswer:
        writer = self._output.writer
        return WrittenAnswer.of(writer.answer, writer.begun, writer.instant)

    def restore(self, written: WrittenAnswer) -> None:
        self._output.go_on(written.answer(), written.begun, written.instant)
