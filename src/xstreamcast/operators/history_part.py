"""What hangs below some ids of a history, as a history of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.history.history import History
from xstreamcast.model.column import ranges

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I32


class Places:
    """Where the fragments of each id arrived, and in whose holes each id stands."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._of: dict[int, list[int]] = {}
        self._above: dict[int, set[int]] = {}
        self._seen = 0
        self.unfilled = 0  # ids that stand in a hole and have not come

    def catch_up(self) -> None:
        """Take in what has arrived since the last time."""
        f, h = self._history.fragments, self._history.holes
        first, last = self._seen, len(f)
        ids, ends = f["id"][first:last].tolist(), f["holes"]
        for place, code in enumerate(ids, start=first):
            if code not in self._of and code in self._above:
                self.unfilled -= 1
            self._of.setdefault(code, []).append(place)
        begin = int(ends[first - 1]) if first else 0
        counts = np.diff(ends[first:last], prepend=begin)
        owners = np.repeat(f["id"][first:last], counts).tolist()
        for child, parent in zip(h["id"][begin:].tolist(), owners, strict=True):
            if child not in self._above and child not in self._of:
                self.unfilled += 1
            self._above.setdefault(child, set()).add(parent)
        self._seen = last

    def of(self, code: int) -> Sequence[int]:
        """The places of an id's fragments in the order of arrival."""
        return self._of.get(code, ())

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

    def below(self, codes: Iterable[int]) -> list[int]:
        """The places of all fragments that hang below the ids, their own among them."""
        f, h = self._history.fragments, self._history.holes
        ends, links = f["holes"], h["id"]
        seen: set[int] = set()
        found: list[int] = []
        todo = list(codes)
        while todo:
            fresh = {code for code in todo if code not in seen}
            seen |= fresh
            at = [place for code in fresh for place in self._of.get(code, ())]
            found += at
            rows = np.array(at, np.int64)
            last = ends[rows]
            first = np.where(rows > 0, ends[rows - 1], 0)
            todo = links[ranges(first, last - first)].tolist()
        return sorted(found)


class _Part(History):
    """A history whose roots are given."""

    given: I32

    def roots(self, until: int = 0) -> I32:
        return self.given


def history_part(
    history: History, links: Places, codes: Sequence[int], *, below: bool = True
) -> History:
    """The fragments of some ids, which are its roots, and all below them; ids numbered anew."""
    found = links.below(codes) if below else sorted(p for code in codes for p in links.of(code))
    places = np.array(found, np.int64)
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
