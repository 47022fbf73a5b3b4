"""What hangs below some ids of a history, as a history of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.history.history import History
from xstreamcast.model.column import ranges

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I32, I64


class Places:
    """Where the fragments of each id arrived, and in whose holes each id stands.

    The places of an id are a chain: the last of them, and before each place the one before it.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._last: I64 = np.full(1024, -1, np.int64)  # by id
        self._before: I64 = np.full(1024, -1, np.int64)  # by place
        self._above: dict[int, set[int]] = {}
        self._seen = 0
        self.unfilled = 0  # ids that stand in a hole and have not come

    def catch_up(self) -> None:
        """Take in what has arrived since the last time."""
        f, h = self._history.fragments, self._history.holes
        first, last = self._seen, len(f)
        if first == last:
            return
        ids, ends = f["id"][first:last], f["holes"]
        begin = int(ends[first - 1]) if first else 0
        children = h["id"][begin:]
        most = max(int(ids.max()), int(children.max(initial=-1))) + 1
        self._last, self._before = _longer(self._last, most), _longer(self._before, last)
        fresh = np.unique(ids[self._last[ids] < 0]).tolist()
        self.unfilled -= sum(code in self._above for code in fresh)
        self._chain(ids, first)
        owners = np.repeat(ids, np.diff(ends[first:last], prepend=begin)).tolist()
        for child, parent in zip(children.tolist(), owners, strict=True):
            if child not in self._above and self._last[child] < 0:
                self.unfilled += 1
            self._above.setdefault(child, set()).add(parent)
        self._seen = last

    def _chain(self, ids: I32, first: int) -> None:
        order = np.argsort(ids, kind="stable")
        ordered, places = ids[order], order + first
        same = np.concatenate((np.zeros(1, np.bool_), ordered[1:] == ordered[:-1]))
        previous = np.concatenate((places[:1], places[:-1]))
        self._before[places] = np.where(same, previous, self._last[ordered])
        self._last[ordered] = places  # of equal ids the last assignment stays

    def of(self, code: int) -> list[int]:
        """The places of an id's fragments in the order of arrival."""
        found: list[int] = []
        place = int(self._last[code]) if code < len(self._last) else -1
        while place >= 0:
            found.append(place)
            place = int(self._before[place])
        return found[::-1]

    def above(self, codes: I32) -> set[int]:
        """The ids and all those in whose holes they stand, directly or not."""
        seen: set[int] = set()
        todo = codes.tolist()
        while todo:
            code = todo.pop()
            if code not in seen:
                seen.add(code)
                todo.extend(self._above.get(code, ()))
        return seen

    def below(self, codes: Sequence[int]) -> I64:
        """The places of all fragments that hang below the ids, their own among them."""
        ends, links = self._history.fragments["holes"], self._history.holes["id"]
        seen = np.zeros(len(self._last), np.bool_)
        parts: list[I64] = []
        todo = np.unique(np.array(codes, np.int64))
        while len(todo):
            seen[todo] = True
            at = self._all(self._last[todo])
            parts.append(at)
            last = ends[at]
            first = np.where(at > 0, ends[at - 1], 0)
            todo = np.unique(links[ranges(first, last - first)])
            todo = todo[~seen[todo]]
        return np.sort(np.concatenate(parts)) if parts else np.empty(0, np.int64)

    def _all(self, places: I64) -> I64:
        """The places and those before them."""
        parts = [places[places >= 0]]
        while len(parts[-1]):
            before = self._before[parts[-1]]
            parts.append(before[before >= 0])
        return np.concatenate(parts)


def _longer(column: I64, needed: int) -> I64:
    if needed <= len(column):
        return column
    out = np.full(max(needed, 2 * len(column)), -1, np.int64)
    out[: len(column)] = column
    return out


class _Part(History):
    """A history whose roots are given."""

    given: I32

    def roots(self, until: int = 0) -> I32:
        return self.given


def history_part(
    history: History, links: Places, codes: Sequence[int], *, below: bool = True
) -> History:
    """The fragments of some ids, which are its roots, and all below them; ids numbered anew."""
    own = [place for code in codes for place in links.of(code)] if not below else []
    places = links.below(codes) if below else np.array(sorted(own), np.int64)
    f, h = history.fragments, history.holes
    part = _Part(history.name, history.structure, store=history.store)
    ends = f["holes"]
    last = ends[places]
    first = np.where(places > 0, ends[places - 1], 0)
    counts = last - first
    carried = ranges(first, counts)
    met = np.concatenate([f["id"][places], h["id"][carried], np.array(codes, np.int32)])
    numbers = np.unique(met, return_inverse=True)[1].astype(np.int32)
    columns = {name: f[name][places] for name in f.names}
    columns |= {"id": numbers[: len(places)], "holes": np.cumsum(counts)}
    part.fragments.append(**columns)
    if len(carried):
        inside = numbers[len(places) : len(places) + len(carried)]
        part.holes.append(**({name: h[name][carried] for name in h.names} | {"id": inside}))
    part.given = numbers[len(places) + len(carried) :]
    part.newest = history.newest
    return part
