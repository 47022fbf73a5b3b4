"""A document on its way in: units as they are completed, or all of it where no unit can be cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.items import Items
from xstreamcast.operators.units import NOTHING, Minis, Moved, Numbered, chosen
from xstreamcast.tape.join import joined
from xstreamcast.tape.reading_places import PlacedReading, Run, Spine
from xstreamcast.tape.wrap import wrapped

if TYPE_CHECKING:
    from xstreamcast.algebra.cut import Guard
    from xstreamcast.tape.layout import Tape
    from xstreamcast.tape.names import Names
    from xstreamcast.tape.store import Store


class Forbidden(Exception):
    """An element around the units has a name that only units may have: the cut does not hold."""


class DocumentFeed:
    """Cuts at an element level below the root (1: its children) and forgets what it handed on.

    Where units may have to be asked again (`kept`), it keeps them.
    """

    def __init__(
        self,
        name: str,
        names: Names,
        level: int = 1,
        guards: Iterable[Guard] = (),
        kept: bool = False,
    ) -> None:
        self.name, self._names, self._guards = name, names, tuple(guards)
        self._reading = PlacedReading(level, names, name)
        self._looked = False
        self.head = b""  # what came before the root: whoever reads it whole instead needs it
        self._places = Numbered()
        self._kept: list[Minis] | None = [] if kept else None
        self.units = 0

    def feed(self, chunk: bytes) -> Moved:
        """Take bytes in → the units that they completed."""
        if not self._looked:
            self.head += chunk
        tape, runs = self._reading.runs(chunk)
        self._look()
        if tape is None or not runs:
            return NOTHING
        self.units += len(tape.roots())
        minis = self._minis(tape, runs)
        if self._kept is not None:
            self._kept.append(minis)
        if self._kept is None:
            return Moved(minis, places=self._places, append=True)
        return Moved(minis, places=self._places, again=self._again)

    def _again(self, keys: Sequence[str]) -> Minis:
        """Units that were handed on before."""
        assert self._kept is not None
        self._kept = [_together(self._kept)]
        return chosen(self._kept[0], np.array([int(key) for key in keys], np.int64))

    def everything(self) -> Moved:
        """All units, to be asked again."""
        if not self._kept:
            return NOTHING
        self._kept = [_together(self._kept)]
        return Moved(self._kept[0], places=self._places, again=self._again)

    def close(self) -> None:
        """End the input; the root may be open."""
        self._reading.close()

    def _look(self) -> None:
        """Refuse a root that has a name that only units may have."""
        root = self._reading.root
        if root is None or self._looked:
            return
        _, local, uri = root.names.qname(int(root.columns.name[0]))
        if any(local == name and wanted in (None, uri) for wanted, name in self._guards):
            raise Forbidden(f"the root is a {local}, as units are")
        self._looked, self.head = True, b""

    def _minis(self, tape: Tape, runs: list[Run]) -> Minis:
        parts, documents, base = [], [], 0
        for run in runs:
            mini, begin = wrapped(run.spine, tape, np.array([run.first]), np.array([run.last]))
            documents.append(base + int(begin[0]))
            parts.append(mini)
            base += len(mini)
        first = self._places.count
        self._places.count += len(runs)
        keys = tuple(str(number) for number in range(first, self._places.count))
        return Minis(joined(parts), np.array(documents, np.int64), keys)

    @property
    def state_bytes(self) -> int:
        """Bytes held: those of the unfinished unit."""
        kept = sum(column.nbytes for one in self._kept or () for column in one.tape.columns)
        return self._reading.held + kept


def _together(parts: list[Minis]) -> Minis:
    if len(parts) == 1:
        return parts[0]
    bases = np.cumsum([0] + [len(one.tape) for one in parts[:-1]])
    rows = [one.documents + base for one, base in zip(parts, bases, strict=True)]
    keys = tuple(key for one in parts for key in one.keys)
    return Minis(joined([one.tape for one in parts]), np.concatenate(rows), keys)


class WholeDocument:
    """Keeps everything: while it comes, the children of the root that are complete; at last all."""

    def __init__(self, name: str, names: Names) -> None:
        self.name, self._names = name, names
        self._reading = PlacedReading(1, names, name)
        self._kept: list[Tape] = []
        self._raw = bytearray()
        self.ended = False
        self.units = 0

    def feed(self, chunk: bytes) -> Moved:
        """Take bytes in; what they completed is in the next answer."""
        self._raw += chunk
        tape, _ = self._reading.runs(chunk)
        if tape is not None:
            self.units += len(tape.roots())
            self._kept.append(tape)
        return NOTHING

    def close(self) -> None:
        """End the input: from now on the document is what was sent, to the last byte."""
        self.ended = True

    def whole(self, store: Store) -> Items:
        """The document so far, in a store."""
        if self.ended:
            return Items.of_nodes(np.array([store.read(bytes(self._raw), name=self.name)]))
        spine = self._spine()
        if not spine:
            return Items.of_nodes(np.empty(0, np.int64))
        tape = joined(self._kept) if self._kept else self._nothing()
        mini, begin = wrapped(spine, tape, np.array([0]), np.array([len(tape)]))
        return Items.of_nodes((store.add(mini) << 32) | begin)

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
