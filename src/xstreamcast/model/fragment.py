"""Fragments as they arrive: a batch of fillers in columns, and other messages of a stream."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import DataPlace
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import START

if TYPE_CHECKING:
    from collections.abc import Callable

    from xstreamcast.model.structure import TagStructure

    I32 = npt.NDArray[np.int32]
    I64 = npt.NDArray[np.int64]
    U8 = npt.NDArray[np.uint8]

STREAM: Final = "urn:xstreamcast:stream"  # the namespace of the prefix `stream` in our output

ZONED: Final = 1  # the valid time came with a time zone
TIMELESS: Final = 2  # it had no valid time: the logical clock assigned one
REPEATED: Final = 4  # sent as a repetition
TEMPORARY: Final = 8  # while it lasts it hides the other versions, which return when it ends
ENDS_ZONED: Final = 16  # its end came with a time zone
SAID_APART: Final = 32  # of message time and valid time, one came with a time zone, one without
KEPT_FLAGS: Final = ZONED | TEMPORARY | ENDS_ZONED  # the flags that a history keeps


class Op(IntEnum):
    """What a fragment does to the chain of versions of its id; a repeat is a filler sent again."""

    FILLER = 0
    REPLACE = 1
    REMOVE = 2


@dataclass(frozen=True, slots=True, eq=False)
class FragmentBatch:
    """Fragments of one stream in order of arrival; a row each, and a row for each of their holes.

    `payload` is the row of the payload's root element on `tape`, -1 for a remove; `hole_fragment`
    is the place of the fragment that carries the hole within this batch. `place` gives (line,
    column) of an offset on the wire, where it is known.

    Of these a batch has a column only where some fragment says it: `within`, the id of the parent
    that a fragment is attached to (-1: none); `to`, where its version ends at the latest (NOW:
    open); `version`, which orders fragments of one id and valid time before arrival does; `said`,
    the message time, which moves the clock in place of the valid time (START: none); `unit`, the id
    of the unit that it is in (-1: none), for those who partition a stream; `row`, the
    numbers of fragments that were read as rows.
    """

    tape: Any
    id: I32
    tsid: I32
    valid: I64
    flags: U8
    op: U8
    payload: I32
    offset: I64
    hole_fragment: I32
    hole_id: I32
    hole_tsid: I32
    hole_row: I32
    place: Callable[[int], tuple[int, int]] | None = None
    within: I32 | None = None
    to: I64 | None = None
    version: I64 | None = None
    said: I64 | None = None
    row: I64 | None = None
    unit: I32 | None = None

    def __len__(self) -> int:
        return len(self.id)

    @property
    def clock(self) -> I64:
        """The instant to which each fragment advances the clock."""
        if self.said is None:
            return self.valid
        return np.where(self.said == START, self.valid, self.said)

    def is_clock_zoned(self, at: int) -> bool:
        """Whether the instant to which a fragment advances the clock came with a time zone."""
        flags = int(self.flags[at])
        apart = self.said is not None and self.said[at] != START and flags & SAID_APART
        return bool(flags & ZONED) != bool(apart)

    def optional(self, at: Any) -> dict[str, Any]:
        """Some rows of the optional columns."""
        given = {name: getattr(self, name) for name in ("within", "to", "version", "said")}
        return {name: column[at] for name, column in given.items() if column is not None}

    def some(self, at: Any) -> FragmentBatch:
        """The fragments at some places, with their holes; a mask says places too."""
        place = np.full(len(self), -1, np.int32)
        place[at] = np.arange(len(place[at]), dtype=np.int32)
        carried = place[self.hole_fragment] >= 0
        rows = ("id", "tsid", "valid", "flags", "op", "payload", "offset")
        holes = ("hole_id", "hole_tsid", "hole_row")
        return replace(
            self,
            **{name: getattr(self, name)[at] for name in rows},
            **self.optional(at),
            hole_fragment=place[self.hole_fragment[carried]],
            **{name: getattr(self, name)[carried] for name in holes},
            row=None if self.row is None else self.row[at],
            unit=None if self.unit is None else self.unit[at],
        )


@dataclass(frozen=True, slots=True)
class NewStructure:
    """The stream sent its tag structure, for the first time or again."""

    structure: TagStructure


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Nothing arrived, but event time has reached this instant."""

    instant: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The stream announced its end."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A fragment that was refused, with its position and the reason.

    Byte, line and column refer to the file or pipe that it was read from; a line is None where only
    the byte is known.
    """

    stream: str
    fragment: str | None
    offset: int
    code: str
    reason: str
    raw: bytes
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = DataPlace(self.stream, self.fragment, self.offset, self.line, self.column)
        return f"{self.code} {place}: {self.reason}"


Arrival = FragmentBatch | NewStructure | Heartbeat | Ended | Refused
