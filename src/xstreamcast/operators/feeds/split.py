"""A document on its way in, each of its units by itself: for joins, which ask for some of them."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.operators.feeds.document import LevelCut, chosen_cut
from xstreamcast.operators.units.kept import KeptUnits, together
from xstreamcast.operators.units.units import NOTHING, Minis, Numbered, UnitDelta
from xstreamcast.tape.fragments.wrap import wrapped
from xstreamcast.tape.layout import ELEMENT, KIND, NAMESPACE, Columns, Tape
from xstreamcast.tape.reading.places import PlacedReading, Run, Spine

if TYPE_CHECKING:
    from xstreamcast.tape.names import Names


class UnitName(str):
    """The key of a unit; the unit is kept for as long as there is a reference to this object."""

    __slots__ = ("__weakref__",)


class SplitFeed:
    """Keeps the units it emits for as long as they may be evaluated again.

    `whole`: all bytes are kept as well, because the document may have to be read another way.
    `held`: a unit may be dropped when no row holds its name any more; it is if it `drops`.
    """

    def __init__(
        self, name: str, names: Names, cuts: Sequence[LevelCut] = ((1, ()),), whole: bool = False,
        held: bool = False, drops: bool = False,
    ) -> None:  # fmt: skip
        self.held, self.drops = held, drops
        self._alive: dict[str, weakref.ref[UnitName]] = {}
        self._dead: list[str] = []
        self.name, self._names, self._cuts = name, names, cuts
        self._whole = whole
        self.raw = bytearray()
        self._reading: PlacedReading | None = None
        self.cut: LevelCut = cuts[0]  # where the units of this document are
        self._places = Numbered()
        self._kept = KeptUnits()
        self.keeps = True  # units may be evaluated again
        self.units = 0

    def feed(self, chunk: bytes) -> UnitDelta:
        """Read bytes → the units that they completed."""
        if self._whole:
            self.raw += chunk
        if self._reading is None:
            self.cut = chosen_cut(self._cuts, chunk)
            self._reading = self.reading()
        runs = self._reading.runs(chunk)
        parts = [one for run in runs for one in self._minis(run)]
        if not parts:
            return NOTHING
        minis = together(parts)
        if self.keeps:
            self._kept.add(minis)
        return self._moved(minis)

    def _named(self, minis: Minis) -> Minis:
        """The units with names that hold them."""
        return replace(minis, keys=tuple(map(self._name_of, minis.keys)))

    def _name_of(self, key: str) -> UnitName:
        known = self._alive.get(key)
        found = None if known is None else known()
        if found is None:
            found = UnitName(key)
            self._alive[key] = weakref.ref(found, lambda _: self._dead.append(key))
        return found

    def drop(self) -> None:
        """Drop units that no row holds."""
        if not self._dead or not self.drops:
            return
        dead, self._dead = self._dead, []
        gone = [key for key in dead if key in self._alive and self._alive[key]() is None]
        for key in gone:
            del self._alive[key]
        self._kept.forget(gone)

    def reading(self) -> PlacedReading:
        """What reads a document whose units are at the cut."""
        level, guards = self.cut

        def is_unit(uri: str, local: str) -> bool:
            return any(local == name and wanted in (None, uri) for wanted, name in guards)

        return PlacedReading(level, self._names, self.name, is_unit=is_unit)

    def _minis(self, run: Run) -> Iterator[Minis]:
        """Each element of a run below the start tags around it."""
        tape = _without_inherited(_cropped(run), run.spine)
        roots = tape.roots().astype(np.int64)
        roots = roots[(tape.columns.kind[roots] & KIND) == ELEMENT]
        self.units += len(roots)
        if len(roots) == 0:
            return
        last = roots + tape.columns.size[roots] + 1
        mini, documents = wrapped(run.spine, tape, roots, last)
        first = self._places.count
        self._places.count += len(roots)
        yield Minis(mini, documents, tuple(map(str, range(first, self._places.count))))

    def close(self) -> None:
        """End the input; the root may be open."""
        if self._reading is not None:
            self._reading.close()

    def behind(self) -> bytes:
        """Bytes of another document, which followed this one."""
        return b"" if self._reading is None else self._reading.behind()

    def next_document(self) -> None:
        """What comes from now on is another document, behind this one."""
        self._reading = None
        self.raw += b"\n" if self._whole else b""

    def again(self, keys: Iterable[str]) -> list[UnitDelta]:
        """Some units, to be evaluated again."""
        return [self._moved(one) for one in self._kept.chosen(keys)]

    def everything(self) -> UnitDelta:
        """All units, to be evaluated again."""
        found = self._kept.everything()
        return self._moved(together(found)) if found else NOTHING

    def release(self) -> None:
        """No unit will be evaluated again, neither past nor future ones."""
        self.keeps = False
        self._kept.clear()

    def _moved(self, minis: Minis) -> UnitDelta:
        minis = self._named(minis) if self.held else minis
        return UnitDelta(minis, places=self._places)

    @property
    def state_bytes(self) -> int:
        """Bytes held: the unfinished unit, and those that are kept."""
        return (
            self._kept.state_bytes
            + len(self.raw)
            + (0 if self._reading is None else self._reading.held)
        )


def _cropped(run: Run) -> Tape:
    """The rows of a run over the bytes that are theirs."""
    rows = slice(run.first, run.last)
    c = run.tape.columns
    start, length, parent = c.start[rows], c.length[rows], c.parent[rows]
    real = length > 0
    low = int(start[real].min()) if real.any() else 0
    high = int((start[real] + length[real]).max()) if real.any() else 0
    columns = c._replace(
        kind=c.kind[rows], level=c.level[rows], name=c.name[rows], size=c.size[rows],
        parent=np.where(parent < 0, -1, parent - run.first).astype(np.int32),
        start=np.where(real, start - low, 0), length=length, heap=c.heap[low:high],
    )  # fmt: skip
    return Tape(columns, run.tape.names, run.tape.source)


def _without_inherited(tape: Tape, spine: Spine) -> Tape:
    """The rows without namespaces that units only inherit: they are declared around them."""
    inherited = _in_scope(spine)
    c = tape.columns
    if not inherited:
        return tape
    own = (c.kind & KIND == NAMESPACE) & np.isin(c.name, inherited)
    own[own] = c.parent[c.parent[own]] < 0
    keep = ~own
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(own)))
    rows = np.arange(len(tape))
    size = c.size - (before[rows + c.size + 1] - before[rows + 1])
    parent = np.where(c.parent < 0, -1, c.parent - before[np.maximum(c.parent, 0)])
    columns = c._replace(size=size.astype(np.int32), parent=parent.astype(np.int32))
    taken = [column[keep] for column in columns[:-1]]
    return Tape(Columns._make([*taken, c.heap]), tape.names, tape.source)


def _in_scope(spine: Spine) -> list[int]:
    """The names of namespaces that hold below some start tags; inner ones hide outer ones."""
    found: dict[str, int] = {}
    for tag in spine:
        c = tag.columns
        for row in np.flatnonzero((c.kind & KIND) == NAMESPACE).tolist():
            found[tag.names.qname(int(c.name[row]))[1]] = int(c.name[row])
    return list(found.values())
