"""Pairs of rows whose values compare: by ranks in one order, never by looking at all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from xstreamcast.evaluate.pairs import at_most_one
from xstreamcast.functions.compare.general import compare_pairs
from xstreamcast.functions.compare.keys import shared_ranks
from xstreamcast.functions.compare.values import FAMILY
from xstreamcast.functions.unread import unread
from xstreamcast.model.atomic import PRIMITIVE, STRING, UNTYPED
from xstreamcast.model.column import Column, ranges

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import JoinKey
    from xstreamcast.model.column import Bools, Ints
    from xstreamcast.model.items import Items

Blocks: TypeAlias = "Iterator[tuple[Ints, Ints]]"

_BLOCK: Final = 1 << 20  # pairs handed out at once
_UPPER: Final = frozenset({"lt", "le"})  # some l < some r: the least l and the greatest r decide


class Side(NamedTuple):
    """The atomised key of each row; only rows of one group meet (None: all are of one)."""

    column: Column
    group: Ints | None


def pairs(key: JoinKey, left: Side, right: Side) -> Blocks | None:
    """(left row, right row) of all pairs that compare, left-major; None if no order decides."""
    if not key.general:
        at_most_one(left.column, f"an operand of {key.op}")
        at_most_one(right.column, f"an operand of {key.op}")
    if not ranked_alike(left.column.items, right.column.items, key.general):
        return None
    if len(left.column.items) == 0 or len(right.column.items) == 0:
        return iter(())
    if key.op == "eq":
        return _equal(left, right)
    ranks = shared_ranks(left.column.items, right.column.items)
    return None if ranks is None else _ordered(key.op, left, right, *ranks)


def ranked_alike(left: Items, right: Items, general: bool) -> bool:
    """Whether one order over all values decides each pair as the comparison would."""
    a, b = ({PRIMITIVE.get(tag, tag) for tag in side.kinds()} for side in (left, right))
    texts = all(FAMILY.get(tag) == STRING for tag in a | b)
    if texts or (len(a) <= 1 and len(b) <= 1 and general):
        return True
    # eq and lt take untyped values as strings, which no number compares with.
    return len(a) <= 1 and len(b) <= 1 and UNTYPED not in a | b


# -- equality --------------------------------------------------------------------------------------


def _equal(left: Side, right: Side) -> Blocks | None:
    a, b = left.column.items, right.column.items
    hashed = _hashes(a, b)
    ranks = hashed if hashed is not None else shared_ranks(a, b)
    if ranks is None:
        return None
    i, j = matching(_grouped(left, ranks[0]), _grouped(right, ranks[1]))
    if hashed is not None:
        same = _same_text(a, b, i, j)
        i, j = (i, j) if same.all() else (i[same], j[same])
    return _in_blocks(*_rows(left.column, right.column, i, j))


def _hashes(left: Items, right: Items) -> tuple[Ints, Ints] | None:
    """Numbers that are equal where the texts of unread nodes are, and rarely elsewhere."""
    a, b = unread(left), unread(right)
    if a is None or b is None:
        return None
    both = np.concatenate((a[0].hashes(a[1]), b[0].hashes(b[1])))
    codes = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return codes[: len(left)], codes[len(left) :]


def _same_text(left: Items, right: Items, i: Ints, j: Ints) -> Bools:
    """Whether the texts are equal in truth; each pair of distinct nodes is read once."""
    width = len(right)
    distinct, back = np.unique(i * width + j, return_inverse=True)
    same = compare_pairs("eq", left.take(distinct // width), right.take(distinct % width))
    found: Bools = same[back]
    return found


def _grouped(side: Side, ranks: Ints) -> tuple[Ints, Ints]:
    """The group and rank of every item; rank -1 is NaN, which equals nothing."""
    rows = side.column.rows()
    group = np.zeros(len(rows), np.int64) if side.group is None else side.group[rows]
    return group, ranks


def matching(left: tuple[Ints, Ints], right: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """All (i, j) of equal group and rank, by ascending i, j."""
    width = int(max(left[1].max(initial=0), right[1].max(initial=0))) + 1
    a, b = left[0] * width + left[1], right[0] * width + right[1]
    real = np.flatnonzero(right[1] >= 0)
    order = real[np.argsort(b[real], kind="stable")]
    keys = b[order]
    start = np.searchsorted(keys, a, "left")
    count = np.where(left[1] >= 0, np.searchsorted(keys, a, "right") - start, 0)
    return np.repeat(np.arange(len(a), dtype=np.int64), count), order[ranges(start, count)]


def _rows(left: Column, right: Column, i: Ints, j: Ints) -> tuple[Ints, Ints]:
    """Pairs of items as pairs of rows, each once, left-major."""
    a, b = left.rows()[i], right.rows()[j]
    if _few(left) and _few(right):
        return a, b
    both = np.unique(a * right.n + b)
    return both // right.n, both % right.n


def _few(column: Column) -> bool:
    return column.offsets is None or int(column.lengths().max(initial=0)) <= 1


def _in_blocks(a: Ints, b: Ints) -> Blocks:
    return ((a[at : at + _BLOCK], b[at : at + _BLOCK]) for at in range(0, len(a), _BLOCK))


# -- less and greater ------------------------------------------------------------------------------


def _ordered(op: str, left: Side, right: Side, a: Ints, b: Ints) -> Blocks:
    """Sort the right rows by the value that decides; each left row meets a run of them."""
    low = op in _UPPER
    one, other = _deciding(left, a, least=low), _deciding(right, b, least=not low)
    width = int(max(one.max(initial=0), other.max(initial=0))) + 2
    rows = np.flatnonzero(other >= 0)
    place = _place(right, rows, other[rows], width)
    order = np.argsort(place, kind="stable")
    sorted_place, rows = place[order], rows[order]
    asking = np.flatnonzero(one >= 0)
    base = _place(left, asking, np.zeros(len(asking), np.int64), width)
    at = base + one[asking]
    if low:
        start = np.searchsorted(sorted_place, at, "right" if op == "lt" else "left")
        end = np.searchsorted(sorted_place, base + width - 1, "right")
    else:
        start = np.searchsorted(sorted_place, base, "left")
        end = np.searchsorted(sorted_place, at, "left" if op == "gt" else "right")
    return _runs(asking, rows, start, np.maximum(end - start, 0), right.column.n)


def _deciding(side: Side, ranks: Ints, least: bool) -> Ints:
    """Per row the least or greatest rank; -1 where there is none but NaN."""
    rows, n = side.column.rows(), side.column.n
    real = ranks >= 0
    if not least:
        out = np.full(n, -1, np.int64)
        np.maximum.at(out, rows[real], ranks[real])
        return out
    none = np.iinfo(np.int64).max
    out = np.full(n, none, np.int64)
    np.minimum.at(out, rows[real], ranks[real])
    return np.where(out == none, -1, out)


def _place(side: Side, rows: Ints, ranks: Ints, width: int) -> Ints:
    return ranks if side.group is None else side.group[rows] * width + ranks


def _runs(asking: Ints, rows: Ints, start: Ints, count: Ints, width: int) -> Blocks:
    """The pairs of each left row with its run, a bounded number at a time."""
    totals, begin = np.cumsum(count), 0
    while begin < len(asking):
        before = int(totals[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(totals, before + _BLOCK, "right")))
        part = slice(begin, end)
        a = np.repeat(asking[part], count[part])
        both = a * width + rows[ranges(start[part], count[part])]
        both.sort()
        if len(both):
            yield both // width, both % width
        begin = end
