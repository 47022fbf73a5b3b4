"""Units of a document that may be evaluated again: some, in any order, without reading all."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.model.column import offsets_of, ranges
from xstreamcast.operators.units.units import Minis, chosen
from xstreamcast.tape.join import joined
from xstreamcast.tape.layout import DOCUMENT, ELEMENT, KIND, Tape

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64

_SMALL: Final = 1 << 16  # bytes that are worth copying so that parts stay few
_LARGE: Final = 1 << 22  # bytes that are not copied to make one tape of several


@dataclass(slots=True)
class _Part:
    """Units that came together, by ascending numbers; some of them are forgotten."""

    numbers: I64
    minis: Minis
    dead: set[int] = field(default_factory=set)


class KeptUnits:
    """Units by number, in parts of which each is small or came in one piece."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self._firsts: list[int] = []

    def add(self, minis: Minis) -> None:
        """Keep units whose keys are numbers, greater than all before."""
        numbers = np.array([int(key) for key in minis.keys], np.int64)
        last = self._parts[-1] if self._parts else None
        if last is not None and _weight(last.minis) + _weight(minis) < _SMALL:
            last.minis = together([last.minis, minis])
            last.numbers = np.concatenate([last.numbers, numbers])
            return
        self._parts.append(_Part(numbers, minis))
        self._firsts.append(int(numbers[0]))

    def chosen(self, keys: Iterable[str]) -> list[Minis]:
        """Some units in their order; on as few tapes as can be without copying much."""
        wanted = np.array(sorted(int(key) for key in keys), np.int64)
        found: list[list[Minis]] = []
        weight = _LARGE
        for part, numbers in self._split(wanted):
            at = np.searchsorted(part.numbers, numbers)
            at = at[part.numbers[np.minimum(at, len(part.numbers) - 1)] == numbers]
            if len(at) == 0:
                continue
            own = _weight(part.minis)
            if weight + own >= _LARGE:
                found.append([])
                weight = 0
            found[-1].append(chosen(part.minis, at))
            weight += own
        return [together(some) for some in found]

    def _split(self, wanted: I64) -> Iterable[tuple[_Part, I64]]:
        """Each part with the numbers that it may have."""
        at = 0
        while at < len(wanted) and self._parts:
            place = max(0, bisect_right(self._firsts, int(wanted[at])) - 1)
            if place + 1 < len(self._firsts):
                end = int(np.searchsorted(wanted, self._firsts[place + 1]))
            else:
                end = len(wanted)
            yield self._parts[place], wanted[at:end]
            at = end

    def everything(self) -> list[Minis]:
        """All units in order."""
        return self.chosen(
            str(number)
            for part in self._parts
            for number in part.numbers.tolist()
            if number not in part.dead
        )

    def forget(self, keys: Iterable[str]) -> None:
        """Give units up; their bytes go when most of their part are gone."""
        for part, numbers in self._split(np.array(sorted(int(key) for key in keys), np.int64)):
            part.dead.update(numbers.tolist())
            if 2 * len(part.dead) >= len(part.numbers):
                _compact(part)
        live = [(n, part) for n, part in zip(self._firsts, self._parts, strict=True)]
        live = [one for one in live if len(one[1].numbers)]
        self._firsts, self._parts = [n for n, _ in live], [part for _, part in live]

    def clear(self) -> None:
        """Give all units up."""
        self._parts, self._firsts = [], []

    def __len__(self) -> int:
        return sum(len(part.numbers) - len(part.dead) for part in self._parts)

    @property
    def state_bytes(self) -> int:
        """Bytes held."""
        return sum(_weight(part.minis) for part in self._parts)


def _weight(minis: Minis) -> int:
    return sum(column.nbytes for column in minis.tape.columns)


def _compact(part: _Part) -> None:
    live = np.array([n not in part.dead for n in part.numbers.tolist()], np.bool_)
    part.numbers, part.dead = part.numbers[live], set()
    if live.any():
        some = chosen(part.minis, np.flatnonzero(live))
        part.minis = Minis(_own_bytes(some.tape), some.documents, some.keys)


def _own_bytes(tape: Tape) -> Tape:
    """The tape over no other bytes than those of its values; elements lose their spans."""
    c = tape.columns
    plain = ~np.isin(c.kind & KIND, (ELEMENT, DOCUMENT)) & (c.length > 0)
    lengths = np.where(plain, c.length, 0).astype(np.int64)
    heap = c.heap[ranges(c.start[plain], lengths[plain])]
    start = offsets_of(lengths)[:-1]
    length = np.where(np.isin(c.kind & KIND, (ELEMENT, DOCUMENT)), -1, c.length).astype(np.int32)
    return Tape(c._replace(start=start, length=length, heap=heap), tape.names, tape.source)


def together(parts: Sequence[Minis]) -> Minis:
    """Units of several tapes on one."""
    if len(parts) == 1:
        return parts[0]
    bases = np.cumsum([0] + [len(one.tape) for one in parts[:-1]])
    rows = [one.documents + base for one, base in zip(parts, bases, strict=True)]
    keys = tuple(key for one in parts for key in one.keys)
    return Minis(joined([one.tape for one in parts]), np.concatenate(rows), keys)
