"""Update streams applied as they come: the same content as the reference, at every event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, assert_never

from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.events import Event, Kind, Token
from xstreamcast.edges.updates.tree import (
    Leaf,
    Region,
    TreeElement,
    TreeNode,
    everything,
    tokens,
)
from xstreamcast.errors import Error, error

FIRST: Final = "0"  # the stream that need not be begun


@dataclass(slots=True)
class EventCounts:
    """What has passed."""

    events: int = 0  # refused ones included
    updates: int = 0  # replacements and insertions begun, hides, shows and freezes
    refused: int = 0


class Regions:
    """The streams of an update stream and the regions in them.

    take(e1), …, take(en)  →  current() = apply([e1, …, en]); a refused event changes nothing.
    `touched` is called for each place below which something changed.
    """

    def __init__(self, touched: Callable[[TreeNode], None] = lambda place: None) -> None:
        self.counts = EventCounts()
        self.top = TreeNode()
        self._named: dict[str, Region] = {}
        self._frozen: set[str] = set()  # all that is left of a frozen region is its id
        self._places = 0
        self._touched = touched

    def __len__(self) -> int:
        """How many streams and regions can be named."""
        return len(self._named)

    def current(self) -> list[Token]:
        """The tokens that count, in order."""
        return list(tokens(self.top))

    def named(self, id: str) -> Region | None:
        """What an id means now."""
        return self._named.get(id)

    def is_between_items(self, id: str) -> bool:
        """Whether nothing is open in this stream."""
        stream = self._named[id]
        return stream.begun is None and stream.cursor is stream

    def take(self, event: Event) -> None:
        """Apply an event; an error if it does not fit."""
        self.counts.events += 1
        try:
            self._take(event)
        except Error:
            self.counts.refused += 1
            raise

    def _take(self, event: Event) -> None:
        match event:
            case e.StartElement(id, tag, attributes):
                self._open(self._writable(id), TreeElement(("sE", tag, attributes)))
            case e.EndElement(id, tag):
                self._close(id, tag, ("eE", tag))
            case e.CharacterData(id, text):
                self._leaf(id, ("cD", text))
            case e.Comment(id, text):
                self._leaf(id, ("comment", text))
            case e.Instruction(id, target, text):
                self._leaf(id, ("pi", target, text))
            case e.StartTuple(id):
                known = id in self._named or id in self._frozen
                region = self._writable(id) if known else self._stream(id)
                self._open(region, TreeElement(("sT",)))
            case e.EndTuple(id):
                self._close(id, "", ("eT",))
            case e.StartStream(id):
                self._check_free(id)
                self._let_go(id)
                self._stream(id)
            case e.EndStream(id):
                self._end_stream(id)
            case e.Begin(kind, target, id):
                self._begin(event, kind, target, id)
            case e.End(_, _, id):
                self._end(event, id)
            case e.Freeze(id):
                self._freeze(id)
            case e.Hide(id):
                self._set_hidden(self._region(id), True)
            case e.Show(id):
                self._set_hidden(self._region(id), False)
            case e.At():
                pass
            case _:
                assert_never(event)

    # -- content ----------------------------------------------------------------------------------

    def _leaf(self, id: str, token: Token) -> None:
        region = self._writable(id)
        region.cursor.append(Leaf(token))
        self._touched(region.cursor)

    def _open(self, region: Region, branch: TreeElement) -> None:
        region.cursor.append(branch)
        self._touched(region.cursor)
        region.cursor = branch
        self._touched(branch)

    def _close(self, id: str, tag: str, ending: Token) -> None:
        region = self._writable(id)
        branch = region.cursor
        opened = branch.token if isinstance(branch, TreeElement) else None
        if (
            not isinstance(branch, TreeElement)
            or opened is None
            or (opened[1:2] or ("",))[0] != tag
        ):
            found = "nothing" if opened is None else _shown(opened)
            what = f"element {tag}" if tag else "a tuple"
            raise error("XSCE0003", f"{what} must be what is open in {id}; got {found}")
        branch.ending = ending
        assert branch.above is not None
        region.cursor = branch.above
        self._touched(branch)

    # -- streams and regions ----------------------------------------------------------------------

    def _stream(self, id: str) -> Region:
        self._frozen.discard(id)
        self._named[id] = stream = Region(id, None)
        self.top.append(stream)
        return stream

    def _end_stream(self, id: str) -> None:
        stream = self._writable(id)
        if stream.begun is not None or stream.cursor is not stream:
            raise error("XSCE0003", f"eS({id}) must end a stream in which nothing is open")
        stream.ended = True

    def _begin(self, event: e.Begin, kind: Kind, target: str, id: str) -> None:
        place = self._writable(target) if kind == "M" else self._region(target)
        if kind in "RA" and not place.ended:
            raise error("XSCE0005", f"region {target} must have ended before {_name(event)}")
        itself = kind == "R" and target == id
        if not itself:
            self._check_free(id)
        self.counts.updates += kind != "M"
        if kind == "R":
            self._take_away(place)
        if itself:
            place.begun, place.ended, place.counts = event, False, {}
            return
        new = Region(id, event, place.slot if kind == "R" else self._slot(id))
        new.placed = place.placed
        if kind in "MR":
            place.cursor.append(new)
        else:
            place.put_beside(new, after=kind == "A")
        self._let_go(id)
        self._frozen.discard(id)
        self._named[id] = new

    def _end(self, event: e.End, id: str) -> None:
        region = self._writable(id)
        begun = region.begun
        if begun is None or (begun.kind, begun.target) != (event.kind, event.target):
            got = _name(begun) if begun else "a stream"
            raise error("XSCE0003", f"{_name(event)} must end what {id} began as; that is {got}")
        if region.cursor is not region:
            raise error("XSCE0003", f"{_name(event)} comes while an element of {id} is open")
        region.ended = True
        if not region.placed:
            del self._named[id]
        elif region.frozen:
            self._settle(id, region)

    def _freeze(self, id: str) -> None:
        if id in self._frozen:
            return
        region = self._region(id, frozen_too=True)
        self.counts.updates += 1
        region.frozen = True
        if region.hidden:
            self._take_away(region)
        if region.ended:
            self._settle(id, region)

    def _settle(self, id: str, region: Region) -> None:
        """Nothing will become of a frozen region: its content stays, the region is forgotten."""
        if region.hidden:  # what came after the freeze goes too
            self._take_away(region)
        del self._named[id]
        self._frozen.add(id)
        above = region.above
        assert above is not None
        region.dissolve()
        self._touched(above)

    def _set_hidden(self, region: Region, hidden: bool) -> None:
        self.counts.updates += 1
        region.hidden = hidden
        self._touched(region)

    def _take_away(self, region: Region) -> None:
        """Empty a region; what could be named in it cannot be named any more."""
        child = region.empty()
        while child is not None:
            for place in everything(child):
                if isinstance(place, TreeElement):
                    place.gone = True
                elif isinstance(place, Region):
                    place.placed = False
                    if place.ended and self._named.get(place.id) is place:
                        del self._named[place.id]
            child = child.behind
        self._touched(region)

    def _let_go(self, id: str) -> None:
        """Free an id: what it meant stays where it is, but cannot be named any more."""
        old = self._named.pop(id, None)
        if old is not None and old.begun is not None and old.placed and not old.hidden:
            assert old.above is not None
            old.dissolve()
            self._touched(old.above)

    def _check_free(self, id: str) -> None:
        old = self._named.get(id)
        if old is not None and not old.ended:
            raise error("XSCE0005", f"{id} must have ended before it begins again")

    def _slot(self, id: str) -> str:
        """A name for the place of a region that no other place has."""
        self._places += 1
        return f"{self._places}.{id}"

    def _writable(self, id: str) -> Region:
        found = self._named.get(id)
        if id in self._frozen:
            raise error("XSCE0005", f"region {id} has ended, and is frozen")
        if found is None and id == FIRST:
            found = self._stream(id)
        if found is None:
            raise error("XSCE0002", f"there is no stream or region {id}", hint=_GONE)
        if found.ended:
            raise error("XSCE0005", f"{'region' if found.begun else 'stream'} {id} has ended")
        return found

    def _region(self, id: str, frozen_too: bool = False) -> Region:
        """A region that may be updated."""
        found = self._named.get(id)
        if id in self._frozen:
            raise error("XSCE0004", f"region {id} is frozen: it takes no more updates")
        if found is None or found.begun is None or not found.placed:
            raise error("XSCE0002", f"there is no region {id}", hint=_GONE)
        if found.frozen and not frozen_too:
            raise error("XSCE0004", f"region {id} is frozen: it takes no more updates")
        return found


_GONE: Final = "it never began, or was replaced together with its surroundings"


def _name(event: e.Begin | e.End) -> str:
    edge = "s" if isinstance(event, e.Begin) else "e"
    return f"{edge}{event.kind}({event.target},{event.id})"


def _shown(opened: Token) -> str:
    return "a tuple" if opened[0] == "sT" else f"element {opened[1]}"
