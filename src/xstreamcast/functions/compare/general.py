"""General comparison: = != < <= > >= hold for a row if they hold for some pair of its items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from xstreamcast.functions.cast import NO_NAMES, cast
from xstreamcast.functions.cast.convert import Namespaces
from xstreamcast.functions.compare.keys import shared_ranks
from xstreamcast.functions.compare.values import (
    FAMILY,
    NUMBER,
    SWAPPED,
    Op,
    by_pairs,
    constant,
    value_compare,
)
from xstreamcast.functions.numbers.numeric import common_type
from xstreamcast.functions.unread import unread
from xstreamcast.model.atomic import DOUBLE, MIXED, PRIMITIVE, STRING, UNTYPED
from xstreamcast.model.column import Column, ranges
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    Bools = npt.NDArray[np.bool_]
    Ints = npt.NDArray[np.int64]

VALUE_OP: Final[dict[str, Op]] = {
    "=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
    "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
}  # fmt: skip
_FEW: Final = 4096  # pairs that are cheaper to compare than to sort


def general_compare(
    op: str, left: Column, right: Column, timezone: int = 0, namespaces: Namespaces = NO_NAMES
) -> Bools:
    """For every row whether some pair of its (atomised) items compares so.

    `timezone` is the default of dates; `namespaces` bind untyped values that meet a QName.
    """
    code = VALUE_OP[op]
    setting = (timezone, namespaces)
    if len(left.items) == 0 or len(right.items) == 0:
        return np.zeros(left.n, np.bool_)
    if left.offsets is None and right.offsets is None:
        return compare_pairs(code, left.items, right.items, *setting)
    if right.offsets is None:
        return _against_single(code, left, right, *setting)
    if left.offsets is None:
        return _against_single(SWAPPED[code], right, left, *setting)
    pairs = int((left.lengths() * right.lengths()).sum())
    if pairs > _FEW + 4 * (len(left.items) + len(right.items)):
        found = _by_ranks(code, left, right)
        if found is not None:
            return found
    return _crosswise(code, left, right, *setting)


def compare_pairs(
    op: Op, left: Items, right: Items, timezone: int = 0, namespaces: Namespaces = NO_NAMES
) -> Bools:
    """left[i] op right[i] with untyped values cast by the rules of general comparison."""
    if left.tag == MIXED or right.tag == MIXED:
        return by_pairs(left, right, lambda a, b: compare_pairs(op, a, b, timezone, namespaces))
    left, right = _met(left, right.tag, namespaces), _met(right, left.tag, namespaces)
    return value_compare(op, left, right, timezone)


def _met(items: Items, other: int, namespaces: Namespaces) -> Items:
    """Untyped items as the type of what they are compared with: any number → xs:double."""
    if items.tag != UNTYPED or FAMILY.get(other, STRING) == STRING:
        return items
    return cast(items, DOUBLE if FAMILY[other] == NUMBER else PRIMITIVE[other], namespaces)


def _against_single(
    op: Op, many: Column, single: Column, timezone: int, namespaces: Namespaces
) -> Bools:
    """Rows of any length against rows of one item."""
    if constant(single.items) is not None:
        other = _as_compared(single.items.slice(0, 1), many.items.tag).repeated(len(many.items))
    else:
        other = single.items.take(many.rows())
    flags = compare_pairs(op, many.items, other, timezone, namespaces)
    return any_in_row(many.rows(), flags, many.n)


def _as_compared(number: Items, other: int) -> Items:
    """One number as the type in which it is compared: converted once, not once for each item."""
    if FAMILY.get(number.tag) != NUMBER or (FAMILY.get(other) != NUMBER and other != UNTYPED):
        return number
    kind = DOUBLE if other == UNTYPED else common_type(number.tag, other)
    return number if PRIMITIVE[number.tag] == kind else cast(number, kind)


def any_in_row(rows: Ints, flags: Bools, n: int) -> Bools:
    """For every row whether one of its items is flagged."""
    out = np.zeros(n, np.bool_)
    out[rows[flags]] = True
    return out


def _crosswise(op: Op, left: Column, right: Column, timezone: int, namespaces: Namespaces) -> Bools:
    """All pairs of all rows, a bounded number at a time."""
    rows, lengths = left.rows(), right.lengths()
    widths, starts = lengths[rows], right.bounds()[:-1][rows]
    out = np.zeros(left.n, np.bool_)
    step = max(1, 4_000_000 // max(1, int(widths.max())))
    for at in range(0, len(rows), step):
        part = np.arange(at, min(at + step, len(rows)))
        i, j = np.repeat(part, widths[part]), ranges(starts[part], widths[part])
        pair = left.items.take(i), right.items.take(j)
        flags = compare_pairs(op, *pair, timezone, namespaces)
        out[rows[i[flags]]] = True
    return out


# -- many against many: ranks instead of pairs -----------------------------------------------------


def _by_ranks(op: Op, left: Column, right: Column) -> Bools | None:
    """The comparison from ranks in one order over both sides; None where no such order exists."""
    if op == "eq":
        left, right = _candidates(left, right)
        if len(left.items) == 0 or len(right.items) == 0:
            return np.zeros(left.n, np.bool_)
    ranked = shared_ranks(left.items, right.items)
    if ranked is None:
        return None
    a, b = ranked
    if op == "eq":
        width = int(max(a.max(), b.max())) + 2
        # Rank -1 is NaN, which equals nothing.
        known = (right.rows() * width + b)[b >= 0]
        return any_in_row(left.rows(), (a >= 0) & np.isin(left.rows() * width + a, known), left.n)
    return _by_bounds(op, (left.rows(), a), (right.rows(), b), left.n)


def _candidates(left: Column, right: Column) -> tuple[Column, Column]:
    """Only the items whose hash occurs on the other side, where both are unread node values."""
    a, b = unread(left.items), unread(right.items)
    if a is None or b is None:
        return left, right
    first, second = a[0].hashes(a[1]), b[0].hashes(b[1])
    return left.keep(np.isin(first, second)), right.keep(np.isin(second, first))


def _by_bounds(op: Op, left: tuple[Ints, Ints], right: tuple[Ints, Ints], n: int) -> Bools:
    """some l op some r  →  the smallest or largest of one side decides."""
    (low_a, high_a, nan_a), (low_b, high_b, nan_b) = _bounds(*left, n), _bounds(*right, n)
    both = (low_a <= high_a) & (low_b <= high_b)
    match op:
        case "lt":
            return both & (low_a < high_b)
        case "le":
            return both & (low_a <= high_b)
        case "gt":
            return both & (high_a > low_b)
        case "ge":
            return both & (high_a >= low_b)
        case _:
            some_a, some_b = (low_a <= high_a) | nan_a, (low_b <= high_b) | nan_b
            unequal = both & ((low_a != high_b) | (high_a != low_b))
            result: Bools = unequal | (nan_a & some_b) | (nan_b & some_a)
            return result


def _bounds(rows: Ints, ranks: Ints, n: int) -> tuple[Ints, Ints, Bools]:
    """Per row the smallest and largest rank, and whether there is a NaN."""
    low, high = np.full(n, np.iinfo(np.int64).max), np.full(n, np.int64(-1))
    real = ranks >= 0
    np.minimum.at(low, rows[real], ranks[real])
    np.maximum.at(high, rows[real], ranks[real])
    return low, high, any_in_row(rows, ~real, n)


def equal_pairs(left: Items, right: Items, timezone: int = 0) -> tuple[Ints, Ints]:
    """All (i, j) with left[i] = right[j] in the sense of general comparison, by ascending i, j."""
    ranked = shared_ranks(left, right) if len(left) and len(right) else None
    if ranked is None:
        return _equal_crosswise(left, right, timezone)
    a, b = ranked
    order = np.argsort(b, kind="stable")
    start = np.searchsorted(b[order], a, "left")
    count = np.where(a >= 0, np.searchsorted(b[order], a, "right") - start, 0)
    return np.repeat(np.arange(len(a)), count), order[ranges(start, count)]


def _equal_crosswise(left: Items, right: Items, timezone: int) -> tuple[Ints, Ints]:
    found: list[Any] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for i in range(len(left)):
        one = left.slice(i, i + 1).repeated(len(right))
        at = np.flatnonzero(compare_pairs("eq", one, right, timezone))
        found.append((np.full(len(at), i), at))
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
