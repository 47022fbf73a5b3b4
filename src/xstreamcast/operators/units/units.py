"""The output of feeds: units to be evaluated, each as a small document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.column import offsets_of, ranges
from xstreamcast.tape.layout import Columns, Tape

if TYPE_CHECKING:
    from xstreamcast.operators.inner.bound import BoundRows
    from xstreamcast.operators.units.mini_cache import UnitSpans
    from xstreamcast.operators.units.missing import EmptyHoles
    from xstreamcast.tape.layout import I64


@dataclass(frozen=True, slots=True, eq=False)
class Minis:
    """Units in the order of the input: the rows of their documents on a tape, and their keys."""

    tape: Tape
    documents: I64
    keys: tuple[str, ...]
    missing: EmptyHoles | None = None  # where fragments may be missing
    instants: UnitSpans | None = None  # of each unit: when anything in it begins or ends
    around: tuple[I64, I64] | None = None  # rows of elements open before it, and behind it
    kept: BoundRows | None = None  # what is known of units besides what they contain

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True, eq=False)
class UnitDelta:
    """What a batch of arrivals did to an input.

    `changed` are the units whose content is new; `gone` the keys of those that are no longer there;
    `places` the place of every unit in the input, `reordered` says that known ones have changed
    theirs. `complete`: all units were evaluated, whatever was known before.
    """

    changed: Minis | None = None
    gone: tuple[str, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    reordered: bool = False
    complete: bool = False

    def __bool__(self) -> bool:
        return self.changed is not None or bool(self.gone) or self.reordered or self.complete

    def leaving(self, known: Iterable[str]) -> list[str]:
        """Of the units known so far, those that are no longer there."""
        if not self.complete:
            return list(self.gone)
        return [key for key in known if key not in self.places]


NOTHING = UnitDelta()


class Numbered(Mapping[str, int]):
    """The places of units whose keys are their numbers, from 0."""

    def __init__(self, count: int = 0) -> None:
        self.count = count

    def __getitem__(self, key: str) -> int:
        return int(key)

    def __contains__(self, key: object) -> bool:
        return True  # a caller got the key from here

    def __iter__(self) -> Iterator[str]:
        return map(str, range(self.count))

    def __len__(self) -> int:
        return self.count


def chosen(minis: Minis, at: I64) -> Minis:
    """Some of the units, in the order given; the bytes are shared."""
    c = minis.tape.columns
    first = minis.documents[at]
    lengths = c.size[first].astype(np.int64) + 1
    rows, begin = ranges(first, lengths), offsets_of(lengths)[:-1]
    taken = Columns._make([*(column[rows] for column in c[:-1]), c.heap])
    shift = np.repeat(begin - first, lengths).astype(np.int32)
    parent = np.where(taken.parent < 0, -1, taken.parent + shift).astype(np.int32)
    tape = Tape(taken._replace(parent=parent), minis.tape.names, minis.tape.source)
    return Minis(tape, begin, tuple(minis.keys[i] for i in at.tolist()))
