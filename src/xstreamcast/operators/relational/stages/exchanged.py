"""What a stage hands to a partition of a later stage in a tick, and the units that come along."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xstreamcast.history.forgetting import excerpt
from xstreamcast.model.delta import Key, NodeRef, Row, nodes_in
from xstreamcast.operators.units.kept import together
from xstreamcast.operators.units.units import Minis

Rendered = tuple[Any, tuple[str, ...]]  # the rank of a row, and its items
Unit = tuple[int, str]  # the number of an input, and the key of a unit
To = tuple[int, int]  # the number of a stage, and of a partition
Content = tuple[Any, Minis]  # the place of a unit in its input, and what it holds
Rows = dict[Key, Row | Rendered | None]


@dataclass(slots=True)
class Exchanged:
    """New rows by key, None for those that went: by port.

    `contents` are units that rows refer to and that are new, or new there; None for those that
    went. `marks`: by port, whether the sender has rows with keys that are floats or doubles.
    """

    sender: int = 0
    rows: dict[int, Rows] = field(default_factory=dict)
    contents: dict[Unit, Content | None] = field(default_factory=dict)
    marks: dict[int, bool] = field(default_factory=dict)


def merged(found: Sequence[Exchanged], port: int) -> Rows:
    """Rows of all senders in one tick; a row that moved from one to another is where it came."""
    out: Rows = {}
    for one in found:
        for key, value in one.rows.get(port, {}).items():
            if value is not None or key not in out:
                out[key] = value
    return out


def units_in(rows: Iterable[Any]) -> set[Unit]:
    """The units that rows refer to."""
    return {
        (node.source, node.unit)
        for row in rows
        if isinstance(row, Row)
        for cell in row.cells
        for node in nodes_in(cell)
        if type(node) is NodeRef
    }


def alone(minis: Minis, keys: Iterable[str]) -> Iterable[tuple[str, Minis]]:
    """Some of the units, each on a tape of its own."""
    wanted = set(keys)
    for key, document in zip(minis.keys, minis.documents.tolist(), strict=True):
        if key in wanted:
            tape, begin = excerpt(minis.tape, np.array([document], np.int64))
            yield key, Minis(tape, begin, (key,))


class Contents:
    """The units that the rows of a partition refer to."""

    def __init__(self) -> None:
        self.known: dict[int, dict[str, Content]] = {}

    def take(self, found: Iterable[Exchanged]) -> tuple[set[Unit], set[Unit]]:
        """Add what came → the units that are new, and those that went."""
        come: set[Unit] = set()
        gone: set[Unit] = set()
        for one in found:
            for unit, content in one.contents.items():
                if content is not None:
                    self.known.setdefault(unit[0], {})[unit[1]] = content
                    come.add(unit)
                else:
                    gone.add(unit)
        gone -= come  # a unit that another sender has now
        for source, key in gone:
            self.known.get(source, {}).pop(key, None)
        return come, gone

    def read(self, source: int, keys: set[str]) -> list[Minis]:
        """Units in the order of their input."""
        kept = self.known[source]
        ordered = sorted((kept[key] for key in keys), key=lambda one: one[0])
        return [together([one for _, one in ordered])] if ordered else []

    def places(self) -> dict[int, Mapping[str, Any]]:
        """By input and unit."""
        return {source: _Places(own) for source, own in self.known.items()}


class _Places(Mapping[str, Any]):
    """The places of units."""

    def __init__(self, known: Mapping[str, Content]) -> None:
        self._known = known

    def __getitem__(self, key: str) -> Any:
        return self._known[key][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
