"""The content of a broadcast: the structure, and the fragments that a late listener needs.

Every fragment that is sent has a number, larger than any before it. What a later one replaces (the
same id at the same valid time; with `current`, any older version of the id) is taken out: who has
not got it yet will never need it. A listener is a place in these numbers, so none waits for a
slow one, and nothing is kept for it.
"""

from __future__ import annotations

import time
from bisect import bisect_right, insort
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, assert_never

import numpy as np

from xstreamcast.edges.wire.encoder import EOS, batch_lines, heartbeat_line, structure_line
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.fragment import (
    REPEATED,
    TIMELESS,
    Arrival,
    Ended,
    FragmentBatch,
    Heartbeat,
    NewStructure,
    Refused,
)
from xstreamcast.model.structure import TagStructure

Keep = Literal["current", "all"] | int  # or microseconds of history to keep as well

_COMPACT: Final = 1024  # removed numbers before a list is rebuilt


@dataclass(frozen=True, slots=True)
class SentFragment:
    """A fragment on the wire: as it is sent first, and as a repetition."""

    seq: int
    key: str
    valid: int
    line: bytes
    again: bytes
    priority: int


@dataclass(slots=True)
class _Level:
    """The fragments of one priority by number; removed numbers stay listed for a while."""

    numbers: list[int] = field(default_factory=list)
    items: dict[int, SentFragment] = field(default_factory=dict)

    def after(self, seq: int) -> Iterator[SentFragment]:
        for at in range(bisect_right(self.numbers, seq), len(self.numbers)):
            item = self.items.get(self.numbers[at])
            if item is not None:
                yield item

    def add(self, item: SentFragment) -> None:
        self.numbers.append(item.seq)
        self.items[item.seq] = item

    def drop(self, seq: int) -> None:
        self.items.pop(seq, None)
        if len(self.numbers) > 2 * len(self.items) + _COMPACT:
            self.numbers = list(self.items)


class Carousel:
    """One stream that is being sent."""

    def __init__(self, keep: Keep = "current", priorities: Mapping[str, int] | None = None) -> None:
        self._keep, self._priorities = keep, dict(priorities or {})
        self._seq = time.time_ns() // 1000  # larger than any that was given before a restart
        self.structure: TagStructure | None = None
        self.structure_bytes = b""
        self.described = 0  # how often the structure has changed
        self.heartbeat = b""
        self.beats = 0
        self.ended = False
        self.taken = 0
        self.bytes_first = 0
        self.replaced = 0
        self._newest = -(1 << 62)
        self.levels: dict[int, _Level] = {}
        self._versions: dict[str, list[tuple[int, int]]] = {}  # of an id: (valid time, number)
        self.on_drop: Callable[[SentFragment], None] | None = None

    # -- arrivals from the source
    # ---------------------------------------------------------------------

    def take(self, arrival: Arrival, ids: Ids) -> None:
        """One arrival, to be sent from now on."""
        match arrival:
            case FragmentBatch():
                self._batch(arrival, ids)
            case NewStructure(structure):
                self.structure = structure
                self.structure_bytes = structure_line(structure)
                self.described += 1
            case Heartbeat(instant):
                self.heartbeat = heartbeat_line(instant)
                self.beats += 1
                self._newest = max(self._newest, instant)
            case Ended():
                self.ended = True
            case Refused():
                pass  # reported where it was refused
            case _:
                assert_never(arrival)

    def _batch(self, batch: FragmentBatch, ids: Ids) -> None:
        """Send valid times of the logical clock: a listener that misses one counts differently."""
        timed = replace(batch, flags=batch.flags & np.uint8(255 - TIMELESS - REPEATED))
        columns = zip(batch.id.tolist(), batch.tsid.tolist(), batch.valid.tolist(), strict=True)
        for (code, tsid, valid), line in zip(columns, batch_lines(timed, ids), strict=True):
            self._add(ids.text(code), tsid, valid, line)

    def _add(self, key: str, tsid: int, valid: int, line: bytes) -> None:
        self._seq += 1
        self.taken += 1
        numbered = line.replace(b" id=", b' seq="%d" id=' % self._seq, 1)
        item = SentFragment(
            self._seq, key, valid, numbered, _repeated(numbered), self._priority(tsid)
        )
        self.bytes_first += len(numbered)
        self._newest = max(self._newest, valid)
        self.levels.setdefault(item.priority, _Level()).add(item)
        self._supersede(item, self._is_event(tsid))

    def _priority(self, tsid: int) -> int:
        assert self.structure is not None
        return self._priorities.get(self.structure[tsid].local, 0)

    def _is_event(self, tsid: int) -> bool:
        assert self.structure is not None
        return tsid in self.structure and self.structure[tsid].type == "event"

    # -- what is kept -----------------------------------------------------------------------------

    def _supersede(self, item: SentFragment, event: bool) -> None:
        versions = self._versions.setdefault(item.key, [])
        for valid, seq in [one for one in versions if one[0] == item.valid]:
            versions.remove((valid, seq))
            self._drop(seq)
        insort(versions, (item.valid, item.seq))
        if self._keep != "all" and not event:
            self._forget(versions, self._keep if isinstance(self._keep, int) else 0)

    def _forget(self, versions: list[tuple[int, int]], history: int) -> None:
        """Drop versions that ended before the kept history begins; the current one stays."""
        since = self._newest - history
        while len(versions) > 1 and versions[1][0] <= since:
            self._drop(versions.pop(0)[1])

    def prune(self) -> None:
        """At the beginning of a round: events that are older than the history that is kept."""
        if not isinstance(self._keep, int) or self.structure is None:
            return
        since = self._newest - self._keep
        for key, versions in list(self._versions.items()):
            item = self._item(versions[-1][1])
            gone = item is not None and (b":remove " in item.line[:16] or self.is_event(item))
            if gone and versions[-1][0] < since:
                for _, seq in self._versions.pop(key):
                    self._drop(seq)

    def _item(self, seq: int) -> SentFragment | None:
        found = (level.items[seq] for level in self.levels.values() if seq in level.items)
        return next(found, None)

    def is_event(self, item: SentFragment) -> bool:
        """Whether a fragment is of a tag whose elements live for one instant."""
        at = item.line.find(b' tsid="') + 7
        return self._is_event(int(item.line[at : item.line.index(b'"', at)]))

    def _drop(self, seq: int) -> None:
        self.replaced += 1
        for level in self.levels.values():
            if seq in level.items:
                if self.on_drop is not None:
                    self.on_drop(level.items[seq])
                level.drop(seq)
                return

    # -- what is sent -----------------------------------------------------------------------------

    @property
    def seq(self) -> int:
        """The largest number so far."""
        return self._seq

    def __len__(self) -> int:
        return sum(len(level.items) for level in self.levels.values())

    def priorities(self) -> list[int]:
        """The most urgent first."""
        return sorted(self.levels, reverse=True)

    @property
    def end_bytes(self) -> bytes:
        return EOS


def _repeated(line: bytes) -> bytes:
    """The same fragment marked as a repetition; a removal is sent unchanged."""
    for word in (b"filler", b"replace"):
        if line.startswith(b"<stream:" + word):
            inner = line.removeprefix(b"<stream:" + word).removesuffix(b"</stream:" + word + b">\n")
            return b"<stream:repeat" + inner + b"</stream:repeat>\n"
    return line
