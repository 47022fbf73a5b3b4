"""What is kept of units inside: each fragment in a hole of a unit is looked at when it is dirty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import cast, castable
from xstreamcast.history.view import written
from xstreamcast.model.atomic import DOUBLE, INTEGER, UNTYPED
from xstreamcast.model.column import Column, distinct, offsets_of, ranges
from xstreamcast.model.items import Items
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.inner.bound import BoundRows
from xstreamcast.operators.inner.table import BlockTable, InnerValues, rows_of
from xstreamcast.operators.units.alarms import NEVER, Alarms, upcoming
from xstreamcast.operators.units.evaluating import EvaluationContext, listed
from xstreamcast.operators.units.history_part import FragmentPlaces, part_of
from xstreamcast.tape.fragments.instance_kernels import EVENT, FULL, LINK
from xstreamcast.tape.layout import ELEMENT, KIND
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.circuit.unit_folds.fold import Inner
    from xstreamcast.history.history import History
    from xstreamcast.history.view import View
    from xstreamcast.operators.units.history_part import HistoryPart
    from xstreamcast.operators.units.verdicts import Verdicts
    from xstreamcast.tape.layout import I32, I64, U8, Bools


Pairs = tuple["I64", "I64"]  # units, and places of fragments in their holes


class Unmaintained(Forbidden):
    """The stream is not what its structure says, or a value is an error: nothing can be kept."""


class _Found(NamedTuple):
    """Fragments in holes of units, as they are in the view of these units."""

    unit: I64  # the index of each one's unit among the requested ones
    over: I64
    hole: I64
    begin: I64
    place: I64
    node: I64  # its row on the tape
    due: I64  # when it must be looked at again


class InnerParts:
    """For each inner part the values by unit; what is dirty is looked at once for all of them."""

    def __init__(
        self,
        history: History,
        links: FragmentPlaces,
        inners: Sequence[Inner],
        asking: Callable[[], EvaluationContext],
    ) -> None:
        self._history, self._links, self._inners, self._asking = history, links, inners, asking
        self.tags = frozenset(tag for inner in inners for tag in inner.tags)
        self.unit = inners[0].unit
        self._tables = [BlockTable() for _ in inners]
        self._alarms = Alarms()
        self._timed = [(one.timing, one.back) for one in inners if one.timing is not None]
        types = history.types()
        self._kept_tag = np.zeros(len(types) + 1, np.bool_)  # the last: for tags that are none
        self._kept_tag[list(self.tags)] = True
        self._events = self._kept_tag[:-1] & (types == EVENT)
        self._modes: U8 = np.full(len(types), FULL, np.uint8)
        self._modes[self.unit] = LINK
        self._tag: I32 = np.full(1024, -1, np.int32)  # by id: the tag of its fragments
        self._after: I64 = np.full(1024, -1, np.int64)  # by place: what overwrites it
        self._dead: Bools = np.zeros(1024, np.bool_)  # by place; all false between two calls
        self._checked: set[int] = set()  # tapes whose names were looked at
        self._seen = 0

    def read_from(self, history: History, links: FragmentPlaces) -> None:
        """The same fragments are in another history; none has come yet."""
        self._history, self._links = history, links

    # -- what has arrived -------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Add what has arrived; Unmaintained if it is where it must not be."""
        f, h = self._history.fragments, self._history.holes
        first, last = self._seen, len(f)
        if first == last:
            return
        self._make_room(last)
        ids, tags, before = f["id"][first:last], f["tsid"][first:last], f["before"][first:last]
        named = tags >= 0
        known = self._tag[ids[named]]
        self._tag[ids[named]] = tags[named]
        other = (known >= 0) & (known != tags[named]) | (self._tag[ids[named]] != tags[named])
        met = np.concatenate((known[other], self._tag[ids[named]][other], tags[named][other]))
        if len(met) and (self._kept_tag[met].any() or (met == self.unit).any()):
            raise Unmaintained("fragments of one id have different tags")
        overwrites = np.flatnonzero(before >= 0)
        self._after[before[overwrites]] = overwrites + first
        begin = int(f["holes"][first - 1]) if first else 0
        fresh, which = distinct(ids), np.arange(begin, len(h))
        held = self._links.holding(fresh)[1]
        self._check_holes(np.concatenate((which, held)))
        attached = f["tsid"][first:last][f["within"][first:last] >= 0]
        if len(attached) and (attached != self.unit).any():
            raise Unmaintained("fragments are attached to others than the root")
        self._check_names(f["tape"][first:last], f["payload"][first:last])
        self._seen = last

    def _check_holes(self, holes: I64) -> None:
        """Kept fragments are directly in units, units in the root, and neither elsewhere."""
        f, h = self._history.fragments, self._history.holes
        tags = self._tag[h["id"][holes]]
        owners = f["tsid"][self._links.owner(holes)]
        kept = self._kept_tag[tags] & (tags >= 0)
        astray = kept & ((owners != self.unit) | (h["depth"][holes] != 1))
        astray |= (tags == self.unit) & (owners != self._history.structure.root)
        if astray.any():
            raise Unmaintained("fragments are nested where their structure does not declare it")

    def _check_names(self, tapes: I32, payloads: I32) -> None:
        """Elements with the names of units or kept fragments are fragments themselves."""
        structure, names = self._history.structure, self._history.store.names
        wanted = np.zeros(len(names), np.bool_)
        for tag in {self.unit, *self.tags}:
            wanted |= names.matching(structure[tag].local, structure[tag].uri)
        for number in set(distinct(tapes[payloads >= 0]).tolist()) - self._checked:
            self._checked.add(number)
            c = self._history.store.tape(number).columns
            level = c.level[payloads[(tapes == number) & (payloads >= 0)][0]]
            if (((c.kind & KIND) == ELEMENT) & wanted[c.name] & (c.level != level)).any():
                raise Unmaintained("elements are embedded that should be fragments")

    def _make_room(self, places: int) -> None:
        ids = self._links.ids
        if ids > len(self._tag):
            self._tag = np.concatenate((self._tag, np.full(ids - len(self._tag), -1, np.int32)))
        if places > len(self._after):
            more = max(places, 2 * len(self._after)) - len(self._after)
            self._after = np.concatenate((self._after, np.full(more, -1, np.int64)))
            self._dead = np.zeros(len(self._after), np.bool_)

    def barred(self, ids: I64) -> Bools:
        """Of ids, whether their fragments are kept, so that nothing else needs to read them."""
        found: Bools = self._kept_tag[self._tag[ids]]
        return found

    # -- what is dirty ----------------------------------------------------------------------------

    def dirty(self, first: int, last: int, is_unit: Bools) -> tuple[I64, I64]:
        """(units to be evaluated again, those of them that are new but for what is kept).

        Because of new fragments, or because time has passed.
        """
        f = self._history.fragments
        places = np.arange(first, last)
        ids = f["id"][first:last].astype(np.int64)
        own = [ids[is_unit[ids]]]
        inside = self._versions(places)
        pairs: list[Pairs] = []
        climbing = inside
        while len(climbing):
            which, holes = self._links.holding(f["id"][climbing].astype(np.int64))
            owners = self._links.owner(holes)
            units = f["id"][owners].astype(np.int64)
            top = is_unit[units]
            kept = self._kept_tag[f["tsid"][climbing[which]]]
            pairs.append((units[top & kept], climbing[which][top & kept]))
            own.append(units[top & ~kept])
            climbing = distinct(owners)
        fresh = distinct(own[0])
        pairs += [self._inside(fresh), self._due(is_unit)]
        self._forget(fresh)
        changed = self._look(*(np.concatenate(side) for side in zip(*pairs, strict=True)))
        refolded = distinct(np.concatenate(own))
        return distinct(np.concatenate((refolded, changed))), refolded

    def _versions(self, places: I64) -> I64:
        """The places whose content or lifespan has changed when these have come."""
        f = self._history.fragments
        tags = f["tsid"][places]
        event = (tags >= 0) & self._events[np.maximum(tags, 0)]
        chains = self._links.all_of(distinct(f["id"][places[~event]].astype(np.int64)))
        return distinct(np.concatenate((places[event], chains)))

    def refresh(self, units: I64) -> None:
        """Look at all fragments in units, which may be new."""
        self._forget(units)
        self._look(*self._inside(units))

    def _inside(self, units: I64) -> Pairs:
        """All fragments in units."""
        if len(units) == 0:
            return units, units
        h, f = self._history.holes, self._history.fragments
        own = self._links.all_of(units)
        inside = distinct(h["id"][ranges(*self._links.carried(own))]).astype(np.int64)
        places = self._links.all_of(inside[self.barred(inside)])
        which, holes = self._links.holding(f["id"][places].astype(np.int64))
        owners = f["id"][self._links.owner(holes)].astype(np.int64)
        mine = np.isin(owners, units)
        return owners[mine], places[which[mine]]

    def _forget(self, units: I64) -> None:
        if len(units) == 0:
            return
        for table in self._tables:
            rows = table.of(units)[0]
            self._dead[rows.place] = True
            table.revise(units, self._dead, units[:0], rows.take(units[:0]))
            self._dead[rows.place] = False

    def _due(self, is_unit: Bools) -> Pairs:
        """What may have changed because time has passed."""
        places = self._alarms.due(self._asking().now.instant)
        f = self._history.fragments
        which, holes = self._links.holding(f["id"][places].astype(np.int64))
        units = f["id"][self._links.owner(holes)].astype(np.int64)
        top = is_unit[units]
        return units[top], places[which[top]]

    # -- looking ----------------------------------------------------------------------------------

    def _look(self, units: I64, places: I64) -> I64:
        """Look at fragments in units → the units in which that changed anything."""
        if len(units) == 0:
            return units
        codes, places = distinct(units), self._standing(self._versions(distinct(places)))
        asking = self._asking()
        part, made = self._view(codes, places)
        found = self._found(part, made, asking.now.instant)
        group = self._group(places)
        self._dead[group] = True
        changed = np.zeros(len(codes), np.bool_)
        for table, (owner, rows) in zip(self._tables, self._values(made, found, asking),
                                        strict=True):  # fmt: skip
            changed |= table.revise(codes, self._dead, owner, rows)
        self._dead[group] = False
        asking.release()
        self._set_alarms(places, found)
        return codes[changed]

    def _standing(self, places: I64) -> I64:
        """What counts of these: of fragments of one id and instant the last."""
        while (self._after[places] >= 0).any():
            places = distinct(np.where(self._after[places] >= 0, self._after[places], places))
        return places

    def _group(self, places: I64) -> I64:
        """The places and those that they have overwritten."""
        before = self._history.fragments["before"]
        parts = [places]
        while len(parts[-1]):
            earlier = before[parts[-1]].astype(np.int64)
            parts.append(earlier[earlier >= 0])
        return np.concatenate(parts)

    def _view(self, codes: I64, places: I64) -> tuple[HistoryPart, View]:
        """The units with these fragments alone in their holes, and all that hangs below them."""
        shown = distinct(np.concatenate((self._links.all_of(codes), self._links.below(places))))
        part = part_of(self._history, self._links, shown, codes)
        return part, written(part, document=False, modes=self._modes)

    def _found(self, part: HistoryPart, made: View, now: int) -> _Found:
        """The fragments directly in the units."""
        n = made.instances
        above = np.maximum(n.parent, 0)
        tops = (n.parent >= 0) & (n.parent[above] < 0)
        tops &= self._kept_tag[part.fragments["tsid"][n.place]]
        at = np.flatnonzero(tops)
        over = n.parent[at]
        return _Found(
            n.link[over].astype(np.int64), n.begin[over], part.hole[n.link[at]], n.begin[at],
            part.place[n.place[at]], made.row[at], self._upcoming(made, at, now),
        )  # fmt: skip

    def _upcoming(self, made: View, at: I64, now: int) -> I64:
        """When each of the fragments may change by itself: any instant in it counts."""
        n, out = made.instances, np.full(len(at), NEVER, np.int64)
        if not self._timed or len(at) == 0:
            return out
        for timing, back in self._timed:
            times = np.minimum(upcoming(timing, n.begin, now), upcoming(timing, n.end, now))
            times[n.parent < 0] = NEVER  # units, whose rows are between those of their fragments
            due = np.minimum.reduceat(times, at)
            if back is not None:
                due[n.end[at] < now - back] = NEVER
            out = np.minimum(out, due)
        return out

    def _set_alarms(self, places: I64, found: _Found) -> None:
        if self._timed:
            order = np.argsort(found.place, kind="stable")
            first = np.flatnonzero(np.diff(found.place[order], prepend=-1))
            instants = np.full(len(places), NEVER, np.int64)
            if len(first):
                at = np.searchsorted(places, found.place[order][first])
                instants[at] = np.minimum.reduceat(found.due[order], first)
            self._alarms.set(places, instants)

    def _values(
        self, made: View, found: _Found, asking: EvaluationContext
    ) -> list[tuple[I64, InnerValues]]:
        """For each inner part, the values that the fragments give, and in which units."""
        store = Store(asking.names)
        nodes = (np.int64(store.add(made.tape)) << 32) | found.node
        context = asking.context(store)
        tags = self._history.fragments["tsid"][found.place]
        out = []
        for inner in self._inners:
            at = np.flatnonzero(np.logical_or.reduce([tags == tag for tag in inner.tags]))
            given: dict[Key, Value] = {inner.child.number: Column(Items.of_nodes(nodes[at]))}
            frame = Frame(context, len(at), context.root, np.zeros(len(at), np.int64), given)
            try:
                column = _taken(inner, listed(inner.expression, frame), store)
            except Error as why:
                raise Unmaintained(why.message) from None
            which = at[column.rows()]
            rows = rows_of(
                found.over[which], found.hole[which], found.begin[which], found.place[which],
                column.items,
            )  # fmt: skip
            out.append((found.unit[which], rows))
        return out

    # -- asking -----------------------------------------------------------------------------------

    def kept(self, codes: I64, root_unit: I64, root_begin: I64, roots: Column) -> BoundRows:
        """What is bound in units; `roots`: rows of their elements, unit and begin of each."""
        found = []
        for inner, table in zip(self._inners, self._tables, strict=True):
            lengths, values = _matched(table, codes, root_unit, root_begin)
            offsets = offsets_of(lengths)[roots.bounds()]
            counted = Column(Items(INTEGER, lengths), roots.bounds())
            found.append((inner, counted, Column(values, offsets)))
        return BoundRows(roots, tuple(found))

    def judged(self, verdicts: Verdicts, places: I64, codes: I64) -> Bools:
        """Which units of one element, at some places, are answered as they were."""
        values: dict[Key, Value] = {
            inner.values.number: table.column(codes)
            for inner, table in zip(self._inners, self._tables, strict=True)
        }
        return verdicts.stay(places, values, self._asking())

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        index = self._tag.nbytes + self._after.nbytes + self._dead.nbytes
        tables = sum(table.state_bytes for table in self._tables)
        return index + tables + self._alarms.state_bytes


def _matched(table: BlockTable, codes: I64, unit: I64, begin: I64) -> tuple[I64, Items]:
    """(how many values, and which) for elements of units, by unit and begin."""
    if np.array_equal(unit, np.arange(len(codes))):  # all values of a unit are of its one element
        return table.counts(codes), table.values(codes)
    overs, counts = table.overs(codes)
    instants = distinct(np.concatenate((begin, overs)))
    width = len(instants) + 1
    owner = np.repeat(np.arange(len(codes)), counts)
    key = owner * width + np.searchsorted(instants, overs)
    wanted = unit * width + np.searchsorted(instants, begin)
    first = np.searchsorted(key, wanted, "left")
    lengths = np.searchsorted(key, wanted, "right") - first
    return lengths, table.values(codes, ranges(first, lengths))


def _taken(inner: Inner, column: Column, store: Store) -> Column:
    """What is kept of the items of each row."""
    if inner.keeps == "counts":
        lengths = column.lengths()
        some = lengths > 0
        return Column.from_lengths(Items(INTEGER, lengths[some]), some.astype(np.int64))
    column = atomize(store, column)
    if column.items.tag == UNTYPED and castable(column.items, DOUBLE).all():
        return column.with_items(cast(column.items, DOUBLE))
    _ = column.items.values  # read now: the store does not stay
    return column
