"""The tuples of a stream as elements: what an answer looks like to a query that reads it.

sT(i) sE(i,a) … eE(i,a) eT(i)  →  sE(i,a) … eE(i,a)            an element is itself
sT(i) cD(i,"5") eT(i)          →  sE(i,item) cD(i,"5") eE(i,item)    an item contains a value
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.events import Event

ROOT: Final = "answer"  # the element around the items of an answer
ITEM: Final = "item"  # the element around an item that is no element


class Tuples:
    """Events with tuples to events without, one at a time; content decides its kind."""

    def __init__(self) -> None:
        self._begun: set[str] = set()  # tuples of which nothing has come yet
        self._wrapped: dict[str, bool] = {}  # whether an element represents the tuple

    def take(self, event: Event) -> Iterator[Event]:
        """The replacement of an event."""
        match event:
            case e.StartTuple(id) if id not in self._wrapped and id not in self._begun:
                self._begun.add(id)
            case e.EndTuple(id) if id in self._begun:
                yield from self._open(id)
                yield e.EndElement(id, ITEM)
                del self._wrapped[id]
            case e.EndTuple(id) if id in self._wrapped:
                if self._wrapped.pop(id):
                    yield e.EndElement(id, ITEM)
            case e.StartElement(id) if id in self._begun:
                self._begun.discard(id)
                self._wrapped[id] = False
                yield event
            case e.Begin("M", id, _) | e.CharacterData(id) | e.Comment(id) | e.Instruction(id) if (
                id in self._begun
            ):
                yield from self._open(id)
                yield event
            case _:
                yield event

    def _open(self, id: str) -> Iterator[Event]:
        self._begun.discard(id)
        self._wrapped[id] = True
        yield e.StartElement(id, ITEM)
