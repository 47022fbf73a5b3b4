"""Aggregates: sum and avg."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import cast, per_type
from xstreamcast.functions.numbers.arithmetic import arithmetic
from xstreamcast.functions.numbers.numeric import RANK
from xstreamcast.functions.registry import function
from xstreamcast.model.atomic import (
    BY_TAG,
    DAY_TIME_DURATION,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    MIXED,
    PRIMITIVE,
    UNTYPED,
    YEAR_MONTH_DURATION,
)
from xstreamcast.model.column import Column, scatter
from xstreamcast.model.exact import EXACT
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    Array = npt.NDArray[Any]
    Bools = npt.NDArray[np.bool_]
    Ints = npt.NDArray[np.int64]

_SUMMABLE = frozenset({*RANK, DAY_TIME_DURATION, YEAR_MONTH_DURATION})


# -- sum and avg -----------------------------------------------------------------------------


@function("fn:sum($arg as xs:anyAtomicType*) as xs:anyAtomicType", blocking=(0,), doc="The total.")
def sum_(call: CallContext, arg: Column) -> Column:
    zero = Column.constant(Items.of(INTEGER, [0]), arg.n)
    return sum_with_zero(call, arg, zero)


@function(
    "fn:sum($arg as xs:anyAtomicType*, $zero as xs:anyAtomicType?) as xs:anyAtomicType?",
    blocking=(0,),
    doc="The total, or the second argument where there is nothing to add.",
)
def sum_with_zero(call: CallContext, arg: Column, zero: Column) -> Column:
    full = arg.lengths() > 0
    rows, gaps = np.flatnonzero(full), np.flatnonzero(~full)
    filled = _filled(arg)
    alone = filled.lengths() == 1
    several = filled.take(np.flatnonzero(~alone))
    return scatter(
        arg.n,
        [
            (rows[~alone], Column(_totals("sum", several))),
            (rows[alone], _summable("sum", filled.take(np.flatnonzero(alone)))),
            (gaps, zero.take(gaps)),
        ],
    )


def _summable(name: str, arg: Column) -> Column:
    """Values as they are: the total of one value is that value, with its type."""
    for tag in arg.items.kinds():
        _check(name, tag)
    return arg


def _check(name: str, tag: int) -> None:
    if PRIMITIVE.get(tag, tag) not in _SUMMABLE:
        raise error("FORG0006", f"fn:{name} cannot add values of type {_name(tag)}")


@function("fn:avg($arg as xs:anyAtomicType*) as xs:anyAtomicType?", blocking=(0,), doc="The mean.")
def avg(call: CallContext, arg: Column) -> Column:
    lengths = arg.lengths()
    rows = np.flatnonzero(lengths > 0)
    if len(rows) == 0:
        return Column.empty(arg.n)
    totals = _totals("avg", _filled(arg))
    means = arithmetic("div", totals, Items(INTEGER, lengths[rows]))
    return scatter(arg.n, [(rows, Column(means))])


def doubles_for_untyped(arg: Column) -> Column:
    """The column with untyped values cast to doubles."""
    items = arg.items
    if UNTYPED not in items.kinds():
        return arg
    cells = per_type(items, lambda part: cast(part, DOUBLE) if part.tag == UNTYPED else part)
    return arg.with_items(cells)


def _filled(arg: Column) -> Column:
    """The rows that hold something, untyped values as doubles."""
    lengths = arg.lengths()
    return Column.from_lengths(doubles_for_untyped(arg).items, lengths[lengths > 0])


def _totals(name: str, arg: Column) -> Items:
    """The total of every row; rows are not empty."""
    if arg.n == 0:
        return arg.items
    if arg.items.tag == MIXED:
        singles = [_totals(name, Column(*_one_type(name, arg.row(i)))) for i in range(arg.n)]
        return Items.concat(singles)
    _check(name, arg.items.tag)
    tag = PRIMITIVE[arg.items.tag]
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
            totals = np.bincount(arg.rows(), arg.items.values, minlength=arg.n)
            return Items(DOUBLE, totals if totals.all() else _signed_zeros(totals, arg))
        single = np.float32
        rows = np.split(arg.items.values.astype(single), arg.bounds()[1:-1])
        return Items.of(FLOAT, [float(np.add.accumulate(row, dtype=single)[-1]) for row in rows])


def _signed_zeros(totals: Array, arg: Column) -> Array:
    """The total of negative zeros alone is one; bincount begins with a positive one."""
    positive = np.bincount(arg.rows(), ~np.signbit(arg.items.values), minlength=arg.n)
    return np.where((totals == 0) & (positive == 0), -0.0, totals)


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
