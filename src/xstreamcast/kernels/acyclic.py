"""Links from container to content that must not lead back to where they began."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xstreamcast.kernels.compiled import kernel

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class _Tables(NamedTuple):
    state: I64  # how many links, the stamp of the last search
    first: I32  # by code: its newest link upwards, -1 = none
    carries: Bools  # by code: whether it is a container
    seen: I64  # by code: stamp of the last search that met it
    container: I32  # by link
    next: I32  # by link: the next older one of the same content


@kernel
def _leads_to(t: _Tables, begin: int, goal: int, stack: I32) -> bool:
    """Whether `goal` contains `begin`, at any depth."""
    t.state[1] += 1
    stamp, top = t.state[1], 1
    stack[0], t.seen[begin] = begin, stamp
    while top:
        top -= 1
        code = stack[top]
        if code == goal:
            return True
        link = t.first[code]
        while link >= 0:
            above = t.container[link]
            if t.seen[above] != stamp:
                t.seen[above] = stamp
                stack[top] = above
                top += 1
            link = t.next[link]
    return False


@kernel
def _take(t: _Tables, group: I32, container: I32, content: I32, stack: I32, bad: Bools) -> None:
    """Link container to content; a group with one link that leads back is left out whole."""
    i, n = 0, len(group)
    while i < n:
        end, fits = i, True
        while end < n and group[end] == group[i]:
            above, below = container[end], content[end]
            if above == below or (t.carries[below] and _leads_to(t, above, below, stack)):
                fits = False
            end += 1
        for k in range(i, end):
            bad[k] = not fits
            if fits:
                above, below = container[k], content[k]
                link = t.first[below]
                while link >= 0 and t.container[link] != above:
                    link = t.next[link]
                if link < 0:
                    at = t.state[0]
                    t.container[at], t.next[at] = above, t.first[below]
                    t.first[below] = at
                    t.state[0] = at + 1
                t.carries[above] = True
        i = end


class ContainmentLinks:
    """What contains what, by code; refuses what would contain itself."""

    def __init__(self) -> None:
        self._t = _Tables(
            state=np.zeros(2, np.int64),
            first=np.full(0, -1, np.int32),
            carries=np.zeros(0, np.bool_),
            seen=np.zeros(0, np.int64),
            container=np.zeros(0, np.int32),
            next=np.zeros(0, np.int32),
        )
        self._stack = np.zeros(1, np.int32)

    def take(self, group: I32, container: I32, content: I32, codes: int) -> Bools:
        """Take links in, a group (ascending) whole or not at all → for each, if it was refused."""
        bad = np.zeros(len(group), np.bool_)
        if len(group):
            self._make_room(codes, int(self._t.state[0]) + len(group))
            _take(self._t, group, container, content, self._stack, bad)
        return bad

    @property
    def nbytes(self) -> int:
        """Bytes that the tables take."""
        return sum(table.nbytes for table in self._t)

    def _make_room(self, codes: int, links: int) -> None:
        if codes > len(self._t.first):
            more = max(2 * len(self._t.first), codes, 1024)
            self._t = self._t._replace(
                first=_wider(self._t.first, more, -1),
                carries=_wider(self._t.carries, more, False),
                seen=_wider(self._t.seen, more, 0),
            )
            self._stack = np.zeros(more + 1, np.int32)
        if links > len(self._t.container):
            more = max(2 * len(self._t.container), links, 1024)
            self._t = self._t._replace(
                container=_wider(self._t.container, more, 0),
                next=_wider(self._t.next, more, -1),
            )


def _wider(column: Any, room: int, fill: int) -> Any:
    out = np.full(room, fill, column.dtype)
    out[: len(column)] = column
    return out
