"""Statements about states: a higher version of one takes back what the lower one said.

closed 1 to 8 March (statement 1, version 0), closed 3 to 8 March (statement 1, version 1)
→  open until 3 March, in whatever order the two arrive
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xstreamcast.model.fragment import TEMPORARY, FragmentBatch, Op
from xstreamcast.model.instant import NOW

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.units import Found
    from xstreamcast.tape.layout import I32, I64, Bools


class StatedVersion(NamedTuple):
    """A version of a unit, as a statement made it."""

    code: int
    tag: int
    valid: int
    flags: int
    parent: int


@dataclass(slots=True)
class Statement:
    """The highest version of a statement that has come, and what it said."""

    version: int = -1
    said: list[StatedVersion] = field(default_factory=list)


TakenBack = tuple[int, StatedVersion]  # the row that takes it back


class Statements:
    """The statements of one kind of units, by what identifies them."""

    def __init__(self) -> None:
        self.last: dict[str, Statement] = {}

    def counting(self, kind: Found, at: I64) -> tuple[I64, list[TakenBack]]:
        """(the rows of a batch that count, what others took back before)."""
        named = [
            (row, name)
            for row, name in enumerate(kind.statements)
            if name is not None and row not in kind.why
        ]
        back: list[TakenBack] = []
        for row, name in sorted(named, key=lambda one: -int(kind.version[one[0]])):
            known = self.last.setdefault(name, Statement())
            if kind.version[row] > known.version:
                back += [(row, one) for one in known.said]
                self.last[name] = Statement(int(kind.version[row]))
        stale = {row for row, name in named if kind.version[row] < self.last[name].version}
        return np.array([row for row in at.tolist() if row not in stale], np.int64), back

    def keep(self, kind: Found, at: I64, made: FragmentBatch) -> None:
        """Remember what the rows of a batch said."""
        assert made.within is not None
        columns = made.id, made.tsid, made.valid, made.flags, made.within
        rows = zip(at.tolist(), *(one.tolist() for one in columns), strict=True)
        for row, *said in rows:
            name, one = kind.statements[row], StatedVersion(*said)
            if name is not None and one not in self.last[name].said:
                self.last[name].said.append(one)


def unsaid(back: list[TakenBack], codes: I32, valid: I64, temporary: Bools) -> list[TakenBack]:
    """What is taken back, without what is said anew of the same instant: its version counts."""
    if not back:
        return back
    again = set(zip(codes.tolist(), valid.tolist(), temporary.tolist(), strict=True))
    return [
        (row, one)
        for row, one in back
        if (one.code, one.valid, one.flags & TEMPORARY != 0) not in again
    ]


def without_statements(
    made: FragmentBatch, back: list[TakenBack], payload: I32, version: I64
) -> FragmentBatch:
    """The batch, and behind it versions that hold at no instant in place of those taken back.

    One that is not temporary is taken back by a temporary one that ends before it begins.
    """
    n, first = len(back), len(made)
    code, tag, valid, flags, parent = np.array([one for _, one in back], np.int64).T
    permanent = flags & TEMPORARY == 0
    given: dict[str, Any] = {
        "id": code.astype(np.int32), "tsid": tag.astype(np.int32), "valid": valid,
        "flags": (flags | TEMPORARY).astype(np.uint8), "op": np.full(n, Op.FILLER, np.uint8),
        "payload": payload, "offset": np.zeros(n, np.int64),
        "within": parent.astype(np.int32), "to": valid - permanent, "version": version,
    }  # fmt: skip
    if made.said is not None:
        given["said"] = np.minimum(valid, made.said.max(initial=int(valid.min())))
    absent = {"to": np.full(first, NOW), "version": np.zeros(first, np.int64)}
    columns: dict[str, Any] = {}
    for word, one in given.items():
        own = getattr(made, word)
        columns[word] = np.concatenate((absent[word] if own is None else own, one))
    return replace(made, **columns)
