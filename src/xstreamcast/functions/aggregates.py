"""Aggregates: sum, avg, min, max, and what is distinct."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import Error, error
from xstreamcast.functions.arithmetic import arithmetic
from xstreamcast.functions.call import Call
from xstreamcast.functions.cast import cast, per_type
from xstreamcast.functions.compare import group_codes
from xstreamcast.functions.compare.keys import sortable, value_ranks
from xstreamcast.functions.compare.values import FAMILY, by_pairs, value_compare
from xstreamcast.functions.numeric import RANK
from xstreamcast.functions.registry import function
from xstreamcast.functions.strings import check_collation
from xstreamcast.model.atomic import (
    ANY_URI,
    BY_TAG,
    DAY_TIME_DURATION,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    MIXED,
    PRIMITIVE,
    STRING,
    UNTYPED,
    YEAR_MONTH_DURATION,
)
from xstreamcast.model.column import Column, scatter, stack
from xstreamcast.model.exact import EXACT
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    Array = npt.NDArray[Any]
    Bools = npt.NDArray[np.bool_]
    Ints = npt.NDArray[np.int64]

_SUMMABLE = frozenset({*RANK, DAY_TIME_DURATION, YEAR_MONTH_DURATION})


# -- sum and avg -----------------------------------------------------------------------------


@function("fn:sum($arg as xs:anyAtomicType*) as xs:anyAtomicType", blocking=(0,), doc="The total.")
def sum_(call: Call, arg: Column) -> Column:
    zero = Column.constant(Items.of(INTEGER, [0]), arg.n)
    return sum_with_zero(call, arg, zero)


@function(
    "fn:sum($arg as xs:anyAtomicType*, $zero as xs:anyAtomicType?) as xs:anyAtomicType?",
    blocking=(0,),
    doc="The total, or the second argument where there is nothing to add.",
)
def sum_with_zero(call: Call, arg: Column, zero: Column) -> Column:
    full = arg.lengths() > 0
    rows, gaps = np.flatnonzero(full), np.flatnonzero(~full)
    totals = Column(_totals("sum", _filled(arg)))
    return scatter(arg.n, [(rows, totals), (gaps, zero.take(gaps))])


@function("fn:avg($arg as xs:anyAtomicType*) as xs:anyAtomicType?", blocking=(0,), doc="The mean.")
def avg(call: Call, arg: Column) -> Column:
    lengths = arg.lengths()
    rows = np.flatnonzero(lengths > 0)
    if len(rows) == 0:
        return Column.empty(arg.n)
    totals = _totals("avg", _filled(arg))
    means = arithmetic("div", totals, Items(INTEGER, lengths[rows]))
    return scatter(arg.n, [(rows, Column(means))])


def _filled(arg: Column) -> Column:
    """The rows that hold something, untyped values as doubles."""
    items = arg.items
    if UNTYPED in items.kinds():
        items = per_type(items, lambda part: cast(part, DOUBLE) if part.tag == UNTYPED else part)
    lengths = arg.lengths()
    return Column.from_lengths(items, lengths[lengths > 0])


def _totals(name: str, arg: Column) -> Items:
    """The total of every row; rows are not empty."""
    if arg.n == 0:
        return arg.items
    if arg.items.tag == MIXED:
        singles = [_totals(name, Column(*_one_type(name, arg.row(i)))) for i in range(arg.n)]
        return Items.concat(singles)
    tag = PRIMITIVE.get(arg.items.tag, arg.items.tag)
    if tag not in _SUMMABLE:
        raise error("FORG0006", f"fn:{name} cannot add values of type {_name(arg.items.tag)}")
    if tag in (DOUBLE, FLOAT):
        return _floating(tag, arg)
    return _integers(arg) if tag == INTEGER else _folded(tag, arg)


def _one_type(name: str, items: Items) -> tuple[Items, Ints]:
    """One row of several types as numbers of their common type."""
    kinds = {PRIMITIVE.get(tag, tag) for tag in items.kinds()}
    if len(kinds) > 1 and not kinds <= set(RANK):
        names = " and ".join(sorted(map(_name, kinds)))
        raise error("FORG0006", f"fn:{name} cannot add values of the types {names}")
    if len(kinds) > 1 or items.tag == MIXED:
        items = cast(items, max(kinds, key=lambda tag: RANK.get(tag, 9)))
    return items, np.array([0, len(items)], np.int64)


def _name(tag: int) -> str:
    return f"xs:{BY_TAG[tag].name}" if tag in BY_TAG else "node"


def _floating(tag: int, arg: Column) -> Items:
    # bincount adds in order, as a loop would: the same rounding as every other processor's.
    with np.errstate(all="ignore"):
        if tag == DOUBLE:
            return Items(DOUBLE, np.bincount(arg.rows(), arg.items.values, minlength=arg.n))
        single = np.float32
        rows = np.split(arg.items.values.astype(single), arg.bounds()[1:-1])
        return Items.of(FLOAT, [float(np.add.accumulate(row, dtype=single)[-1]) for row in rows])


def _integers(arg: Column) -> Items:
    values, bounds = arg.items.values, arg.bounds()
    if values.dtype != object and len(values) * _largest(values) < 2**62:
        return Items(INTEGER, np.add.reduceat(values, bounds[:-1]))
    exact = values.tolist()
    return Items.of(INTEGER, [sum(exact[a:b]) for a, b in _spans(bounds)])


def _largest(values: Array) -> int:
    return max(abs(int(values.min())), abs(int(values.max())))


def _folded(tag: int, arg: Column) -> Items:
    """Decimals exactly; durations by the operator that adds them."""
    values = arg.items.values.tolist()
    if tag == DECIMAL:
        return Items.of(DECIMAL, [_exact_sum(values[a:b]) for a, b in _spans(arg.bounds())])
    return Items.concat([_fold(arg.row(i)) for i in range(arg.n)])


def _exact_sum(values: list[Any]) -> Any:
    total = values[0]
    for value in values[1:]:
        total = EXACT.add(total, value)
    return total


def _fold(items: Items) -> Items:
    total = items.slice(0, 1)
    for i in range(1, len(items)):
        total = arithmetic("+", total, items.slice(i, i + 1))
    return total


def _spans(bounds: Ints) -> list[tuple[int, int]]:
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


# -- min and max -----------------------------------------------------------------------------


@function("fn:max($arg as xs:anyAtomicType*) as xs:anyAtomicType?", blocking=(0,), doc="The most.")
@function(
    "fn:max($arg as xs:anyAtomicType*, $collation as xs:string) as xs:anyAtomicType?",
    blocking=(0,),
    doc="The greatest value in the order of a collation.",
)
def max_(call: Call, arg: Column, collation: Column | None = None) -> Column:
    check_collation(call, collation)
    return _extreme(call, "max", arg, 1)


@function("fn:min($arg as xs:anyAtomicType*) as xs:anyAtomicType?", blocking=(0,), doc="The least.")
@function(
    "fn:min($arg as xs:anyAtomicType*, $collation as xs:string) as xs:anyAtomicType?",
    blocking=(0,),
    doc="The least value in the order of a collation.",
)
def min_(call: Call, arg: Column, collation: Column | None = None) -> Column:
    check_collation(call, collation)
    return _extreme(call, "min", arg, -1)


def _extreme(call: Call, name: str, arg: Column, sign: int) -> Column:
    rows = np.flatnonzero(arg.lengths() > 0)
    full = _filled(arg)
    if len(rows) == 0:
        return Column.empty(arg.n)
    if len({FAMILY.get(PRIMITIVE.get(t, t)) for t in full.items.kinds()}) > 1 and full.n > 1:
        # Rows of different types: each is judged on its own.
        alone = [_extreme(call, name, full.take(np.array([i])), sign) for i in range(full.n)]
        return scatter(arg.n, [(rows, stack(alone))])
    items = _ordered(name, full.items)
    place = value_ranks(items, call.timezone)
    nan = place < 0
    signed = np.where(nan, np.iinfo(np.int64).max, place * sign)  # NaN beats everything
    best = np.maximum.reduceat(signed, full.bounds()[:-1])
    hits = np.flatnonzero(signed == np.repeat(best, full.lengths()))
    first = np.unique(full.rows()[hits], return_index=True)[1]
    return scatter(arg.n, [(rows, Column(items.take(hits[first])))])


def _ordered(name: str, items: Items) -> Items:
    """Items of one type with an order; URIs as strings; FORG0006 where there is none."""
    kinds = {PRIMITIVE.get(tag, tag) for tag in items.kinds()}
    try:
        comparable = sortable(items)
    except Error as caught:
        names = " and ".join(sorted(map(_name, kinds)))
        raise error("FORG0006", f"fn:{name} cannot order values of type {names}") from caught
    if ANY_URI in kinds:
        return cast(comparable, STRING)
    return comparable


# -- distinct --------------------------------------------------------------------------------


@function("fn:distinct-values($arg as xs:anyAtomicType*) as xs:anyAtomicType*", doc="Each once.")
@function(
    "fn:distinct-values($arg as xs:anyAtomicType*, $collation as xs:string) as xs:anyAtomicType*",
    doc="The values, each once, in the order of their first appearance.",
)
def distinct_values(call: Call, arg: Column, collation: Column | None = None) -> Column:
    check_collation(call, collation)
    if len(arg.items) == 0:
        return arg
    codes = group_codes(arg.items, call.timezone)
    pairs = arg.rows() * (int(codes.max()) + 1) + codes
    keep = np.zeros(len(codes), np.bool_)
    keep[np.unique(pairs, return_index=True)[1]] = True
    return arg.keep(keep)


@function(
    "fn:index-of($seq as xs:anyAtomicType*, $search as xs:anyAtomicType) as xs:integer*",
    doc="The positions at which a value occurs.",
)
@function(
    "fn:index-of($seq as xs:anyAtomicType*, $search as xs:anyAtomicType, $collation as xs:string)"
    " as xs:integer*",
    doc="The positions at which a value occurs.",
)
def index_of(call: Call, seq: Column, search: Column, collation: Column | None = None) -> Column:
    check_collation(call, collation)
    rows = seq.rows()
    hits = same_values(seq.items, search.items.take(rows), call.timezone)
    inside = np.arange(len(rows)) - seq.bounds()[:-1][rows] + 1
    return Column.labelled(Items(INTEGER, inside[hits]), rows[hits], seq.n)


def same_values(left: Items, right: Items, timezone: int) -> Bools:
    """left[i] eq right[i], false where the types have no eq."""
    if left.tag == MIXED or right.tag == MIXED:
        return by_pairs(left, right, lambda a, b: same_values(a, b, timezone))
    if len(left) and FAMILY.get(left.tag) != FAMILY.get(right.tag):
        return np.zeros(len(left), np.bool_)
    return value_compare("eq", left, right, timezone)
