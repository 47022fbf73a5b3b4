"""Planned states: fragments that are valid after now, for projections that reach them.

A projection that ends after now reads the view of all fragments that are valid up to its end.
Elements that were found before, in the view as of now, are taken for the same ones there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import NOW
from xstreamcast.tape.fragments.counterpart_kernels import instance_keys, owners
from xstreamcast.tape.fragments.instance_kernels import FULL, SNAPSHOT, TEMPORAL
from xstreamcast.tape.layout import DOCUMENT, ELEMENT, KIND

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.history.view import View
    from xstreamcast.model.items import Items
    from xstreamcast.tape.fragments.chain_kernels import Chains
    from xstreamcast.tape.layout import I32, I64, U64

_ROW = 0xFFFFFFFF


def planned(histories: Iterable[History], now: int) -> I64:
    """The valid times after now, in order."""
    later = [one.fragments[name] for one in histories for name in ("valid", "to")]
    found: I64 = np.unique(np.concatenate([np.zeros(0, np.int64), *later]))
    later_ones: I64 = found[(found > now) & (found != NOW)]
    return later_ones


def chains_ahead(history: History, until: int) -> Chains:
    """The versions up to an instant, with ends that are known though they come later; snapshots
    have none.
    """
    found, known = history.chains(until), history.chains()
    timed = history.types()[history.fragments["tsid"][found.place]] == TEMPORAL
    there = known.begin <= until
    end = np.where(timed, known.end[there], found.end)
    return found._replace(end=end, zones=np.where(timed, known.zones[there], found.zones))


@dataclass(frozen=True, slots=True)
class Shown:
    """A view that a query reads: its tape's number, and how to build it as of another instant."""

    history: History
    view: View
    number: int
    until: Callable[[int], Shown]


class Planned:
    """The views for projections that end after now."""

    def __init__(
        self,
        now: int,
        instants: I64,
        streams: Callable[[str, int], Items],
        documents: Callable[[str, int], int],
        shown: Callable[[], Iterable[Shown]],
    ) -> None:
        self._now, self._instants, self._shown = now, instants, shown
        self._streams, self._documents = streams, documents
        self._maps: dict[tuple[int, int], I64] = {}

    def horizons(self, ends: I64) -> I64:
        """For each end of an interval the last planned instant that it reaches; NOW if it is not
        after now. Before the first one nothing else is there, but ends are known.
        """
        reached = np.searchsorted(self._instants, ends, "right")
        last = np.where(
            reached > 0, self._instants[np.maximum(reached, 1) - 1], self._instants[0] - 1
        )
        return np.where(ends > self._now, last, NOW)

    def stream(self, name: str, horizon: int) -> Items:
        """The nodes of stream(name)."""
        return self._streams(name, horizon)

    def document(self, name: str, horizon: int) -> int:
        """What represents doc(name)."""
        return self._documents(name, horizon)

    def counterparts(self, handles: I64, horizon: int) -> I64:
        """The same elements as of the horizon; elements that do not exist there stay unchanged."""
        out = handles.copy()
        for one in list(self._shown()):
            at = np.flatnonzero(handles >> 32 == one.number)
            if len(at):
                rows = self._map(one, horizon)[handles[at] & _ROW]
                out[at] = np.where(rows < 0, handles[at], rows)
        return out

    def _map(self, one: Shown, horizon: int) -> I64:
        if (one.number, horizon) not in self._maps:
            other = one.until(horizon)
            rows = same_elements(one.history, one.view, other.view)
            found = np.where(rows < 0, -1, rows | other.number << 32)
            self._maps[one.number, horizon] = found
        return self._maps[one.number, horizon]


def same_elements(history: History, view: View, other: View) -> I64:
    """For each row of a view the row of the same element in another; -1 where there is none.

    A version is the same where its parent is. A snapshot may have another content: then it is the
    same, and so is what fills its holes, but not the elements that are in it.
    """
    match = _matched(_keys(history, view), _keys(history, other))
    here, ours = _elements(view)
    there, theirs = _elements(other)
    order = np.lexsort((theirs & _ROW, theirs >> 32))
    there, theirs = there[order], theirs[order]
    twin = match[_full(view)[ours >> 32]]
    number = np.full(len(match) and len(other.instances.place), -1, np.int64)
    number[_full(other)] = np.arange(len(_full(other)))
    wanted = np.where(twin < 0, -1, number[twin]) << 32 | ours & _ROW
    at = np.minimum(np.searchsorted(theirs, wanted), max(len(theirs) - 1, 0))
    same = view.instances.place[_full(view)[ours >> 32]] == other.instances.place[twin]
    good = (twin >= 0) & (theirs[at] == wanted) & (same | (ours & _ROW == 0))
    out = np.full(len(view.tape.columns.kind), -1, np.int64)
    out[here[good]] = there[at[good]]
    if len(out) and view.tape.columns.kind[0] & KIND == DOCUMENT:
        out[0] = 0
    return out


def _full(view: View) -> I64:
    found: I64 = np.flatnonzero(view.instances.state == FULL)
    return found


def _elements(view: View) -> tuple[I64, I64]:
    """(rows of elements, of which instance each is part and the how-manyth it is there)."""
    c = view.tape.columns
    found = owners(c.kind, c.size, ELEMENT, KIND, view.row[_full(view)])
    rows = np.flatnonzero(found >= 0)
    return rows, found[rows]


def _keys(history: History, view: View) -> U64:
    f, found = history.fragments, view.instances
    place = np.arange(len(f), dtype=np.int64)
    snapshot = history.types()[f["tsid"]] == SNAPSHOT
    identity = f["id"].astype(np.int64) << 32 | np.where(snapshot, 0, place + 1)
    return instance_keys(found.place, found.parent, found.link, identity, _repeated(history))


def _repeated(history: History) -> I32:
    """For each hole, how many before it in its fragment are of the same id."""
    carried = history.carried()
    first, ids = carried.first, history.holes["id"]
    of = np.repeat(np.arange(len(first) - 1), np.diff(first))
    order = np.lexsort((ids, of))
    fresh = np.ones(len(ids), np.bool_)
    fresh[1:] = (np.diff(of[order]) != 0) | (np.diff(ids[order]) != 0)
    begin = np.maximum.accumulate(np.where(fresh, np.arange(len(ids)), 0))
    out = np.empty(len(ids), np.int32)
    out[order] = np.arange(len(ids)) - begin
    return np.concatenate((out, np.zeros(len(carried.attached), np.int32)))


def _matched(ours: U64, theirs: U64) -> I64:
    """For each key the place of the same one among the others; -1 if there is none."""
    if len(theirs) == 0:
        return np.full(len(ours), -1, np.int64)
    order = np.argsort(theirs, kind="stable")
    at = np.minimum(np.searchsorted(theirs[order], ours), len(theirs) - 1)
    found: I64 = np.where(theirs[order][at] == ours, order[at], -1)
    return found
