"""The root fragment of a stream: what it contains, and which units in which order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.history.view import written
from xstreamcast.model.instant import NOW
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.units.history_part import FragmentPlaces, history_part
from xstreamcast.tape.fragments.wrap import start_tag
from xstreamcast.tape.layout import ELEMENT, KIND, NAMESPACE

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.cut import TagCut
    from xstreamcast.history.history import History
    from xstreamcast.tape.layout import I64, Columns, Tape

Spine = tuple["Tape", ...]


@dataclass(frozen=True, slots=True, eq=False)
class UnitRoot:
    """`keys`: units in order, each with its id; `spine_of`: which start tags are around each."""

    codes: frozenset[int]
    keys: list[tuple[str, int]]
    spine_of: I64
    tags: list[Spine]
    rows: list[int]  # of the innermost of these, counted from the root's
    place: int
    tape: Tape

    def concerns(self, dirty: set[int]) -> bool:
        """Whether the root itself is among what is dirty."""
        return not self.codes.isdisjoint(dirty)

    def around(self, place: int) -> Spine:
        """The start tags around the unit at a place."""
        return self.tags[int(self.spine_of[place])]

    def same_around(self, other: UnitRoot, place: int, before: int) -> bool:
        """Whether a unit is below the same start tags as it was in another root."""
        mine, theirs = self.around(place), other.around(before)
        return len(mine) == len(theirs) and all(map(same_tag, mine, theirs))

    def by_spine(self, places: I64, units: I64) -> Iterator[tuple[Spine, I64]]:
        """Units that follow each other below the same start tags, together."""
        spines = self.spine_of[places]
        cuts = np.flatnonzero(np.diff(spines)) + 1
        for spine, part in zip(
            spines[np.concatenate((np.zeros(1, np.int64), cuts))], np.split(units, cuts),
            strict=True,
        ):  # fmt: skip
            yield self.tags[spine], part


def same_tag(a: Tape, b: Tape) -> bool:
    """Whether two start tags have the same names and the same text."""
    if a is b:
        return True
    one, other = a.columns, b.columns
    return (
        bool(np.array_equal(one.name, other.name))
        and bool(np.array_equal(one.length, other.length))
        and bool(np.array_equal(one.heap, other.heap))
    )


def root_of(
    history: History, links: FragmentPlaces, cut: TagCut, until: int = NOW
) -> UnitRoot | None:
    """The root as it was last sent; None if there is none. Forbidden if it cannot be cut."""
    codes = history.roots(until).tolist()
    if not codes:
        return None
    if len(codes) > 1:
        raise Forbidden("the stream has several roots")
    made = written(history_part(history, links, codes, below=False), until, document=False)
    if len(made.instances.place) == 0:
        return None
    check_spine(made.tape, history, cut)
    return _read(history, links, codes[0], made.tape, until)


def check_spine(tape: Tape, history: History, cut: TagCut) -> None:
    """Start tags around units must hold what its structure says, and bind no default namespace."""
    c = tape.columns
    known = {(tag.uri, tag.local) for tag in map(history.structure.__getitem__, cut.spine_tags())}
    for name in np.unique(c.name[(c.kind & KIND) == ELEMENT]).tolist():
        _, local, uri = tape.names.qname(name)
        if (uri, local) not in known:
            raise Forbidden(f"the root holds {local}, which its structure does not declare")
    for name in np.unique(c.name[(c.kind & KIND) == NAMESPACE]).tolist():
        _, local, uri = tape.names.qname(name)
        if local == "" and uri:
            raise Forbidden("the root binds a default namespace")


def _read(history: History, links: FragmentPlaces, code: int, tape: Tape, until: int) -> UnitRoot:
    """The holes of the root's latest content, each with the start tags around it."""
    f, h = history.fragments, history.holes
    place = latest_place(history, links, code, until)
    last = int(f["holes"][place])
    first = int(f["holes"][place - 1]) if place else 0
    rows, ids = h["row"][first:last].tolist(), h["id"][first:last].tolist()
    source = history.store.tape(int(f["tape"][place])).columns
    payload = int(f["payload"][place])
    elements = np.flatnonzero((tape.columns.kind & KIND) == ELEMENT)
    ordinal = _ordinals(source, payload, set(rows))
    keys: list[tuple[str, int]] = []
    spines: list[int] = []
    tags: list[Spine] = []
    around_rows: list[int] = []
    known: dict[int, int] = {}
    seen: dict[int, int] = {}
    for row, unit in zip(rows, ids, strict=True):
        parent = int(source.parent[row])
        if parent not in known:
            known[parent] = len(tags)
            chain = _chain(source, parent, payload)
            tags.append(tuple(start_tag(tape, int(elements[ordinal[one]])) for one in chain))
            around_rows.append(parent - payload)
        turn = seen[unit] = seen.get(unit, -1) + 1
        text = unit_key(history, unit)
        keys.append((f"{text}~{turn}" if turn else text, unit))
        spines.append(known[parent])
    carried = history.carried()
    if len(carried.attached_first) > code + 1:
        around = len(tags)
        tags.append((start_tag(tape, int(elements[ordinal[payload]])),))
        around_rows.append(0)
        begin, end = carried.attached_first[code], carried.attached_first[code + 1]
        for unit in carried.attached[begin:end].tolist():
            turn = seen[unit] = seen.get(unit, -1) + 1
            keys.append((unit_key(history, unit) + (f"~{turn}" if turn else ""), unit))
            spines.append(around)
    return UnitRoot(
        frozenset({code}), keys, np.array(spines, np.int64), tags, around_rows, place, tape
    )


def unit_key(history: History, code: int) -> str:
    """What a unit is known by."""
    return str(code) if history.ids is None else history.ids.text(code)


def latest_place(history: History, links: FragmentPlaces, code: int, until: int) -> int:
    """Where the content that counts arrived: the newest valid time, of these the last."""
    f = history.fragments
    known = [place for place in links.of(code) if f["valid"][place] <= until]
    order = f["valid"], f["version"]
    return max(known, key=lambda place: (*(int(one[place]) for one in order), place))


def _ordinals(source: Columns, payload: int, holes: set[int]) -> dict[int, int]:
    """The number of each element of a payload among those that are no holes."""
    c = source
    size = int(c.size[payload])
    kinds = c.kind[payload : payload + size + 1] & KIND
    rows = (np.flatnonzero(kinds == ELEMENT) + payload).tolist()
    return {row: i for i, row in enumerate(row for row in rows if row not in holes)}


def _chain(source: Columns, row: int, payload: int) -> list[int]:
    found = [row]
    while found[-1] != payload:
        found.append(int(source.parent[found[-1]]))
    return found[::-1]
