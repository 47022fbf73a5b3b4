"""Functions on sequences: how many, which of them, in what order, alike or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import one_or, truths
from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.column import Column, concat_rows, ranges
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    Ints = npt.NDArray[np.int64]


@function("fn:empty($arg as item()*) as xs:boolean", doc="Whether there is no item.")
def empty(call: CallContext, arg: Column) -> Column:
    return truths(arg.lengths() == 0)


@function("fn:exists($arg as item()*) as xs:boolean", doc="Whether there is an item.")
def exists(call: CallContext, arg: Column) -> Column:
    return truths(arg.lengths() > 0)


@function("fn:count($arg as item()*) as xs:integer", blocking=(0,), doc="The number of items.")
def count(call: CallContext, arg: Column) -> Column:
    return Column(Items(INTEGER, arg.lengths()))


# -- which of them ---------------------------------------------------------------------------


def _cut(arg: Column, starts: Ints, lengths: Ints) -> Column:
    """The given run of every row."""
    places = ranges(arg.bounds()[:-1] + starts, lengths)
    return Column.from_lengths(arg.items.take(places), lengths)


@function("fn:head($arg as item()*) as item()?", doc="The first item.")
def head(call: CallContext, arg: Column) -> Column:
    return _cut(arg, np.zeros(arg.n, np.int64), np.minimum(arg.lengths(), 1))


@function("fn:tail($arg as item()*) as item()*", doc="All items but the first.")
def tail(call: CallContext, arg: Column) -> Column:
    return _cut(arg, np.ones(arg.n, np.int64), np.maximum(arg.lengths() - 1, 0))


@function("fn:reverse($arg as item()*) as item()*", blocking=(0,), doc="The items, last first.")
def reverse(call: CallContext, arg: Column) -> Column:
    if arg.offsets is None:
        return arg
    ends, lengths = arg.offsets[1:], arg.lengths()
    back = np.repeat(ends - 1, lengths) - ranges(np.zeros(arg.n, np.int64), lengths)
    return Column(arg.items.take(back), arg.offsets)


@function(
    "fn:subsequence($source as item()*, $start as xs:double) as item()*",
    doc="The items from a position on.",
)
@function(
    "fn:subsequence($source as item()*, $start as xs:double, $length as xs:double) as item()*",
    doc="So many items from a position on.",
)
def subsequence(
    call: CallContext, source: Column, start: Column, length: Column | None = None
) -> Column:
    end = np.full(source.n, np.inf)
    size = source.lengths().astype(np.float64)
    with np.errstate(invalid="ignore"):  # -INF + INF is NaN, and nothing is before that
        first = _rounded(start.items.values)
        if length is not None:
            end = first + _rounded(length.items.values)
        low = np.clip(np.nan_to_num(first, nan=np.inf), 1, size + 1)
        high = np.clip(np.nan_to_num(end, nan=-np.inf, posinf=np.inf), low, size + 1)
    return _cut(source, low.astype(np.int64) - 1, (high - low).astype(np.int64))


def _rounded(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """fn:round: halves go up."""
    down = np.floor(values)
    # The infinities stay; values + 0.5 would round 0.49999999999999994 up.
    return np.where(np.isfinite(values), down + (values - down >= 0.5), values)


@function(
    "fn:insert-before($target as item()*, $position as xs:integer, $inserts as item()*) as item()*",
    doc="A sequence with others put in before a position.",
)
def insert_before(call: CallContext, target: Column, position: Column, inserts: Column) -> Column:
    lengths = target.lengths()
    places = [min(max(place, 1), 2**62) - 1 for place in one_or(position)]
    before = np.minimum(np.array(places, np.int64), lengths)
    return concat_rows(
        [
            _cut(target, np.zeros(target.n, np.int64), before),
            inserts,
            _cut(target, before, lengths - before),
        ]
    )


@function(
    "fn:remove($target as item()*, $position as xs:integer) as item()*",
    doc="A sequence without the item at a position.",
)
def remove(call: CallContext, target: Column, position: Column) -> Column:
    lengths = target.lengths()
    places = np.array([min(max(p, 0), 2**62) for p in one_or(position)], np.int64)
    inside = ranges(np.ones(target.n, np.int64), lengths)
    return target.keep(inside != np.repeat(places, lengths))


@function("fn:unordered($arg as item()*) as item()*", doc="The items in any order.")
def unordered(call: CallContext, arg: Column) -> Column:
    return arg


# -- how many are allowed --------------------------------------------------------------------


@function("fn:zero-or-one($arg as item()*) as item()?", doc="The sequence, if at most one item.")
def zero_or_one(call: CallContext, arg: Column) -> Column:
    if (arg.lengths() > 1).any():
        raise error("FORG0003")
    return arg


@function("fn:one-or-more($arg as item()*) as item()+", doc="The sequence, if not empty.")
def one_or_more(call: CallContext, arg: Column) -> Column:
    if (arg.lengths() == 0).any():
        raise error("FORG0004")
    return arg


@function("fn:exactly-one($arg as item()*) as item()", doc="The sequence, if one item.")
def exactly_one(call: CallContext, arg: Column) -> Column:
    if (arg.lengths() != 1).any():
        raise error("FORG0005")
    return Column(arg.items)
