"""What is around units: fragments of the spine, their holes in order, and their start tags."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from xstreamcast.history.view import written
from xstreamcast.model.instant import NOW, START
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.units.parts import tops_of, unit_part
from xstreamcast.operators.units.root import check_spine, same_tag
from xstreamcast.tape.fragments.wrap import start_tag
from xstreamcast.tape.layout import ELEMENT, KIND, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xstreamcast.algebra.analysis.cut import TagCut
    from xstreamcast.history.history import History
    from xstreamcast.operators.units.history_part import FragmentPlaces
    from xstreamcast.tape.layout import I64, Tape

Tags = tuple["Tape", ...]  # the start tags around something, from the outside in

APART: Final = 1 << 128  # between two labels, so that many more fit between them
_NEAR: Final = 1 << 64  # how far behind another label a new one is put
INSTANT: Final = 64  # bits of a rank that sort the versions in a hole
ATTACHED: Final = 1 << 200  # where the labels of what is attached begin
LEVEL: Final = 320  # bits of a rank for one level of the spine

Order = tuple[bool, int, str]  # of what is attached: whether it is an event, its begin, its id


class UnitVersion(NamedTuple):
    """A version of the content of a hole: where it arrived, its lifespan there, and its rank."""

    key: str
    slot: SpineHole
    place: int
    begin: int
    end: int
    zones: int
    rank: int


class Occurrence:
    """An occurrence of a fragment of the spine."""

    __slots__ = (
        *("attached", "begin", "clip", "code", "depth", "end", "holes", "key", "place", "rank"),
        *("slot", "tags", "zones"),
    )

    def __init__(self, key: str, code: int, place: int, slot: SpineHole | None, rank: int) -> None:
        self.key, self.code, self.place, self.slot, self.rank = key, code, place, slot, rank
        self.depth: int = 0 if slot is None else slot.around.depth + 1
        self.begin, self.end, self.zones = START, NOW, 0  # its own lifespan
        self.clip = START, NOW, 0  # at most that of its content
        self.holes: list[SpineHole] = []  # in the order of their labels
        self.attached: list[SpineHole] = []
        self.tags: dict[int, Tags] = {}  # by the row of an element, counted from the payload's

    def slots(self) -> Iterator[SpineHole]:
        """Its holes and the places of what is attached to it, in order."""
        yield from self.holes
        yield from self.attached

    def same(self, other: Occurrence) -> bool:
        """Whether another occurrence is the same fragment in the same place and time."""
        mine = self.key, self.place, self.rank, self.begin, self.end, self.zones, self.clip
        theirs = other.begin, other.end, other.zones, other.clip
        return mine == (other.key, other.place, other.rank, *theirs)


class SpineHole:
    """A hole in an occurrence of a fragment, or the place of what is attached to it."""

    __slots__ = ("_many", "_one", "around", "code", "label", "name", "order", "row")

    def __init__(self, around: Occurrence, code: int, row: int, name: str, label: int = 0) -> None:
        self.around, self.code, self.row, self.name, self.label = around, code, row, name, label
        self.order: Order | None = None  # of what is attached; None for a hole
        self._one: tuple[int, UnitVersion | Occurrence] | None = None
        self._many: dict[int, UnitVersion | Occurrence] | None = None

    def rank(self, begin: int) -> int:
        """The rank of the version that begins at an instant."""
        return (self.around.rank << LEVEL) + (self.label << INSTANT) + begin + (1 << 63)

    def get(self, begin: int) -> UnitVersion | Occurrence | None:
        """What the version that begins at an instant has become."""
        if self._many is not None:
            return self._many.get(begin)
        return self._one[1] if self._one is not None and self._one[0] == begin else None

    def put(self, begin: int, found: UnitVersion | Occurrence | None) -> None:
        """Note what a version has become; None: there is none."""
        if self._many is None and (self._one is None or self._one[0] == begin):
            self._one = None if found is None else (begin, found)
            return
        if self._many is None:
            assert self._one is not None
            self._many, self._one = dict([self._one]), None
        if found is None:
            self._many.pop(begin, None)
        else:
            self._many[begin] = found

    def begins(self) -> list[int]:
        """When the versions that are there begin."""
        if self._many is not None:
            return list(self._many)
        return [] if self._one is None else [self._one[0]]

    def found(self) -> Iterator[UnitVersion | Occurrence]:
        """Its versions: units, or fragments of the spine."""
        if self._many is not None:
            yield from self._many.values()
        elif self._one is not None:
            yield self._one[1]


def label_between(before: int | None, behind: int | None, first: int = 0) -> int | None:
    """A label between two others; None if there is no room."""
    if before is None:
        return first if behind is None else behind - APART
    if behind is None:
        return before + APART
    found = before + min(_NEAR, (behind - before) // 2)
    return None if found == before else found


def put_in_order(around: Occurrence, slot: SpineHole) -> bool:
    """Give what is attached its label among the others; False if there is no room for it."""
    others = around.attached
    at = bisect_left(others, slot.order, key=lambda one: one.order)
    before = others[at - 1].label if at else None
    behind = others[at].label if at < len(others) else None
    label = label_between(before, behind, ATTACHED)
    if label is None:
        return False
    slot.label = label
    others.insert(at, slot)
    return True


def write_tags(
    history: History, links: FragmentPlaces, cut: TagCut, arounds: Sequence[Occurrence], until: int
) -> None:
    """Make the start tags around the holes of some occurrences; Forbidden if they cannot be cut."""
    part = unit_part(history, links, tops_of(arounds), below=False)
    made = written(part, until, document=False)
    check_spine(made.tape, history, cut)
    if any(one.slot is not None for one in arounds) and _binds(made.tape):
        raise Forbidden("a fragment around units binds namespaces")
    tops = np.flatnonzero(made.instances.parent < 0)
    first = made.row[tops]
    last = first + made.tape.columns.size[first] + 1
    for at, one in zip(made.instances.link[tops].tolist(), range(len(tops)), strict=True):
        elements = np.flatnonzero(
            (made.tape.columns.kind[first[one] : last[one]] & KIND) == ELEMENT
        )
        _note_tags(history, arounds[at], made.tape, elements + first[one])


def _note_tags(history: History, around: Occurrence, tape: Tape, elements: I64) -> None:
    """The tags around each element of a payload that contains holes, and around its root."""
    f, h = history.fragments, history.holes
    place = around.place
    source = history.store.tape(int(f["tape"][place])).columns
    payload = int(f["payload"][place])
    begin, end = int(f["holes"][place - 1]) if place else 0, int(f["holes"][place])
    rows = np.arange(payload, payload + int(source.size[payload]) + 1)
    own = (source.kind[rows] & KIND) == ELEMENT
    own[h["row"][begin:end] - payload] = False
    ordinal = np.cumsum(own) - 1
    outer: Tags = () if around.slot is None else around.slot.around.tags[around.slot.row]
    wanted = {payload, *source.parent[h["row"][begin:end]].tolist()}
    made: dict[int, Tape] = {}
    for row in wanted:
        chain = [row]
        while chain[-1] != payload:
            chain.append(int(source.parent[chain[-1]]))
        for one in chain:
            if one not in made:
                made[one] = start_tag(tape, int(elements[ordinal[one - payload]]))
        around.tags[row - payload] = (*outer, *(made[one] for one in reversed(chain)))


def same_tags(one: Tags | None, other: Tags | None) -> bool:
    """Whether the start tags around two places are the same."""
    if one is None or other is None or len(one) != len(other):
        return False
    return all(map(same_tag, one, other))


def _binds(tape: Tape) -> bool:
    return bool(((tape.columns.kind & KIND) == NAMESPACE).any())
