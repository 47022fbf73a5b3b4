"""The holes of a stream's spine, and the versions of units in each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.history.versions import Version, Versions
from xstreamcast.model.instant import NOW, START, show_instant
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.units.root import unit_key
from xstreamcast.operators.units.spine import (
    APART,
    ATTACHED,
    LEVEL,
    Occurrence,
    Order,
    SpineHole,
    Tags,
    UnitVersion,
    put_in_order,
)
from xstreamcast.operators.units.spine_view import SpineView
from xstreamcast.tape.fragments.instance_kernels import EVENT, SNAPSHOT

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.cut import TagCut
    from xstreamcast.history.history import History
    from xstreamcast.operators.feeds.sifting import Sifting
    from xstreamcast.operators.units.history_part import FragmentPlaces
    from xstreamcast.tape.layout import I64, Bools


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


class SpineHoles:
    """The holes around units, each with its versions, and what is attached; all start empty."""

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
        self.now = START  # what the clock has reached
        self.ends = True  # the query may read when units end
        self.current: frozenset[int] = frozenset()  # tags of which nothing is seen that has ended
        self.root: Occurrence | None = None
        self._spine: tuple[dict[int, Tags], SpineView] | None = None
        self.is_slot: Bools = np.zeros(1024, np.bool_)  # by id: a hole of the spine is for it
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

    def _look(self) -> None:
        """Fragments have arrived: read their columns, which have grown."""
        f = self._history.fragments
        self._payload, self._tsid, self._within = f["payload"], f["tsid"], f["within"]
        self._versions.look()

    def _make_room(self) -> None:
        more = self._links.ids - len(self.is_slot)
        if more > 0:
            self.is_slot = np.concatenate((self.is_slot, np.zeros(more, np.bool_)))
            self._latest = np.concatenate((self._latest, np.full(more, START, np.int64)))

    # -- versions in a hole ------------------------------------------------------------------------

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
        """A version has left its hole."""
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

    def _shows(self, slot: SpineHole, version: Version) -> bool:
        if self._payload[version.place] < 0:
            return False
        if self._sifting is not None and self._silent[version.place]:
            return False
        if slot.order is not None and self._within[version.place] != slot.around.code:
            return False  # this version is attached to something else
        if self._types[self._tsid[version.place]] == SNAPSHOT:
            return version.last and version.end == NOW  # its latest content is its only version
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

    # -- holes -------------------------------------------------------------------------------------

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
        """New holes: name them, and look for their versions."""
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

    # -- what is attached to them ------------------------------------------------------------------

    def _attached_there(self, code: int) -> I64:
        """The ids that are attached to an id and may count."""
        codes = self._links.attached_to(np.array([code], np.int64))
        if self._sifting is None:
            return codes
        places = self._links.all_of(codes)
        counting = self._history.fragments["id"][places[~self._silent[places]]]
        found: I64 = codes[self.is_slot[codes] | np.isin(codes, counting)]
        return found

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

    # -- labels ------------------------------------------------------------------------------------

    def _label_all(self, slots: Sequence[SpineHole], base: int) -> None:
        for at, slot in enumerate(slots):
            self._set_label(slot, base + at * APART)

    def _set_label(self, slot: SpineHole, label: int) -> None:
        """Give a hole another label; this changes the ranks of its content."""
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


def _key(slot: SpineHole, begin: int) -> str:
    """The key of the version in a hole that begins then; one that is known is not made again."""
    known = slot.get(begin)
    return f"{slot.name}@{show_instant(begin)}" if known is None else known.key


def _lasts_else(old: UnitVersion, new: UnitVersion) -> bool:
    """Whether a unit is what it was, but for its end."""
    return old[:4] == new[:4] and old.rank == new.rank
