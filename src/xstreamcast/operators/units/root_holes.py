"""The root of a stream: which of its holes stay when it is sent again, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.history.view import written
from xstreamcast.model.column import distinct
from xstreamcast.model.instant import NOW
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.units.parts import tops_of, unit_part
from xstreamcast.operators.units.spine import (
    Occurrence,
    SpineHole,
    Tags,
    UnitVersion,
    label_between,
    same_tags,
    write_tags,
)
from xstreamcast.operators.units.spine_holes import SpineHoles
from xstreamcast.operators.units.spine_view import SpineView

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64


class RootHoles(SpineHoles):
    """The holes of the root, whose content may be sent again with other holes.

    a hole that is in both contents  →  its versions, keys and, where possible, its label
    """

    def spine(self) -> SpineView | None:
        """The elements of the current root; None if there is none."""
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
        """The row in the root of the element around a unit, or around its fragment in the root."""
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

    def _redo(self, slot: SpineHole) -> None:
        """The start tags around a hole have changed: its units must be evaluated."""
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
