"""The reference semantics of update streams: lists of tokens with regions in them.

A region is a place: it is in the list of the stream or region that it is part of. Its content
is a list of its own.

    sM(i, j)   region j is at the end of i, as far as is known
    sR(i, j)   the content of i is region j alone; if j is i, it is i with nothing in it
    sB(i, j)   region j is directly before region i
    sA(i, j)   region j is directly behind region i
    hide(i)    the content of i does not count, whatever becomes of it, until show(i)
    freeze(i)  updates of i are refused from now on; if it is hidden, its content is gone

An id that is used again means the new region; the old one stays where it is, out of reach. So is
what a replacement took away. An event that does not fit is refused and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.events import Event, Kind, Token
from xstreamcast.errors import error

FIRST = "0"  # the stream that need not be begun: examples seldom do


def apply(events: Iterable[Event]) -> list[Token]:
    """The current content of all streams, in the order in which they began."""
    reference = Reference()
    for event in events:
        reference.take(event)
    return reference.current()


@dataclass(slots=True, eq=False)
class _Region:
    """A stream (`begun` is None) or region, and the elements and tuples that are open in it."""

    begun: e.Begin | None
    parts: list[Token | _Region] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    ended: bool = False
    hidden: bool = False
    frozen: bool = False


class Reference:
    """The current content, computed from the top on every call."""

    def __init__(self) -> None:
        self._streams: list[_Region] = []
        self._named: dict[str, _Region] = {}

    def current(self, closing: bool = False) -> list[Token]:
        """The tokens that count, in order; `closing`: as if all that is open ended now."""
        return [token for stream in self._streams for token in _shown(stream, closing)]

    def take(self, event: Event) -> None:
        """Apply an event."""
        match event:
            case e.StartStream(id):
                self._check_free(id)
                self._stream(id)
            case e.EndStream(id):
                stream = self._writable(id)
                if stream.begun is not None or stream.open:
                    raise error("XSCE0003", f"eS({id}) must end a stream without open elements")
                stream.ended = True
            case e.StartTuple(id):
                where = self._writable(id) if self._means_something(id) else self._stream(id)
                where.parts.append(("sT",))
                where.open.append("")
            case e.EndTuple(id):
                self._close(id, "").append(("eT",))
            case e.StartElement(id, tag, attributes):
                where = self._writable(id)
                where.parts.append(("sE", tag, attributes))
                where.open.append(tag)
            case e.EndElement(id, tag):
                self._close(id, tag).append(("eE", tag))
            case e.CharacterData(id, text):
                self._writable(id).parts.append(("cD", text))
            case e.Comment(id, text):
                self._writable(id).parts.append(("comment", text))
            case e.Instruction(id, target, text):
                self._writable(id).parts.append(("pi", target, text))
            case e.Begin(kind, target, id):
                self._begin(event, kind, target, id)
            case e.End(_, _, id):
                region = self._writable(id)
                if region.begun != e.Begin(event.kind, event.target, id) or region.open:
                    raise error("XSCE0003", f"the end of region {id} does not fit")
                region.ended = True
            case e.Freeze(id):
                region = self._region(id, frozen_too=True)
                region.frozen = True
                if region.hidden:
                    region.parts = []
            case e.Hide(id):
                self._region(id).hidden = True
            case e.Show(id):
                self._region(id).hidden = False
            case e.At():
                pass
            case _:
                assert_never(event)

    def _begin(self, event: e.Begin, kind: Kind, target: str, id: str) -> None:
        place = self._writable(target) if kind == "M" else self._region(target)
        if kind in "RA" and not place.ended:
            raise error("XSCE0005", f"region {target} must have ended before this update of it")
        if kind == "R" and target == id:
            place.begun, place.ended, place.parts = event, False, []
            return
        self._check_free(id)
        new = _Region(event)
        if kind == "M":
            place.parts.append(new)
        elif kind == "R":
            place.parts = [new]
        else:
            _insert(self._streams, place, new, after=kind == "A")
        self._named[id] = new

    def _stream(self, id: str) -> _Region:
        self._named[id] = _Region(None)
        self._streams.append(self._named[id])
        return self._named[id]

    def _known(self, id: str) -> _Region:
        """The stream or region of an id: a complete one, or one that is still open."""
        if id == FIRST and id not in self._named:
            self._stream(id)
        if not self._means_something(id):
            raise error("XSCE0002", f"there is no stream or region {id}")
        return self._named[id]

    def _means_something(self, id: str) -> bool:
        found = self._named.get(id)
        return found is not None and (not found.ended or _stands(self._streams, found))

    def _writable(self, id: str) -> _Region:
        found = self._known(id)
        if found.ended:
            raise error("XSCE0005", f"stream or region {id} has ended")
        return found

    def _region(self, id: str, frozen_too: bool = False) -> _Region:
        """A region that may be updated."""
        found = self._named.get(id)
        if found is None or found.begun is None or not _stands(self._streams, found):
            raise error("XSCE0002", f"there is no region {id}")
        if found.frozen and not frozen_too:
            raise error("XSCE0004", f"region {id} is frozen")
        return found

    def _check_free(self, id: str) -> None:
        """An id may be used again once what it meant has ended."""
        if id in self._named and not self._named[id].ended:
            raise error("XSCE0005", f"{id} must have ended before it begins again")

    def _close(self, id: str, tag: str) -> list[Token | _Region]:
        where = self._writable(id)
        if not where.open or where.open[-1] != tag:
            raise error("XSCE0003", f"nothing in {id} is open that this could end")
        where.open.pop()
        return where.parts


def _insert(lists: list[_Region], place: _Region, new: _Region, after: bool) -> None:
    for region in lists:
        if place in region.parts:
            region.parts.insert(region.parts.index(place) + after, new)
        _insert([part for part in region.parts if isinstance(part, _Region)], place, new, after)


def _stands(lists: list[_Region], wanted: _Region) -> bool:
    return any(
        region is wanted
        or _stands([part for part in region.parts if isinstance(part, _Region)], wanted)
        for region in lists
    )


def _shown(region: _Region, closing: bool) -> Iterator[Token]:
    if region.hidden:
        return
    for part in region.parts:
        if isinstance(part, _Region):
            yield from _shown(part, closing)
        else:
            yield part
    if closing:
        yield from (("eE", tag) if tag else ("eT",) for tag in reversed(region.open))
