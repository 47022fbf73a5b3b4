"""A document on its way in: units as they are completed, or all of it where no unit can be cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from xml.parsers import expat

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.model.items import Items
from xstreamcast.operators.units.units import NOTHING, Minis, Numbered, UnitDelta
from xstreamcast.tape.fragments.wrap import wrapped
from xstreamcast.tape.join import joined
from xstreamcast.tape.layout import ELEMENT, KIND
from xstreamcast.tape.reading.pieces import Piece, PieceReading
from xstreamcast.tape.reading.places import PlacedReading, Spine

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.cut import Guard
    from xstreamcast.tape.layout import Tape
    from xstreamcast.tape.names import Names
    from xstreamcast.tape.store import Store


LevelCut = tuple[int, "Sequence[Guard]"]
_HEAD: Final = 1 << 16  # bytes that are read to find the level of units


class Forbidden(Exception):
    """The root of a stream is not what a cut needs it to be."""


class PlannedStates(Forbidden):
    """States begin or end after now, and the query may look there."""


class DocumentFeed:
    """Cuts between units and drops what it emitted: pieces of whole units, a document each.

    `cuts`: levels at which units are (1: the children of the root), each with the names of
    elements that are units even above it. All of them hold; the deepest lets pieces be smallest.
    The beginning of the document determines which level counts as a unit of time. Children with the
    names in `held` are never parted from each other.
    """

    def __init__(
        self, name: str, names: Names, cuts: Sequence[LevelCut] = ((1, ()),),
        held: Sequence[Guard] = (),
    ) -> None:  # fmt: skip
        self.name, self._names, self._cuts, self._held = name, names, cuts, held
        self._reading: PieceReading | None = None
        self._places = Numbered()
        self.counted: LevelCut = (1, ())
        self.units = 0

    def feed(self, chunk: bytes) -> UnitDelta:
        """Read bytes → the units that they completed."""
        if self._reading is None:
            self.counted = chosen_cut(self._cuts, chunk[:_HEAD])
            self._reading = self.reading()
        piece = self._reading.feed(chunk)
        if piece is None:
            return NOTHING
        self.units += self._count(piece)
        around = piece.before, piece.behind
        key = str(self._places.count)
        minis = Minis(piece.tape, np.zeros(1, np.int64), (key,), around=around)
        self._places.count += 1
        return UnitDelta(minis, places=self._places)

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

    def reading(self) -> PieceReading:
        """What reads a document in pieces."""
        level, guards = self._cuts[-1]
        return PieceReading(
            level + 1, self._names, self.name, is_whole=_among(guards), is_held=_among(self._held)
        )

    def _count(self, piece: Piece) -> int:
        """How many units have begun: elements of the level that counts, and guards above it."""
        level, guards = self.counted
        c = piece.tape.columns
        high = np.flatnonzero(c.level[piece.fresh :] <= level + 1) + piece.fresh
        high = high[(c.kind[high] & KIND) == ELEMENT]
        begun = c.level[high] == level + 1
        for uri, local in guards:
            begun |= self._names.matching(local, uri)[c.name[high]]
        return int(np.count_nonzero(begun))

    @property
    def state_bytes(self) -> int:
        """Bytes held: those of the unfinished unit."""
        return 0 if self._reading is None else self._reading.held


def _among(guards: Sequence[Guard]) -> Callable[[str, str], bool]:
    return lambda uri, local: any(
        local == name and wanted in (None, uri) for wanted, name in guards
    )


def chosen_cut(cuts: Sequence[LevelCut], head: bytes) -> LevelCut:
    """The deepest cut that has no unit above it, as far as the beginning of a document shows."""
    names = {name for _, guards in cuts for _, name in guards}
    depth = _least_depth(head, names) if names and len(cuts) > 1 else None
    fitting = [cut for cut in cuts if depth is not None and cut[0] < depth]
    return fitting[-1] if fitting else cuts[0]


def _least_depth(head: bytes, names: set[str]) -> int | None:
    """The depth of the highest element with one of the names; the root has depth 1."""
    depth, found = 0, []

    def start(name: str, _: object) -> None:
        nonlocal depth
        depth += 1
        if name.rpartition(":")[2] in names:
            found.append(depth)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    with suppress(expat.ExpatError):  # reading it reports what is wrong
        parser.Parse(head, False)
    return min(found, default=None)


class WholeDocument:
    """Keeps everything: while it comes, the children of the root that are complete; at last all."""

    def __init__(self, name: str, names: Names) -> None:
        self.name, self._names = name, names
        self._reading = PlacedReading(1, names, name)
        self._kept: list[Tape] = []
        self._raw = bytearray()
        self._before = b""  # documents that came before the one that is being read
        self.ended = False
        self.units = 0

    def feed(self, chunk: bytes) -> UnitDelta:
        """Read bytes; what they completed is in the next answer."""
        self._raw += chunk
        for run in self._reading.runs(chunk):
            self.units += len(run.tape.roots())
            self._kept.append(run.tape)
        return NOTHING

    def close(self) -> None:
        """End the input: from now on the document is what was sent, to the last byte."""
        self.ended = True

    def behind(self) -> bytes:
        """Bytes of another document, which followed this one."""
        return self._reading.behind()

    def next_document(self) -> None:
        """What comes from now on is another document, behind this one."""
        raw = bytes(self._raw)
        self._before += raw.removesuffix(self.behind()) + b"\n"
        self._raw, self._kept = bytearray(), []
        self._reading = PlacedReading(1, self._names, self.name)

    def _all(self, store: Store) -> Items:
        """The documents so far; of the last one nothing, if it is not whole."""
        try:
            found = store.read(self._before + bytes(self._raw), mode="sequence", name=self.name)
        except Error:
            if self.ended:
                raise
            found = store.read(self._before, mode="sequence", name=self.name)
        return Items.of_nodes(np.array([found]))

    @property
    def begun(self) -> bool:
        """Whether there is a document yet."""
        return self.ended or bool(self._before) or self._reading.root is not None

    def whole(self, store: Store) -> Items:
        """The document so far, in a store."""
        if self._before:
            return self._all(store)
        if self.ended and (all_of_it := self._read(store)) is not None:
            return all_of_it
        spine = self._spine()
        if not spine:
            return Items.of_nodes(np.empty(0, np.int64))
        tape = joined(self._kept) if self._kept else self._nothing()
        mini, begin = wrapped(spine, tape, np.array([0]), np.array([len(tape)]))
        return Items.of_nodes((store.add(mini) << 32) | begin)

    def _read(self, store: Store) -> Items | None:
        """The document to its last byte; None if its root never closed."""
        try:
            return Items.of_nodes(np.array([store.read(bytes(self._raw), name=self.name)]))
        except Error as why:
            if why.code != "XSCX0004":
                raise
            return None

    def _spine(self) -> Spine:
        root = self._reading.root
        return () if root is None else (root,)

    def _nothing(self) -> Tape:
        from xstreamcast.tape.layout import Tape, empty_columns, frozen_bytes

        return Tape(empty_columns(0, frozen_bytes(b"")), self._names, self.name)

    @property
    def state_bytes(self) -> int:
        """Bytes held."""
        return len(self._raw) + sum(column.nbytes for t in self._kept for column in t.columns)
