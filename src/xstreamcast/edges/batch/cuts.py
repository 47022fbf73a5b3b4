"""Places to cut a document at, found by all cores: chunks of it are followed before it is known
what is open where they begin.

A chunk is followed from its first `<`, as if that were markup. What it then leaves open and closes
is put together in order; where the markup before it ends at another place, it is followed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.cut import Guard

CHUNK: Final = 1 << 20  # bytes that are followed at a time
_ROOM: Final = 1 << 10  # elements that a chunk may leave open, at first


class Unmatched(Exception):
    """Tags that do not match, or markup that does not end."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What the markup between two places does to the elements that are open."""

    entry: int
    exit: int
    closed: int  # elements that it closes and did not open
    opened: list[int]  # where the start tags begin that it leaves open
    flags: list[int]  # whether a held child is among what is below each of them
    below: bool  # whether one is below the element around those that were closed


@dataclass(frozen=True, slots=True)
class ByteBoundary:
    """A place between elements, and where the start tags begin that are open there."""

    at: int
    open: list[int]


class Document:
    """The bytes of a document, and the names that say where it must not be cut."""

    def __init__(self, data: Any, guards: Sequence[Guard], held: Sequence[Guard]) -> None:
        self.data, self.size, self.base = data, len(data), data.ctypes.data
        self._names, self._held = _names(guards), _names(held)

    def effect(self, begin: int, end: int, limit: int) -> Effect:
        """What happens from the `<` at `begin` to the first one at or behind `end`.

        Unmatched if some markup ends behind `limit`.
        """
        from xstreamcast.tape.tokenize import markup_kernels as kernels

        room, counters = _ROOM, np.zeros(3, np.int64)
        while True:
            stack, flags = np.empty(room, np.int64), np.zeros(room, np.uint8)
            count = kernels.left_open(
                self.base, limit, begin, end, *self._held, stack, flags, counters
            )  # fmt: skip
            if count != kernels.FULL:
                break
            room *= 8
        if count == kernels.UNFINISHED:
            raise Unmatched
        exit_, closed, below = counters.tolist()
        exit_ = exit_ if exit_ < limit else self.first(limit)
        return Effect(
            begin, exit_, closed, stack[:count].tolist(), flags[:count].tolist(), bool(below)
        )

    def first(self, at: int) -> int:
        """The place of the first `<` from here on, or the end."""
        from xstreamcast.tape.tokenize import markup_kernels as kernels

        return int(kernels.first_less(self.base, at, self.size))

    def is_called(self, at: int) -> bool:
        """Whether the element whose start tag begins here has a name that forbids a cut in it."""
        from xstreamcast.tape.tokenize import markup_kernels as kernels

        return bool(kernels.has_name(self.base, at, self.size, *self._names))

    def places(self, state: Any, open_: Any, end: int, level: int, wanted: int) -> int:
        from xstreamcast.tape.tokenize import markup_kernels as kernels

        return int(
            kernels.next_place(
                self.base, self.size, end, level, wanted, *self._names, *self._held, open_, state
            )
        )


def _names(guards: Sequence[Guard]) -> tuple[Any, Any]:
    """Local names end to end, and where each ends; namespaces are ignored."""
    names = [name.encode() for _, name in guards]
    ends = np.cumsum(np.array([len(one) for one in names], np.int64), dtype=np.int64)
    return np.frombuffer(b"".join(names), np.uint8), ends


@dataclass(slots=True)
class Following:
    """The elements that are open at a place, as chunks are put together."""

    document: Document
    level: int
    step: int
    at: int = 0
    wanted: int = 0
    open: list[int] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)  # which have had a held child

    def take(self, effect: Effect) -> Iterator[ByteBoundary]:
        """Go over a chunk → the places in it."""
        lowest = len(self.open) - effect.closed
        if lowest < 0:
            raise Unmatched
        if self.wanted < effect.exit and lowest <= self.level:
            yield from self._places(effect, lowest)
        del self.open[lowest:], self.flags[lowest:]
        if effect.below and lowest:
            self.flags[-1] = 1
        self.open += effect.opened
        self.flags += effect.flags
        self.at = effect.exit

    def _places(self, effect: Effect, lowest: int) -> Iterator[ByteBoundary]:
        depth, level = len(self.open), self.level
        around = self.open[:level]
        whole = next((i + 1 for i, at in enumerate(around) if self.document.is_called(at)), 0)
        held = next(compress(range(1, level + 1), self.flags), 0)
        if (whole and lowest >= whole) or (held and lowest >= held):
            return
        state = np.array([self.at, depth, whole, held], np.int64)
        open_ = np.zeros(level, np.int64)
        open_[: len(around)] = around
        while True:
            at = self.document.places(state, open_, effect.exit, level, self.wanted)
            if at < 0:
                return
            yield ByteBoundary(at, open_[: int(state[1])].tolist())
            self.wanted = at + self.step


def places(
    data: Any, level: int, step: int, guards: Sequence[Guard], held: Sequence[Guard],
    threads: int, chunk: int = CHUNK,
) -> list[ByteBoundary]:  # fmt: skip
    """Places before elements whose parents are at most `level` deep, about `step` bytes apart.

    Unmatched where tags do not match. The same whatever `threads` and `chunk` are.
    """
    document = Document(data, guards, held)
    following = Following(document, level, step, document.first(0), step)
    found: list[ByteBoundary] = []
    for guessed, end in _guessed(document, threads, chunk):
        if following.at >= end:
            continue  # all of it is inside of something
        right = guessed is not None and guessed.entry == following.at
        effect = guessed if right else document.effect(following.at, end, document.size)
        assert effect is not None
        found += following.take(effect)
    if following.open:
        raise Unmatched
    return found


def has_one_root(data: Any, found: Sequence[ByteBoundary]) -> bool:
    """Whether the first element is around all places, and none follows it."""
    document = Document(data, (), ())
    if not found:
        return True  # nothing was cut
    last = found[-1]
    if last.open[0] != _next_root(document, document.first(0), 0):
        return False
    return _next_root(document, last.at, len(last.open)) < 0


def _next_root(document: Document, at: int, depth: int) -> int:
    """The first element that is in no other, as if all were one deeper: there a place may be."""
    state = np.array([at, depth + 1, 0, 0], np.int64)
    return document.places(state, np.zeros(1, np.int64), document.size, 1, at)


def _guessed(document: Document, threads: int, chunk: int) -> Iterator[tuple[Effect | None, int]]:
    """Each chunk as it is if it begins outside of markup, and where it ends."""
    size = document.size
    begins = range(0, size, chunk)

    def guess(begin: int) -> Effect | None:
        end = min(begin + chunk, size)
        try:
            return document.effect(document.first(begin), end, min(end + chunk, size))
        except Unmatched:
            return None

    if threads < 2 or len(begins) < 2:
        yield from ((None, min(begin + chunk, size)) for begin in begins)
        return
    with ThreadPoolExecutor(threads) as pool:
        for begin, made in zip(begins, pool.map(guess, begins), strict=True):
            yield made, min(begin + chunk, size)
