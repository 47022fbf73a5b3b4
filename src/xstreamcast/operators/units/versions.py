"""Units of a stream by hole and version: which there are, and which an arrival touches.

units after any arrivals  →  the versions in the holes of the spine, in document order
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.history.versions import Versions
from xstreamcast.model.column import distinct
from xstreamcast.model.fragment import TEMPORARY
from xstreamcast.model.instant import START
from xstreamcast.operators.units.root_holes import RootHoles
from xstreamcast.operators.units.spine import (
    ATTACHED,
    INSTANT,
    Occurrence,
    SpineHole,
    Tags,
    UnitVersion,
    write_tags,
)
from xstreamcast.tape.fragments.instance_kernels import EVENT, SNAPSHOT

if TYPE_CHECKING:
    from xstreamcast.operators.units.history_part import FragmentPlaces
    from xstreamcast.tape.layout import I32, I64, Bools


class VersionUnits(RootHoles):
    """The spine of a stream, and the units in its holes."""

    # -- arrivals ----------------------------------------------------------------------------------

    def take(self, first: int, last: int, due: Sequence[tuple[int, int]]) -> None:
        """Add what arrived at places from first to last; `due`: what the clock has reached."""
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
        touched = self._touched(ids[~unseen], places[~unseen], due)  # before any version is read
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
        """What changed since the last call: units to be evaluated, units that are gone, and
        whether the ranks of others changed.
        """
        dirty = [key for key in self.dirty if key in self.units]
        gone = [key for key in self.gone if key not in self.units]
        moved, self.moved = self.moved, False
        self.dirty, self.gone = {}, {}
        return dirty, gone, moved

    def _sift(self, last: int) -> None:
        """Mark the fragments that arrived and can never count, and those that are later than all
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

    def _touched(
        self, ids: I64, places: I64, due: Iterable[tuple[int, int]]
    ) -> list[tuple[int, set[int] | None]]:
        """Ids in holes whose versions may have changed, and when these begin."""
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
        """Whether a version does not change when another one follows it."""
        if self.ends or self.current or self._passed:
            return False
        structure = self._history.structure
        units = [tag for tag in structure.tags if tag != structure.root and structure.travels(tag)]
        return bool((self._types[units] != SNAPSHOT).all())

    def _unseen(self, ids: I64, places: I64) -> Bools:
        """Fragments that change no unit: all that came of their id is silent, and
        either nothing is there, or what is there only ends earlier than it did.
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

    def _attached_at(self, code: int) -> list[Occurrence]:
        """What an id is attached to."""
        return [slot.around for slot in self._slots.get(code, ()) if slot.order is not None]

    def _arounds(self, code: int) -> list[Occurrence]:
        """The occurrences of a fragment of the spine."""
        if self.root is not None and self.root.code == code:
            return [self.root]
        found = (one for slot in self._slots.get(code, ()) for one in slot.found())
        return [one for one in found if isinstance(one, Occurrence)]

    # -- fragments inside of units -----------------------------------------------------------------

    def _touch_around(self, ids: I64) -> None:
        """Units whose fragments contain some ids, directly or not, are changed."""
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
                # hidden for a while, it may be in pieces, the first of which begins as it does
                if one is None or one.place != place or self._versions.is_layered(code):
                    found = [two for two in slot.found() if two.place == place]
            for one in found:
                if isinstance(one, UnitVersion):
                    self.dirty[one.key] = None

    # -- reading -----------------------------------------------------------------------------------

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

    # -- what is dropped ---------------------------------------------------------------------------

    def first_rank(self) -> int:
        """Before this rank there is no unit, and will be none."""
        holes = [] if self.root is None else self.root.holes
        while self._first < len(holes) and holes[self._first].code in self._done:
            self._first += 1
        if self._first < len(holes):
            return holes[self._first].label << INSTANT
        return ATTACHED << INSTANT if holes else -ATTACHED << INSTANT

    def drop(self, codes: Iterable[int]) -> None:
        """Units of some ids will not change and are not read again: drop them without a change."""
        for code in codes:
            self._done.add(code)
            for slot in self._slots.get(code, ()):
                for begin in slot.begins():
                    one = slot.get(begin)
                    if isinstance(one, UnitVersion):
                        self.units.pop(one.key, None)
                        slot.put(begin, None)

    def bury(self, places: Iterable[int]) -> None:
        """The fragments at some places are dropped: drop the units made of them."""
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
        """Drop the places of what is attached, where nothing is kept of these ids."""
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
        else:  # newer content has come that was not added yet
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
