"""Removals put behind the fragments of a batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.model.fragment import ENDS_ZONED, TEMPORARY, ZONED, FragmentBatch, Op
from xstreamcast.model.instant import NOW

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.units import Found
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.tape.layout import I32, I64

LAST: Final = 10**17  # above every version that a unit may have: a removal counts at its instant


def removals(
    made: FragmentBatch,
    tags: I32,
    codes: I32,
    valid: I64,
    to: I64 | None = None,
    *,
    version: int | I64 = LAST,
) -> FragmentBatch:
    """The batch, and behind it a removal of each id at an instant, or until another one."""
    n = len(codes)
    given: dict[str, Any] = {
        "id": codes, "tsid": tags, "valid": valid, "flags": np.full(n, ZONED, np.uint8),
        "op": np.full(n, Op.REMOVE, np.uint8), "payload": np.full(n, -1, np.int32),
        "offset": np.zeros(n, np.int64),
    }  # fmt: skip
    if to is not None and (to != NOW).any():
        given["flags"][to != NOW] |= TEMPORARY | ENDS_ZONED
        ends = np.full(len(made), NOW) if made.to is None else made.to
        versions = np.zeros(len(made), np.int64) if made.version is None else made.version
        made = replace(made, to=ends, version=versions)
    optional: dict[str, Any] = {"within": np.int32(-1), "to": np.int64(NOW), "version": version}
    for name, value in optional.items():
        if getattr(made, name) is not None:
            given[name] = np.full(n, value)
    if to is not None and made.to is not None:
        given["to"] = to
    if made.said is not None:
        given["said"] = np.minimum(valid, made.said.max(initial=int(valid.min())))
    columns: dict[str, Any] = {
        word: np.concatenate((getattr(made, word), one)) for word, one in given.items()
    }
    return replace(made, **columns)


def coded(kind: Found, given: list[tuple[int, str]], at: I64, ids: Ids) -> list[tuple[int, int]]:
    """Keys of units of a kind as codes, each with the place of its row in a batch."""
    if not given:
        return []
    place = {row: i for i, row in enumerate(at.tolist())}
    return [(place[r], ids.code(f"{kind.rule.name}:{key}")) for r, key in given if r in place]


def of_others(made: FragmentBatch, gone: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without removals of units by themselves: an update that keeps the key of what it updates."""
    return [(row, code) for row, code in gone if made.id[row] != code or made.op[row] == Op.REMOVE]


def cancelled(made: FragmentBatch, gone: list[tuple[int, int]]) -> FragmentBatch:
    """The batch with removals of units that its rows take away: (row, id)."""
    if not gone:
        return made
    which, codes = np.array(gone).T
    if made.version is None:  # a unit of the same instant may come after its removal
        made = replace(made, version=np.zeros(len(made), np.int64))
    made = removals(made, made.tsid[which], codes.astype(np.int32), made.valid[which])
    return in_turn(made, which)


def in_turn(batch: FragmentBatch, which: I64) -> FragmentBatch:
    """The batch with each removal at its end before the unit that it was said with.

    However little of it is evaluated at a time, a unit never counts with the one it replaces.
    """
    n = len(batch) - len(which)
    rows = np.concatenate((np.arange(n), which))
    order = np.lexsort((np.arange(len(batch)) < n, rows))
    assert len(batch.hole_id) == 0, "units of mappings are attached"
    words = ("id", "tsid", "valid", "flags", "op", "payload", "offset")
    columns: dict[str, Any] = {word: getattr(batch, word)[order] for word in words}
    return replace(batch, **columns, **batch.optional(order))
