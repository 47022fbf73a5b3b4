"""An answer's changes in the alphabet of update streams, and the answer that such events describe.

Each key is a region with one tuple in it, the item. An empty region comes before them all, so
that the first item, too, is inserted behind a region.

    + key after k    →  sA(k, key) sT … eT eA(k, key)
    - key, + key     →  sR(key, key) sT … eT eR(key, key)     where it stays in its place
    - key            →  sR(key, key) eR(key, key) freeze(key)

items(apply(events of changes))  =  items of the accumulated changes
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.events import Event, Kind, Token
from xstreamcast.edges.updates.writing import parsed, xml
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.instant import NOW, START

ANSWER: Final = "answer"  # the stream
FIRST: Final = "first"  # the empty region at its head


class EventWriter:
    """The events of an answer, batch by batch of changes."""

    def __init__(
        self, answer: Accumulated | None = None, begun: bool = False, instant: int | None = None
    ) -> None:
        """At the beginning of an answer, or behind one that was written before."""
        self.answer = Accumulated() if answer is None else answer
        self.begun, self.instant = begun, instant

    def write(self, changes: Iterable[Change]) -> Iterator[Event]:
        """The events of these changes; a revision must not span batches."""
        yield from self.begin()
        waiting: Change | None = None  # what goes, until it is seen whether it comes back
        for change in changes:
            if waiting is not None and (change.diff < 0 or change.key != waiting.key):
                yield from self._write_removal(waiting)
                waiting = None
            if change.diff < 0:
                waiting = change
                continue
            yield from self._write_item(change, waiting)
            waiting = None
        if waiting is not None:
            yield from self._write_removal(waiting)

    def begin(self) -> Iterator[Event]:
        """The region before the first item."""
        if not self.begun:
            self.begun = True
            yield e.StartStream(ANSWER)
            yield from (e.Begin("M", ANSWER, FIRST), e.End("M", ANSWER, FIRST))

    def end(self) -> Iterator[Event]:
        """What is said when no more items will come."""
        yield from self.begin()
        yield e.EndStream(ANSWER)

    def _write_item(self, change: Change, gone: Change | None) -> Iterator[Event]:
        stays = gone is not None and self.answer.behind(change.key) == change.after
        if gone is not None:
            self.answer.apply(gone)
        self.answer.apply(change)
        id = region(change.key)
        if gone is not None and not stays:
            yield from self._at(gone.instant)
            yield from _emptied(id)
        yield from self._at(change.instant)
        target = id if stays else FIRST if change.after is None else region(change.after)
        kind: Kind = "R" if stays else "A"
        yield from (e.Begin(kind, target, id), e.StartTuple(id))
        yield from item_events(id, change.item)
        yield from (e.EndTuple(id), e.End(kind, target, id))

    def _write_removal(self, change: Change) -> Iterator[Event]:
        self.answer.apply(change)
        id = region(change.key)
        yield from self._at(change.instant)
        yield from _emptied(id)
        yield e.Freeze(id)

    def _at(self, instant: int) -> Iterator[Event]:
        if instant != self.instant:
            self.instant = instant
            yield e.At(instant, instant not in (START, NOW))


def region(key: str) -> str:
    """The region of a key."""
    return f"key:{key}"


def _emptied(id: str) -> tuple[Event, Event]:
    return e.Begin("R", id, id), e.End("R", id, id)


def item_events(id: str, item: str) -> Iterator[Event]:
    """An item as events: nodes as what they are made of, a value as text."""
    tokens = parsed(item) if item.startswith("<") else None
    for token in [("cD", item)] if tokens is None else tokens:
        match token:
            case "sE", str(tag), tuple(attributes):
                yield e.StartElement(id, tag, attributes)
            case "eE", str(tag):
                yield e.EndElement(id, tag)
            case "comment", str(text):
                yield e.Comment(id, text)
            case "pi", str(target), str(text):
                yield e.Instruction(id, target, text)
            case _:
                yield e.CharacterData(id, str(token[1]))


def items(tokens: Iterable[Token]) -> list[str]:
    """The items in the current content of an answer: a tuple each."""
    found: list[str] = []
    inner: list[Token] | None = None
    for token in tokens:
        if token[0] == "sT":
            inner = []
        elif token[0] == "eT" and inner is not None:
            found.append(_item(inner))
            inner = None
        elif inner is not None:
            inner.append(token)
    return found


def _item(tokens: Sequence[Token]) -> str:
    if all(token[0] == "cD" for token in tokens):
        return "".join(str(token[1]) for token in tokens)
    return xml(tokens)
