"""Ids that contain themselves at some instant.

A child is below each version of its parent that contains its hole, for as long as both last. So A
may be in B until an instant, and B in A from then on. What would be below itself at one and the
same instant is left out there; this counts the ids of which that is true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.kernels.acyclic import ContainmentLinks
from xstreamcast.model.column import distinct, ranges
from xstreamcast.model.instant import NOW, START
from xstreamcast.tape.fragments.instance_kernels import EVENT, SNAPSHOT

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.tape.layout import I64, Bools


class Containment:
    """Which id contains which at any time, as fragments arrive; those that contain themselves."""

    def __init__(self) -> None:
        self._links: ContainmentLinks | None = None  # rebuilt from the history after a restart
        self._may_circle = False  # some id is below itself, at one instant or at several
        self._known = -1, 0  # of how many fragments it was counted, and the count

    def follow(self, history: History, first: int) -> None:
        """Add the links of all fragments from a place on."""
        if self._may_circle:
            return
        if self._links is None:
            self._links, first = ContainmentLinks(), 0
        f = history.fragments
        ends, begin = f["holes"][first:], int(f["holes"][first - 1]) if first else 0
        if int(ends[-1]) == begin and not (f["within"][first:] >= 0).any():
            return  # these fragments have neither holes nor parents
        group = np.repeat(np.arange(len(ends), dtype=np.int32), np.diff(ends, prepend=begin))
        ids, held, within = f["id"][first:], history.holes["id"][begin:], f["within"][first:]
        codes = int(max(ids.max(), held.max(initial=-1), within.max())) + 1
        back = self._links.take(group, ids[group], held, codes)
        inside = np.flatnonzero(within >= 0).astype(np.int32)
        more = self._links.take(inside, within[inside], ids[inside], codes)
        self._may_circle = bool(back.any() or more.any())

    def forget(self) -> None:
        """Fragments are no longer kept: the links of those that are will be followed again."""
        if not self._may_circle:  # what was no circle is none without some of its links
            self._links = None

    def circular(self, history: History) -> int:
        """How many ids contain themselves at some instant."""
        if not self._may_circle:
            return 0
        if self._known[0] != len(history):
            self._known = len(history), len(circular(history))
        return self._known[1]

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return 0 if self._links is None else self._links.nbytes


def circular(history: History, until: int = NOW) -> I64:
    """The ids that contain themselves at some instant, or are between two that do."""
    above, below, begin, end = _links(history, until)
    around = _on_circles(above, below, history.codes)
    found: list[I64] = []
    for instant in distinct(begin[around & (begin > START)]).tolist() or [START]:
        alive = around & (begin <= instant) & (instant < end)
        if alive.any():
            left = _on_circles(above[alive], below[alive], history.codes)
            found.append(above[alive][left])
    return distinct(np.concatenate(found)) if found else np.zeros(0, np.int64)


def _links(history: History, until: int) -> tuple[I64, I64, I64, I64]:
    """(container, content, begin, end) of every link, while the container's version lasts."""
    chains, carried = history.chains(until), history.carried()
    codes = np.repeat(np.arange(len(chains.first) - 1), np.diff(chains.first))
    place, begin, end = chains.place, chains.begin.copy(), chains.end.copy()
    kind = history.types()[carried.tag[place]]
    last = np.zeros(len(place), np.bool_)
    last[chains.first[1:][np.diff(chains.first) > 0] - 1] = True
    there = carried.content[place] >= 0
    there &= (kind != SNAPSHOT) | (last & (end == NOW))  # its latest content represents it
    there &= (kind == EVENT) | (begin < end)
    always = (kind == SNAPSHOT) | (kind == EVENT)  # neither clips what is below it
    begin[always], end[always] = START, NOW
    count = carried.first[place + 1] - carried.first[place]
    owner = np.repeat(np.flatnonzero(there), count[there])
    link = ranges(carried.first[place[there]], count[there])
    inside = np.flatnonzero(there & (carried.within[place] >= 0))
    return (
        np.concatenate((codes[owner], carried.within[place[inside]])).astype(np.int64),
        np.concatenate((carried.link[link], codes[inside])).astype(np.int64),
        np.concatenate((begin[owner], begin[inside])),
        np.concatenate((end[owner], end[inside])),
    )


def _on_circles(above: I64, below: I64, codes: int) -> Bools:
    """Which links may be on a circle: whatever ends or begins a path is taken off at both ends."""
    left = np.ones(len(above), np.bool_)
    while left.any():
        holds, held = np.zeros(codes, np.bool_), np.zeros(codes, np.bool_)
        holds[above[left]], held[below[left]] = True, True
        less = left & holds[below] & held[above]
        if less.sum() == left.sum():
            break
        left = less
    return left
