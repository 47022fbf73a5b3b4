"""State adjustment: transforming an update stream without ever applying it.

A state transformer f takes a plain event and a state and gives events and a state; f* takes a
sequence. adjust(s, s1, s2) is what the state s becomes if an earlier state s1 turns out to be s2:

    adjust(s1, s2, s2) = s1
    adjust(s1, s1, s2) = s2
    adjust(f*(v, s1), s2, s3) = f*(v, adjust(s1, s2, s3))          for well-formed v

The wrapper W makes of f a transformer of update streams: it keeps the state at the start and at
the end of every region, and adjusts those that come later when a region changes. The law:

    apply(W(events)) = f*(apply(events), z)

Where the paper's wrapper and this one differ: regions are ordered as they stand (there, all
regions of one stream have the same order, so none would be adjusted for another); a state is
adjusted at every event, not at the end of an update only, so that the law holds at every prefix;
and a hidden region goes on keeping its states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from xstreamcast.edges.updates import events as e
from xstreamcast.edges.updates.events import Event, Token

S = TypeVar("S")


@dataclass(frozen=True)
class Transformer(Generic[S]):
    """f, its first state, and how its state is adjusted."""

    step: Callable[[Token, S], tuple[list[Token], S]]
    zero: S
    adjust: Callable[[S, S, S], S]

    def whole(self, tokens: list[Token], state: S) -> tuple[list[Token], S]:
        """f*"""
        out: list[Token] = []
        for token in tokens:
            more, state = self.step(token, state)
            out += more
        return out, state


@dataclass(eq=False)
class _Region(Generic[S]):
    id: str
    start: S
    end: S
    hidden: bool = False


@dataclass(eq=False)
class _Mark(Generic[S]):
    region: _Region[S]
    is_end: bool


class Wrapper(Generic[S]):
    """W, for the one stream 0."""

    def __init__(self, f: Transformer[S]) -> None:
        self._f = f
        stream = _Region("0", f.zero, f.zero)
        self._marks = [_Mark(stream, False), _Mark(stream, True)]
        self._named = {"0": stream}

    @property
    def state(self) -> S:
        """The state at the end of the stream."""
        return self._marks[-1].region.end

    def take(self, event: Event) -> Iterator[Event]:
        """W of one event that fits."""
        match event:
            case e.Begin(kind, target, id):
                self._begin(kind, self._named[target], id)
                yield event
            case e.Hide(id) | e.Show(id):
                region = self._named[id]
                hidden = isinstance(event, e.Hide)
                if hidden != region.hidden:
                    before, now = (region.end, region.start)[:: 1 if hidden else -1]
                    region.hidden = False  # what follows is told, whatever was hidden
                    self._adjust_after(region, before, now)
                    region.hidden = hidden
                yield event
            case e.End() | e.Freeze() | e.At() | e.EndStream() | e.StartStream():
                yield event
            case _:
                region = self._named[event.id]
                out, new = self._f.step(_token(event), region.end)
                self._move_end(region, new)
                yield from (_event(event.id, token) for token in out)

    def _begin(self, kind: str, target: _Region[S], id: str) -> None:
        if kind == "R":
            first, last = self._place(target, False), self._place(target, True)
            self._move_end(target, target.start)
            del self._marks[first + 1 : last]
            if target is self._named.get(id):
                return
        place = self._place(target, kind in "MRA") + (kind == "A")
        before = kind in "RB" or (kind == "A" and target.hidden)
        state = target.start if before else target.end
        self._named[id] = region = _Region(id, state, state)
        self._marks[place:place] = [_Mark(region, False), _Mark(region, True)]

    def _place(self, region: _Region[S], is_end: bool) -> int:
        return next(
            i for i, m in enumerate(self._marks) if m.region is region and m.is_end == is_end
        )

    def _move_end(self, region: _Region[S], new: S) -> None:
        old, region.end = region.end, new
        self._adjust_after(region, old, new)

    def _adjust_after(self, region: _Region[S], old: S, new: S) -> None:
        """Adjust all that stands behind a region; not beyond a hidden one that it stands in."""
        marks = [m.region for m in self._marks]
        if region not in marks or region.hidden or old == new:
            return
        at = self._place(region, True) + 1
        seen = {m.region for m in self._marks[:at]}
        for mark in self._marks[at:]:
            other = mark.region
            if mark.is_end:
                other.end = self._f.adjust(other.end, old, new)
                if other.hidden and other in seen:
                    return
            else:
                other.start = self._f.adjust(other.start, old, new)


def _token(event: Event) -> Token:
    match event:
        case e.StartElement(_, tag, attributes):
            return "sE", tag, attributes
        case e.EndElement(_, tag):
            return "eE", tag
        case e.CharacterData(_, text):
            return "cD", text
        case e.StartTuple():
            return ("sT",)
        case _:
            return ("eT",)


def _event(id: str, token: Token) -> Event:
    match token:
        case "sE", str(tag), tuple(attributes):
            return e.StartElement(id, tag, attributes)
        case "eE", str(tag):
            return e.EndElement(id, tag)
        case _:
            return e.CharacterData(id, str(token[1]))


def child_step(tag: str) -> Transformer[tuple[int, bool]]:
    """The step /tag of section II: inert, so that nothing has to be adjusted."""

    def step(token: Token, state: tuple[int, bool]) -> tuple[list[Token], tuple[int, bool]]:
        depth, passes = state
        if token[0] == "sE":
            passes = passes or (depth == 1 and token[1] == tag)
            depth += 1
        elif token[0] == "eE":
            depth -= 1
            if depth == 1 and passes:
                return [token], (depth, False)
        return [token] if passes else [], (depth, passes)

    return Transformer(step, (0, False), lambda s, s1, s2: s)


def _added(s: int, s1: int, s2: int) -> int:
    return s + (s2 - s1)


def counting(kind: str, said: str | None = None) -> Transformer[int]:
    """How many tokens of a kind there are: section III's counter, kept as its state."""

    def step(token: Token, state: int) -> tuple[list[Token], int]:
        return [], state + (token[0] == kind and said in (None, token[1]))

    return Transformer(step, 0, _added)
