"""What hangs below some ids of a history, as a history of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.history.history import History
from xstreamcast.model.column import distinct, ranges

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I32, I64, Bools


_NONE: Final = -1  # no fragment of an id names a parent
_SEVERAL: Final = -2  # fragments of an id name different ones


class FragmentPlaces:
    """Where the fragments of each id arrived, and whose holes each id is in.

    The places of an id are a chain: the last of them, and before each place the one before it. So
    are the holes that an id is in, each with the place of the fragment that carries it.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._last: I32 = np.full(1024, -1, np.int32)  # by id, a place
        self._before: I32 = np.full(1024, -1, np.int32)  # by place
        self._hole: I32 = np.full(1024, -1, np.int32)  # by id, a hole
        self._hole_before: I32 = np.full(1024, -1, np.int32)  # by hole
        self._owner: I32 = np.full(1024, -1, np.int32)  # by hole, the place that carries it
        self._marks: Bools = np.zeros(1024, np.bool_)  # by id; all false between two calls
        self._number: I32 = np.zeros(1024, np.int32)  # by id; only for the time of a call
        self._kid: I32 = np.full(1024, -1, np.int32)  # by id, a place attached to it
        self._kid_before: I32 = np.full(1024, -1, np.int32)  # by place
        self._parent: I32 = np.full(1024, _NONE, np.int32)  # by id: the one it is attached to
        self._seen = self._holes_seen = 0
        self.unfilled = 0  # ids that are in a hole and have not come

    def catch_up(self) -> tuple[int, int]:
        """Index what has arrived since the last call → the places [first, last) of that."""
        f, h = self._history.fragments, self._history.holes
        first, last = self._seen, len(f)
        if first == last:
            return first, last
        ids, begin, end = f["id"][first:last], self._holes_seen, len(h)
        children = h["id"][begin:end]
        self._make_room(max(int(ids.max()), int(children.max(initial=-1))) + 1, last, end)
        fresh = distinct(ids[self._last[ids] < 0])
        self.unfilled -= int(np.count_nonzero(self._hole[fresh] >= 0))
        _chain(self._last, self._before, ids, first)
        if begin < end:
            met = distinct(children)
            missing = (self._hole[met] < 0) & (self._last[met] < 0)
            self.unfilled += int(np.count_nonzero(missing))
            counts = np.diff(f["holes"][first:last], prepend=begin)
            self._owner[begin:end] = np.repeat(np.arange(first, last), counts)
            _chain(self._hole, self._hole_before, children, begin)
        if self._attaches:
            self._attach(f["within"][first:last], first)
        self._seen, self._holes_seen = last, end
        return first, last

    @property
    def _attaches(self) -> bool:
        return getattr(self._history, "attaches", False)

    def _attach(self, within: I32, first: int) -> None:
        """Index which places are attached to which ids."""
        named = np.flatnonzero(within >= 0)
        if len(named) == 0:
            return
        self._make_room(int(within.max()) + 1, 0, 0)
        self._kid = _longer(self._kid, len(self._last))
        self._kid_before = _longer(self._kid_before, first + len(within))
        parents, places = within[named], named + first
        self._note_parents(self._history.fragments["id"][places], parents)
        order = np.argsort(parents, kind="stable")
        ordered, at = parents[order], places[order]
        same = np.concatenate((np.zeros(1, np.bool_), ordered[1:] == ordered[:-1]))[: len(at)]
        previous = np.concatenate((at[:1], at[:-1]))
        self._kid_before[at] = np.where(same, previous, self._kid[ordered])
        self._kid[ordered] = at

    def _note_parents(self, ids: I32, parents: I32) -> None:
        """Keep the one parent that all fragments of an id name, or that they name several."""
        if len(self._parent) < len(self._last):
            longer = np.full(len(self._last), _NONE, np.int32)
            longer[: len(self._parent)] = self._parent
            self._parent = longer
        fresh = self._parent[ids] == _NONE
        self._parent[ids[fresh]] = parents[fresh]
        self._parent[ids[self._parent[ids] != parents]] = _SEVERAL

    def attached_to(self, codes: I64) -> I64:
        """The ids that are attached to some ids."""
        known = codes[codes < len(self._kid)]
        places = _walked(self._kid[known], self._kid_before)
        found: I64 = distinct(self._history.fragments["id"][places]).astype(np.int64)
        return found

    def parents(self, codes: I64) -> I64:
        """The ids that some ids are attached to."""
        inside = codes[codes < len(self._parent)]
        known = self._parent[inside]
        places = self.all_of(inside[known == _SEVERAL])
        within = self._history.fragments["within"][places]
        named = np.concatenate((known[known >= 0], within[within >= 0]))
        found: I64 = distinct(named).astype(np.int64)
        return found

    def _make_room(self, ids: int, places: int, holes: int) -> None:
        self._last, self._hole = _longer(self._last, ids), _longer(self._hole, ids)
        if len(self._marks) < len(self._last):
            self._marks = np.zeros(len(self._last), np.bool_)
            self._number = np.zeros(len(self._last), np.int32)
        self._before = _longer(self._before, places)
        self._hole_before = _longer(self._hole_before, holes)
        self._owner = _longer(self._owner, holes)

    @property
    def ids(self) -> int:
        """A number that no id reaches."""
        return len(self._last)

    def of(self, code: int) -> list[int]:
        """The places of an id's fragments in the order of arrival."""
        found, place = [], self.last(code)
        while place >= 0:
            found.append(place)
            place = int(self._before[place])
        return found[::-1]

    def last(self, code: int) -> int:
        """The place of the last fragment of an id; -1 if there is none."""
        return int(self._last[code]) if code < len(self._last) else -1

    def is_single(self, code: int) -> bool:
        """Whether an id has one fragment at most."""
        last = self.last(code)
        return last < 0 or self._before[last] < 0

    def is_held(self, code: int) -> bool:
        """Whether an id is in a hole, or names a parent."""
        if code < len(self._hole) and self._hole[code] >= 0:
            return True
        return self._attaches and len(self.parents(np.array([code], np.int64))) > 0

    def in_no_hole(self, codes: I64) -> Bools:
        """Which ids no hole holds."""
        found: Bools = self._hole[codes] < 0
        return found

    def all_of(self, codes: I64) -> I64:
        """The places of all fragments of some ids."""
        known = codes[codes < len(self._last)]
        return _walked(self._last[known], self._before)

    def holding(self, codes: I64) -> tuple[I64, I64]:
        """(which of the ids, the hole) for every hole that one of them is in."""
        which, holes = [], []
        at, hole = np.arange(len(codes)), self._hole[codes]
        while True:
            some = hole >= 0
            at, hole = at[some], hole[some]
            if len(at) == 0:
                break
            which.append(at)
            holes.append(hole)
            hole = self._hole_before[hole]
        if not which:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        return np.concatenate(which), np.concatenate(holes).astype(np.int64)

    def owner(self, holes: I64) -> I64:
        """The places of the fragments that carry the holes."""
        return self._owner[holes].astype(np.int64)

    def numbered(self, codes: I64) -> I32:
        """The ids numbered from 0 in their order."""
        ordered = distinct(codes)
        self._number[ordered] = np.arange(len(ordered), dtype=np.int32)
        return self._number[codes]

    def carried(self, places: I64) -> tuple[I64, I64]:
        """(first, how many) of the holes that fragments carry."""
        ends = self._history.fragments["holes"]
        first = np.where(places > 0, ends[places - 1], 0)
        return first, ends[places] - first

    def above(self, codes: I64) -> I64:
        """The ids and all those whose holes they are in, directly or not."""
        ids = self._history.fragments["id"]
        todo, parts = distinct(codes), []
        while len(todo):
            self._marks[todo] = True
            parts.append(todo)
            above = distinct(ids[self.owner(self.holding(todo)[1])])
            if self._attaches:
                above = distinct(np.concatenate((above, self.parents(todo))))
            todo = above[~self._marks[above]]
        found = np.concatenate(parts) if parts else np.empty(0, np.int64)
        self._marks[found] = False
        return found

    def below(self, places: I64, barred: Callable[[I64], Bools] | None = None) -> I64:
        """The places and all that hang below them, but for ids that are `barred`."""
        return distinct(np.concatenate((places, self.inside(places, barred))))

    def inside(self, places: I64, barred: Callable[[I64], Bools] | None = None) -> I64:
        """The places of all that hangs below some places, but for ids that are `barred`."""
        links = self._history.holes["id"]
        parts, met = [places], []
        while len(parts[-1]):
            todo = distinct(links[ranges(*self.carried(parts[-1]))])
            if self._attaches:
                own = distinct(self._history.fragments["id"][parts[-1]]).astype(np.int64)
                todo = distinct(np.concatenate((todo, self.attached_to(own))))
            todo = todo[~self._marks[todo]]
            if barred is not None:
                todo = todo[~barred(todo)]
            self._marks[todo] = True
            met.append(todo)
            parts.append(self.all_of(todo))
        if met:
            self._marks[np.concatenate(met)] = False
        return distinct(np.concatenate(parts[1:])) if len(parts) > 1 else np.zeros(0, np.int64)


def _chain(last: I32, before: I32, ids: I32, first: int) -> None:
    """Hang what arrived from `first` on to the chains of its ids."""
    order = np.argsort(ids, kind="stable")
    ordered, places = ids[order], order + first
    same = np.concatenate((np.zeros(1, np.bool_), ordered[1:] == ordered[:-1]))[: len(ids)]
    previous = np.concatenate((places[:1], places[:-1]))
    before[places] = np.where(same, previous, last[ordered])
    last[ordered] = places  # of equal ids the last assignment stays


def _walked(places: I32, before: I32) -> I64:
    """The places and those before them."""
    parts = [places[places >= 0]]
    while len(parts[-1]):
        earlier = before[parts[-1]]
        parts.append(earlier[earlier >= 0])
    return np.concatenate(parts).astype(np.int64)


def _longer(column: I32, needed: int) -> I32:
    if needed <= len(column):
        return column
    out = np.full(max(needed, 2 * len(column)), -1, np.int32)
    out[: len(column)] = column
    return out


class HistoryPart(History):
    """Some fragments of a history whose roots are given.

    `hole`: where each of its holes is in the history.
    """

    given: I32
    place: I64
    hole: I64

    def roots(self, until: int = 0) -> I32:
        return self.given


def history_part(
    history: History, links: FragmentPlaces, codes: Sequence[int] | I64, *, below: bool = True
) -> HistoryPart:
    """The fragments of some ids, which are its roots, and all below them; ids have new numbers."""
    roots = np.asarray(codes, np.int64)
    places = links.all_of(roots)
    return part_of(history, links, links.below(places) if below else np.sort(places), roots)


def part_of(history: History, links: FragmentPlaces, places: I64, roots: I64) -> HistoryPart:
    """The fragments at some places, in the order of arrival, below the ids that are its roots."""
    f, h = history.fragments, history.holes
    part = HistoryPart(history.name, history.structure, store=history.store)
    first, counts = links.carried(places)
    carried = ranges(first, counts)
    within = f["within"][places]
    met = np.concatenate([f["id"][places], h["id"][carried], roots, within[within >= 0]])
    numbers = links.numbered(met)
    columns = {name: f[name][places] for name in f.names}
    columns |= {"id": numbers[: len(places)], "holes": np.cumsum(counts)}
    given = len(places) + len(carried)
    if history.attaches:
        columns["within"] = within.copy()
        columns["within"][within >= 0] = numbers[given + len(roots) :]
        part.text_codes, part.ids = distinct(met), history.ids
        part.attaches = bool((within >= 0).any())
    part.fragments.append(**columns)
    if len(carried):
        inside = numbers[len(places) : len(places) + len(carried)]
        part.holes.append(**({name: h[name][carried] for name in h.names} | {"id": inside}))
    part.given = numbers[given : given + len(roots)]
    part.newest, part.latest = history.newest, history.latest
    part.place, part.hole = places, carried
    return part
