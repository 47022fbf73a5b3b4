"""Units of a stream by hole and version: which there are, and which an arrival touches.

units after any arrivals  →  the versions that stand in the holes of the spine, in document order
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.history.versions import Version, Versions
from xstreamcast.history.view import written
from xstreamcast.kernels.instances import EVENT, SNAPSHOT
from xstreamcast.model.column import distinct
from xstreamcast.model.fragment import TEMPORARY
from xstreamcast.model.instant import NOW, START, show_instant
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.units.parts import tops_of, unit_part
from xstreamcast.operators.units.root import unit_key
from xstreamcast.operators.units.spine import (
    APART,
    ATTACHED,
    INSTANT,
    LEVEL,
    Occurrence,
    Order,
    SpineHole,
    Tags,
    UnitVersion,
    label_between,
    put_in_order,
    same_tags,
    write_tags,
)
from xstreamcast.operators.units.spine_view import SpineView

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.cut import TagCut
    from xstreamcast.history.history import History
    from xstreamcast.operators.feeds.sifting import Sifting
    from xstreamcast.operators.units.history_part import FragmentPlaces
    from xstreamcast.tape.layout import I32, I64, Bools


class Ranks(Mapping[str, int]):
    """The rank of every unit by its key."""

    def __init__(self, units: dict[str, UnitVersion]) -> None:
        self._units = units

    def __getitem__(self, key: str) -> int:
        return self._units[key].rank

    def __contains__(self, key: object) -> bool:
        return key in self._units

    def __iter__(self) -> Iterator[str]:
        return iter(self._units)

    def __len__(self) -> int:
        return len(self._units)


class VersionUnits:
    """The spine of a stream, and the units that stand in its holes."""

    def __init__(
        self,
        history: History,
        links: FragmentPlaces,
        cut: TagCut,
        wanted: Bools | None = None,
        sifting: Sifting | None = None,
    ) -> None:
        self._history, self._links, self.cut = history, links, cut
        self.units: dict[str, UnitVersion] = {}
        self.ranks = Ranks(self.units)
        self.until = NOW  # what is valid later is not seen yet
        self.now = START  # what the clock has come to
        self.ends = True  # somebody may see when units end
        self.current: frozenset[int] = frozenset()  # tags of which nothing is seen that has ended
        self.root: Occurrence | None = None
        self._spine: tuple[dict[int, Tags], SpineView] | None = None
        self.is_slot: Bools = np.zeros(1024, np.bool_)  # by id: it stands in the spine
        self._versions = Versions(history, links)
        self._look()
        self._root_codes: set[int] = set()  # ids of the root's tag
        self._slots: dict[int, list[SpineHole]] = {}
        self._holes: I64 = np.zeros(0, np.int64)  # the ids in the holes of the root,
        self._rows = self._holes  # and the element around each
        self._types = history.types()
        self._levels = cut.levels
        self._passed = cut.passed
        self._wanted = wanted  # by tag: whether anything is kept of it; None: of all of them
        self._sifting = sifting
        self._silent: Bools = np.zeros(1024, np.bool_)  # by place: it can never count
        self._later: Bools = np.zeros(
            1024, np.bool_
        )  # by place: nothing of its id was valid then, or later
        self._sifted = 0  # places that these are known of
        self._latest: I64 = np.full(1024, START, np.int64)  # by id: the last valid time
        self._layered = False  # something temporary has come
        self.dirty: dict[str, None] = {}  # keys of units that are new or look different
        self.gone: dict[str, int] = {}  # with the rank that each had
        self._done: set[int] = set()  # ids whose units were dropped
        self._first = 0  # the holes of the root before this one are of such ids
        self.moved = False  # units that were there before have other ranks

    # -- arrivals ---------------------------------------------------------------------------------

    def take(self, first: int, last: int, due: Sequence[tuple[int, int]]) -> None:
        """Take in what arrived at places from first to last, and what the clock has come to."""
        f = self._history.fragments
        ids, places = f["id"][first:last], np.arange(first, last)
        self._look()
        self._make_room()
        self._sift(first)
        self._sift(last)
        unseen = self._unseen(ids, places)
        known = {code for _, code in due}
        rooted = f["tsid"][first:last] == self._history.structure.root
        for code, place in zip(ids[rooted].tolist(), places[rooted].tolist(), strict=True):
            self._root_codes.add(code)
            self._versions.arrived(code, (place,))
        touched = self._touched(
            ids[~unseen], places[~unseen], due
        )  # before anybody looks at the versions
        if rooted.any() or self.root is None or self.root.code in known:
            self._read_root()
        if self.root is not None:
            if self._history.attaches:
                self._attach(places[~unseen], f["within"][first:last][~unseen])
            for code, begins in touched:
                for slot in self._slots.get(code, ()):
                    self._revise(slot, begins)
            every = distinct(np.concatenate((ids, np.array(sorted(known), ids.dtype))))
            self._touch_around(every.astype(np.int64))

    def taken(self) -> tuple[list[str], list[str], bool]:
        """What changed since the last time: units to be evaluated, units that are gone, and
        whether others have other ranks.
        """
        dirty = [key for key in self.dirty if key in self.units]
        gone = [key for key in self.gone if key not in self.units]
        moved, self.moved = self.moved, False
        self.dirty, self.gone = {}, {}
        return dirty, gone, moved

    def _look(self) -> None:
        """Fragments have arrived: their columns are longer than they were."""
        f = self._history.fragments
        self._payload, self._tsid, self._within = f["payload"], f["tsid"], f["within"]
        self._versions.look()

    def _sift(self, last: int) -> None:
        """Tell which of the fragments that arrived can never count, and which are later than all
        that came of their ids before.
        """
        first, self._sifted = self._sifted, max(last, self._sifted)
        if last > len(self._silent):
            more = np.zeros(last, np.bool_)
            self._silent = np.concatenate((self._silent, more))
            self._later = np.concatenate((self._later, more))
        if self._sifting is None or first >= last:
            return
        f = self._history.fragments
        ids, valid = f["id"][first:last], f["valid"][first:last]
        self._silent[first:last] = self._sifting.silent(self._history, first, last)
        self._later[first:last] = valid > self._latest[ids]
        np.maximum.at(self._latest, ids, valid)
        self._layered |= bool((f["flags"][first:last] & np.uint8(TEMPORARY)).any())

    def _make_room(self) -> None:
        more = self._links.ids - len(self.is_slot)
        if more > 0:
            self.is_slot = np.concatenate((self.is_slot, np.zeros(more, np.bool_)))
            self._latest = np.concatenate((self._latest, np.full(more, START, np.int64)))

    def _touched(
        self, ids: I64, places: I64, due: Iterable[tuple[int, int]]
    ) -> list[tuple[int, set[int] | None]]:
        """Ids in holes of which versions may be others now, and when these begin."""
        own = self.is_slot[ids]
        arrived: dict[int, list[int]] = {}
        for code, place in zip(ids[own].tolist(), places[own].tolist(), strict=True):
            arrived.setdefault(code, []).append(place)
        own_only = self._ends_unseen()
        found = [
            (code, self._versions.arrived(code, new, own_only)) for code, new in arrived.items()
        ]
        near = self._versions.near
        return found + [(code, near(code, instant)) for instant, code in due if self.is_slot[code]]

    def _ends_unseen(self) -> bool:
        """Whether a version stays what it was when another one follows it."""
        if self.ends or self.current or self._passed:
            return False
        structure = self._history.structure
        units = [tag for tag in structure.tags if tag != structure.root and structure.travels(tag)]
        return bool((self._types[units] != SNAPSHOT).all())

    def _unseen(self, ids: I64, places: I64) -> Bools:
        """Fragments by which no unit becomes another one: all that came of their id is silent, and
        either nothing stands there, or what does only ends earlier than it did.
        """
        unseen = np.zeros(len(ids), np.bool_)
        if self._sifting is None or self._layered:
            return unseen
        kinds, known = self._types[self._tsid[places]], self.is_slot[ids]
        silent = self._silent[places] & (kinds != SNAPSHOT)
        known &= ~np.isin(ids, ids[known & ~silent])
        if not self.ends and not self.current:
            unseen = known & ~np.isin(ids, ids[known & ~self._later[places]])
        for at in np.flatnonzero(known & ~unseen & (kinds != EVENT)).tolist():
            unseen[at] = not any(slot.begins() for slot in self._slots.get(int(ids[at]), ()))
        return unseen

    def _revise(self, slot: SpineHole, begins: Iterable[int] | None) -> None:
        """Look at the versions in a hole that begin then; at all of them if None."""
        if begins is None:
            every = {v.begin: v for v in self._versions.all(slot.code, self.until)}
            begins = (*every, *(begin for begin in slot.begins() if begin not in every))
            pairs = [(begin, every.get(begin)) for begin in begins]
        else:
            at, code, until = self._versions.at, slot.code, self.until
            pairs = [(begin, at(code, begin, until)) for begin in begins]
        found = [(begin, v and self._found(slot, v)) for begin, v in pairs]
        for begin, new in found:  # first what goes: another version may take its key over
            if new is None:
                self._replace(slot, begin, None)
        for begin, new in found:
            if new is not None:
                self._replace(slot, begin, new)

    def _replace(self, slot: SpineHole, begin: int, new: UnitVersion | Occurrence | None) -> None:
        old = slot.get(begin)
        if old is None:
            if new is None:
                return
        elif not self.ends and type(old) is type(new) is UnitVersion and _lasts_else(old, new):
            self.units[new.key] = new
            slot.put(begin, new)
            return
        elif type(old) is type(new) and (
            old == new if type(new) is UnitVersion else old.same(new)  # type: ignore[union-attr, arg-type]
        ):
            return
        else:
            self._leave(old)
        slot.put(begin, new)
        if type(new) is UnitVersion:
            self._enter(new)
        elif new is not None:
            self._fill(new)  # type: ignore[arg-type]

    def _enter(self, unit: UnitVersion) -> None:
        key = unit.key
        self.units[key] = unit
        self.dirty[key] = None
        if key in self.gone and self.gone[key] != unit.rank:
            self.moved = True

    def _leave(self, old: UnitVersion | Occurrence) -> None:
        """What stood somewhere is not there any more."""
        if isinstance(old, UnitVersion):
            if self.units.get(old.key) is old:
                del self.units[old.key]
                self.gone[old.key] = old.rank
            return
        for slot in old.slots():
            self._close(slot)

    def _close(self, slot: SpineHole) -> None:
        for one in list(slot.found()):
            self._leave(one)
        left = [one for one in self._slots[slot.code] if one is not slot]
        if left:
            self._slots[slot.code] = left
        else:
            del self._slots[slot.code]
            self.is_slot[slot.code] = False

    # -- versions ---------------------------------------------------------------------------------

    def _shows(self, slot: SpineHole, version: Version) -> bool:
        if self._payload[version.place] < 0:
            return False
        if self._sifting is not None and self._silent[version.place]:
            return False
        if slot.order is not None and self._within[version.place] != slot.around.code:
            return False  # this version is attached to something else
        if self._types[self._tsid[version.place]] == SNAPSHOT:
            return version.last and version.end == NOW  # its latest content stands for it
        return True

    def _found(self, slot: SpineHole, version: Version) -> UnitVersion | Occurrence | None:
        """What a version is in a hole; None where it is not seen."""
        if not self._shows(slot, version):
            return None
        place, begin, end, zones, _ = version
        tag = self._tsid.item(place)
        kind, above, name = self._types[tag], slot.around, slot.name
        least, most, zoned = above.clip
        # what has no versions is the last of its hole, whenever its content came
        rank = slot.rank(NOW if kind == SNAPSHOT else begin)
        if kind == SNAPSHOT:
            begin, end, zones = START, NOW, 0
        elif kind == EVENT:
            if not least <= begin < most:
                return None
            name = _key(slot, begin)
            end, zones = NOW, zones & 1
        else:
            name = _key(slot, begin)
            if begin < least:
                begin, zones = least, (zones & 2) | (zoned & 1)
            if end > most:
                end, zones = most, (zones & 1) | (zoned & 2)
            if begin >= end or (end <= self.now and tag in self.current):
                return None
        if tag not in self._passed:
            rank <<= LEVEL * (self._levels - above.depth)
            return UnitVersion(name, slot, place, begin, end, zones, rank)
        if above.depth >= self._levels:
            raise Forbidden("a fragment is inside one that its structure does not declare")
        found = Occurrence(name, slot.code, place, slot, rank)
        found.begin, found.end, found.zones = begin, end, zones
        found.clip = begin, end, zones
        if kind == SNAPSHOT:
            found.clip = above.clip
        elif kind == EVENT:  # what happened once does not end what follows from it
            found.clip = START, NOW, 0
        return found

    # -- the spine --------------------------------------------------------------------------------

    def spine(self) -> SpineView | None:
        """The elements of the root as it stands; None if there is none."""
        root = self.root
        if root is None:
            self._spine = None
        elif self._spine is None or self._spine[0] is not root.tags:
            part = unit_part(self._history, self._links, tops_of([root]), below=False)
            tape = written(part, self.until, document=False).tape
            view = SpineView(self._history, root.place, tape, self._row_around)
            self._spine = root.tags, view
        return None if self._spine is None else self._spine[1]

    def _row_around(self, unit: str) -> int | None:
        """The row in the root of the element around a unit, or around what it stands in."""
        found = self.units.get(unit)
        if found is None:
            return None
        slot = found.slot
        while slot.around.slot is not None:
            slot = slot.around.slot
        return slot.row

    def _read_root(self) -> None:
        """The root as it was last sent: keep the holes that are still there."""
        place = self._root_place()
        before = self.root
        if place is None:
            if before is not None:
                self._leave(before)
            self.root = None
            return
        if before is not None and before.place == place:
            return
        code = int(self._history.fragments["id"][place])
        fresh = Occurrence("", code, place, None, 0)
        write_tags(self._history, self._links, self.cut, [fresh], self.until)
        if before is not None and before.code == code:
            self._take_over(before, place, fresh.tags)
            return
        if before is not None:
            self._leave(before)
        self.root = fresh
        self._fill(fresh)
        self._holes, self._rows = self._carried(place)

    def _root_place(self) -> int | None:
        """Where the root's content arrived; None if there is none. Forbidden if there are two."""
        free = [
            versions
            for code in sorted(self._root_codes)
            if (versions := self._versions.all(code, self.until)) and not self._links.is_held(code)
        ]
        if len(free) > 1:
            raise Forbidden("the stream has several roots")
        if not free:
            return None
        version = free[0][-1]
        if self._history.fragments["payload"][version.place] < 0 or version.end != NOW:
            return None
        return version.place

    def _take_over(self, root: Occurrence, place: int, tags: dict[int, Tags]) -> None:
        """Other content of the root: the holes that are still there stay as they are."""
        ids, rows = self._carried(place)
        self._make_room()
        head, tail = _common(self._holes, ids)
        last, before = len(ids) - tail, len(root.holes) - tail
        stays = np.concatenate((np.arange(head), np.arange(last, len(ids))))
        was = np.concatenate((self._rows[:head], self._rows[before:]))
        self._restand(root, head, stays, rows, was, tags)
        known: dict[int, list[SpineHole]] = {}
        for slot in root.holes[head:before]:
            known.setdefault(slot.code, []).append(slot)
        made, fresh = [], []
        for code, row in zip(ids[head:last].tolist(), rows[head:last].tolist(), strict=True):
            old = known.get(code)
            slot = old.pop(0) if old else SpineHole(root, code, row, "")
            if not old and slot.name == "":
                fresh.append(slot)
            elif not same_tags(tags.get(row), root.tags.get(slot.row)):
                self._redo(slot)
            slot.row = row
            made.append(slot)
        for slot in (one for left in known.values() for one in left):
            self._close(slot)
        root.holes[head:before] = made
        if not same_tags(tags.get(0), root.tags.get(0)):
            for slot in root.attached:
                self._redo(slot)
        root.place, root.tags, self._holes, self._rows = place, tags, ids, rows
        self._relabel(root, head, last, frozenset(map(id, fresh)))
        self._open(root, fresh)

    def _restand(
        self, root: Occurrence, head: int, stays: I64, rows: I64, was: I64, tags: dict[int, Tags]
    ) -> None:
        """Holes that stay: note where the element around each is now, and whether it differs."""
        now = rows[stays]
        shifted = now != was
        both = now << 32 | was
        runs = np.flatnonzero(np.diff(both, prepend=-1))  # holes of one element follow each other
        pairs = [(pair >> 32, pair & 0xFFFFFFFF) for pair in distinct(both[runs]).tolist()]
        differ = [(a, b) for a, b in pairs if not same_tags(tags.get(a), root.tags.get(b))]
        if not differ and not shifted.any():
            return
        odd = np.zeros(len(now), np.bool_)
        for a, b in differ:
            odd |= (now == a) & (was == b)
        gap = len(rows) - len(root.holes)
        for at in np.flatnonzero(odd | shifted).tolist():
            slot = root.holes[int(stays[at]) - (gap if at >= head else 0)]
            slot.row = int(now[at])
            if odd[at]:
                self._redo(slot)

    def _carried(self, place: int) -> tuple[I64, I64]:
        """The ids in the holes of a fragment, and the row of the element around each below it."""
        h, f = self._history.holes, self._history.fragments
        first = int(f["holes"][place - 1]) if place else 0
        last = int(f["holes"][place])
        source = self._history.store.tape(int(f["tape"][place])).columns
        rows = source.parent[h["row"][first:last]].astype(np.int64) - int(f["payload"][place])
        ids = h["id"][first:last].astype(np.int64)
        if self._wanted is None:
            return ids, rows
        seen = self._wanted[h["tsid"][first:last]]
        return ids[seen], rows[seen]

    def _redo(self, slot: SpineHole) -> None:
        """Other start tags stand around a hole."""
        for one in slot.found():
            for unit in _units(one):
                self.dirty[unit.key] = None

    def _relabel(self, root: Occurrence, head: int, last: int, fresh: frozenset[int]) -> None:
        """Labels that ascend: known ones stay where they can, new ones come between them."""
        slots = root.holes
        end = slots[last].label if last < len(slots) else None
        least, ends = end, []  # the least label that stays behind each
        for slot in reversed(slots[head:last]):
            ends.append(least)
            if id(slot) not in fresh and (least is None or slot.label < least):
                least = slot.label
        before = slots[head - 1].label if head else None
        for slot, behind in zip(slots[head:last], reversed(ends), strict=True):
            stays = id(slot) not in fresh and (before is None or slot.label > before)
            if not stays or (behind is not None and slot.label > behind):
                label = label_between(before, behind)
                if label is None or (behind is not None and label >= behind):
                    self._label_all(slots, 0)
                    return
                self._set_label(slot, label)
            before = slot.label

    def _label_all(self, slots: Sequence[SpineHole], base: int) -> None:
        for at, slot in enumerate(slots):
            self._set_label(slot, base + at * APART)

    def _set_label(self, slot: SpineHole, label: int) -> None:
        """Give a hole another label; what stands in it has other ranks then."""
        if slot.label != label:
            slot.label = label
            self._rerank(slot)

    def _rerank(self, slot: SpineHole) -> None:
        for begin in slot.begins():
            old = slot.get(begin)
            self.moved = True
            if isinstance(old, UnitVersion):
                when = NOW if old.key == slot.name else begin
                rank = slot.rank(when) << LEVEL * (self._levels - slot.around.depth)
                unit = self.units[old.key] = old._replace(rank=rank)
                slot.put(begin, unit)
            elif old is not None:
                old.rank = slot.rank(NOW if old.key == slot.name else begin)
                for inner in old.slots():
                    self._rerank(inner)

    def _fill(self, around: Occurrence) -> None:
        """The holes of an occurrence of a fragment of the spine, and what is attached to it."""
        ids, rows = self._carried(around.place)
        self._make_room()
        pairs = enumerate(zip(ids.tolist(), rows.tolist(), strict=True))
        around.holes = [SpineHole(around, code, row, "", at * APART) for at, (code, row) in pairs]
        self._open(around, around.holes)
        if self._history.attaches:
            for code in self._attached_there(around.code).tolist():
                self._attach_to(around, code)

    def _open(self, around: Occurrence, slots: Sequence[SpineHole]) -> None:
        """New holes: name them, and see what stands in them."""
        for slot in slots:
            name = unit_key(self._history, slot.code) if slot.order is None else slot.order[2]
            name = f"{around.key}/{name}" if around.key else name
            others = self._slots.setdefault(slot.code, [])
            turn, slot.name = 0, name
            if others:
                taken = {one.name for one in others if one.around is around}
                while slot.name in taken:
                    turn += 1
                    slot.name = f"{name}~{turn}"
            others.append(slot)
            self.is_slot[slot.code] = True
            if self._links.last(slot.code) >= 0:
                self._revise(slot, None)

    # -- attached ---------------------------------------------------------------------------------

    def _attach(self, places: I64, within: I32) -> None:
        """What arrived may be new where it is attached, or come earlier than it did."""
        codes = self._history.fragments["id"][places]
        known = self.is_slot[codes]
        named = (within >= 0) | known
        if self._sifting is not None:  # what can never count needs no place of its own
            named &= known | ~self._silent[places]
        some = np.flatnonzero(named)
        columns = (within[some].tolist(), codes[some].tolist(), places[some].tolist())
        for parent, code, place in zip(*columns, strict=True):
            around = self._arounds(parent) if parent >= 0 else self._attached_at(code)
            for one in around:
                self._attach_to(one, code, place)

    def _attached_there(self, code: int) -> I64:
        """The ids that are attached to an id and may count."""
        codes = self._links.attached_to(np.array([code], np.int64))
        if self._sifting is None:
            return codes
        places = self._links.all_of(codes)
        counting = self._history.fragments["id"][places[~self._silent[places]]]
        found: I64 = codes[self.is_slot[codes] | np.isin(codes, counting)]
        return found

    def _attached_at(self, code: int) -> list[Occurrence]:
        """What an id is attached to."""
        return [slot.around for slot in self._slots.get(code, ()) if slot.order is not None]

    def _arounds(self, code: int) -> list[Occurrence]:
        """The occurrences of a fragment of the spine."""
        if self.root is not None and self.root.code == code:
            return [self.root]
        found = (one for slot in self._slots.get(code, ()) for one in slot.found())
        return [one for one in found if isinstance(one, Occurrence)]

    def _attach_to(self, around: Occurrence, code: int, place: int = -1) -> None:
        """An id is attached to an occurrence; `place`: the one fragment of it that is new."""
        slot = None
        for one in self._slots.get(code, ()):
            if one.around is around and one.order is not None:
                slot = one
                break
        if slot is None:
            slot = SpineHole(around, code, 0, "", ATTACHED)
            slot.order = self._order(code, None, place)
            self._put_in_order(around, slot)
            self._open(around, [slot])
            return
        order = self._order(code, slot.order, place)
        if slot.order == order:
            return
        around.attached.remove(slot)
        slot.order, before = order, slot.label
        self._put_in_order(around, slot)
        label, slot.label = slot.label, before
        self._set_label(slot, label)

    def _put_in_order(self, around: Occurrence, slot: SpineHole) -> None:
        if not put_in_order(around, slot):
            self._label_all(around.attached, ATTACHED)
            put_in_order(around, slot)

    def _order(self, code: int, known: Order | None, place: int) -> Order:
        """What something attached is sorted by."""
        f = self._history.fragments
        if known is not None and known[0]:
            event, begin, places = True, known[1], [place]
        elif known is not None and self._types[self._tsid[place]] != EVENT:
            return known
        else:
            places = self._links.of(code)
            event, begin = any(map(self._is_event, places)), NOW
        begin = min(begin, *(int(f["valid"][at]) for at in places)) if event else 0
        return event, begin, unit_key(self._history, code)

    def _is_event(self, place: int) -> bool:
        return bool(self._payload[place] >= 0 and self._types[self._tsid[place]] == EVENT)

    # -- what hangs below -------------------------------------------------------------------------

    def _touch_around(self, ids: I64) -> None:
        """Units in whose fragments some ids stand, directly or not, look different."""
        f, links = self._history.fragments, self._links
        seen, todo = set(ids.tolist()), ids
        while len(todo):
            places = distinct(links.owner(links.holding(todo)[1]))
            owners = f["id"][places]
            for at in np.flatnonzero(self.is_slot[owners]).tolist():
                self._touch(int(owners[at]), int(places[at]))
            above = distinct(owners).astype(np.int64)
            if self._history.attaches:
                parents = links.parents(todo)
                for code in parents[self.is_slot[parents]].tolist():
                    self._touch(code, None)
                above = distinct(np.concatenate((above, parents)))
            fresh = [code for code in above.tolist() if code not in seen]
            seen.update(fresh)
            todo = np.array(fresh, np.int64)

    def _touch(self, code: int, place: int | None) -> None:
        """The units of an id whose fragment is at a place, or all of them."""
        for slot in self._slots[code]:
            if place is None:
                found = list(slot.found())
            else:
                one = slot.get(int(self._history.fragments["valid"][place]))
                found = [] if one is None else [one]
                # hidden for a while, it may be in pieces, of which the first begins as it does
                if one is None or one.place != place or self._versions.is_layered(code):
                    found = [two for two in slot.found() if two.place == place]
            for one in found:
                if isinstance(one, UnitVersion):
                    self.dirty[one.key] = None

    # -- reading ----------------------------------------------------------------------------------

    def tags_around(self, units: Sequence[UnitVersion]) -> list[Tags]:
        """The start tags around some units."""
        missing: dict[int, list[Occurrence]] = {}
        for unit in units:
            around: Occurrence | None = unit.slot.around
            while around is not None and not around.tags:
                missing.setdefault(around.depth, []).append(around)
                around = None if around.slot is None else around.slot.around
        for depth in sorted(missing):
            arounds = list({id(one): one for one in missing[depth]}.values())
            write_tags(self._history, self._links, self.cut, arounds, self.until)
        return [unit.slot.around.tags[unit.slot.row] for unit in units]

    def keys_of(self, code: int) -> list[str]:
        """The units of an id."""
        found = (one for slot in self._slots.get(code, ()) for one in slot.found())
        return [one.key for one in found if isinstance(one, UnitVersion)]

    def codes(self, keys: Iterable[str]) -> I64:
        """The ids of some units."""
        return np.array(sorted({self.units[key].slot.code for key in keys}), np.int64)

    # -- what is dropped --------------------------------------------------------------------------

    def first_rank(self) -> int:
        """Before this rank there is no unit, and will be none."""
        holes = [] if self.root is None else self.root.holes
        while self._first < len(holes) and holes[self._first].code in self._done:
            self._first += 1
        if self._first < len(holes):
            return holes[self._first].label << INSTANT
        return ATTACHED << INSTANT if holes else -ATTACHED << INSTANT

    def drop(self, codes: Iterable[int]) -> None:
        """Units of some ids will not change and are not read again: drop them, and say nothing."""
        for code in codes:
            self._done.add(code)
            for slot in self._slots.get(code, ()):
                for begin in slot.begins():
                    one = slot.get(begin)
                    if isinstance(one, UnitVersion):
                        self.units.pop(one.key, None)
                        slot.put(begin, None)

    def bury(self, places: Iterable[int]) -> None:
        """The fragments at some places are no longer kept: nor are the units made of them."""
        f = self._history.fragments
        for place in places:
            for slot in self._slots.get(int(f["id"][place]), ()):
                for begin in slot.begins():
                    one = slot.get(begin)
                    if isinstance(one, UnitVersion) and one.place == place:
                        self._leave(one)
                        slot.put(begin, None)

    def compacted(self, links: FragmentPlaces, place: I64, moved: Iterable[int]) -> None:
        """Fragments are at other places now: `place` says where; below 0 for those not kept.

        `moved` are the ids of which any is elsewhere, or gone.
        """
        moved = list(moved)
        self._links = links
        self._versions = Versions(self._history, links)
        stays = np.flatnonzero(place[: self._sifted] >= 0)
        self._silent[: len(stays)] = self._silent[stays]
        self._later[: len(stays)] = self._later[stays]
        self._sifted = len(stays)
        self._look()
        for code in moved:
            for slot in self._slots.get(code, ()):
                for begin in slot.begins():
                    self._replaced(slot, begin, place)
        if self.root is not None:
            self.root.place = int(place[self.root.place])
        self._close_empty(moved)

    def _close_empty(self, codes: Iterable[int]) -> None:
        """Let the places go of what is attached, where nothing is kept of these ids."""
        closed: dict[int, tuple[Occurrence, set[int]]] = {}
        for code in codes:
            if self._links.last(code) >= 0:
                continue
            for slot in list(self._slots.get(code, ())):
                if slot.order is not None and not slot.begins():
                    closed.setdefault(id(slot.around), (slot.around, set()))[1].add(id(slot))
                    self._close(slot)
        for around, gone in closed.values():  # once for each, however many go
            around.attached = [slot for slot in around.attached if id(slot) not in gone]

    def _replaced(self, slot: SpineHole, begin: int, place: I64) -> None:
        one = slot.get(begin)
        assert one is not None
        at = int(place[one.place])
        if isinstance(one, Occurrence):
            one.place = at
        elif at >= 0:
            slot.put(begin, one._replace(place=at))
            self.units[one.key] = slot.get(begin)  # type: ignore[assignment]
        else:  # a newer content has come that was not taken in yet
            self._leave(one)
            slot.put(begin, None)

    def mark(self, codes: Bools) -> None:
        """Mark the ids that it knows."""
        for known in (self._slots, self._root_codes, self._done):
            codes[list(known)] = True

    def forget(self, codes: I64) -> None:
        """Nothing is kept of these ids, and others will have their codes."""
        inside = codes[codes < len(self.is_slot)]
        self.is_slot[inside], self._latest[inside] = False, START

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return 500 * len(self.units) + 120 * len(self._slots) + self._versions.state_bytes


def _key(slot: SpineHole, begin: int) -> str:
    """The key of the version in a hole that begins then; one that is known is not made again."""
    known = slot.get(begin)
    return f"{slot.name}@{show_instant(begin)}" if known is None else known.key


def _lasts_else(old: UnitVersion, new: UnitVersion) -> bool:
    """Whether a unit is what it was, but for its end."""
    return old[:4] == new[:4] and old.rank == new.rank


def _common(old: I64, new: I64) -> tuple[int, int]:
    """How many ids at the beginning and at the end of two lists are the same."""
    short = min(len(old), len(new))
    differs = np.flatnonzero(old[:short] != new[:short])
    head = int(differs[0]) if len(differs) else short
    rest = short - head
    if rest == 0:
        return head, 0
    differs = np.flatnonzero(old[len(old) - rest :] != new[len(new) - rest :])
    return head, rest - 1 - int(differs[-1]) if len(differs) else rest


def _units(found: UnitVersion | Occurrence) -> Iterator[UnitVersion]:
    if isinstance(found, UnitVersion):
        yield found
        return
    for slot in found.slots():
        for one in slot.found():
            yield from _units(one)
