"""fn:sort: the items of a sequence in the order of their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import Error
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.compare.keys import order_ranks
from xstreamcast.functions.higher_order import by_function, invoke
from xstreamcast.functions.registry import function
from xstreamcast.functions.sequences.distinct import is_nan
from xstreamcast.functions.strings.collations import one_collation
from xstreamcast.functions.structured.arrays import members_of
from xstreamcast.model.array_item import array_items
from xstreamcast.model.column import Column

if TYPE_CHECKING:
    from xstreamcast.model.function_item import Alike

    Ints = npt.NDArray[np.int64]


@function("fn:sort($input as item()*) as item()*", blocking=(0,))
@function("fn:sort($input as item()*, $collation as xs:string?) as item()*", blocking=(0,))
def sort(call: CallContext, source: Column, collation: Column | None = None) -> Column:
    """The items in the order of their values."""
    keys = one_collation(call, collation).column(atomize(call, source.each()))
    return _sorted(call, source, keys)


@function(
    "fn:sort($input as item()*, $collation as xs:string?,"
    " $key as function(item()) as xs:anyAtomicType*) as item()*",
    blocking=(0,),
)
def sort_by(call: CallContext, source: Column, collation: Column, key: Column) -> Column:
    """The items in the order of the keys that the function returns."""
    order = one_collation(call, collation)

    def work(f: Alike, items: Column) -> Column:
        if len(items.items) == 0:
            return items
        keys = invoke(call, f.at(items.rows()), [items.each()])
        return _sorted(call, items, order.column(keys))

    return by_function(key, [source], work)


# -- arrays ----------------------------------------------------------------------------------


@function("array:sort($array as array(*)) as array(*)")
@function("array:sort($array as array(*), $collation as xs:string?) as array(*)")
def array_sort(call: CallContext, array: Column, collation: Column | None = None) -> Column:
    """The members in the order of their values."""
    order = one_collation(call, collation)
    members, shape = members_of(array)
    return _sorted_arrays(call, members, shape, order.column(atomize(call, members)))


@function(
    "array:sort($array as array(*), $collation as xs:string?,"
    " $key as function(item()*) as xs:anyAtomicType*) as array(*)"
)
def array_sort_by(call: CallContext, array: Column, collation: Column, key: Column) -> Column:
    """The members in the order of the keys that the function returns."""
    order = one_collation(call, collation)

    def work(f: Alike, arrays: Column) -> Column:
        members, shape = members_of(arrays)
        keys = invoke(call, f.at(shape.rows()), [members]) if members.n else Column.empty(0)
        return _sorted_arrays(call, members, shape, order.column(keys))

    return by_function(key, [array], work)


def _sorted_arrays(call: CallContext, members: Column, shape: Column, keys: Column) -> Column:
    places = _sorted(call, shape, keys).items.values.astype(np.int64)
    return Column(array_items(members.take(places), shape.lengths()))


def _sorted(call: CallContext, source: Column, keys: Column) -> Column:
    """Rows of `source` sorted by `keys`, which has a row for every item.

    Keys are sequences: compared place by place, where one that has ended comes first.
    """
    tied = source.rows()
    lengths, starts = keys.lengths(), keys.bounds()[:-1]
    for place in range(int(lengths.max(initial=0))):
        there = lengths > place
        column = Column.from_lengths(keys.items.take(starts[there] + place), there.astype(np.int64))
        tied = _finer(tied, _ranks(call, column, tied))
    order = np.argsort(tied, kind="stable")
    return Column(source.items.take(order), source.offsets)


def _ranks(call: CallContext, keys: Column, tied: Ints) -> Ints:
    """Ranks of the keys: none first, then NaN, then the values in their order."""
    ranks = np.where(keys.lengths() > 0, 1, 0)
    real = np.zeros(keys.n, np.bool_)
    real[keys.lengths() > 0] = ~is_nan(keys.items)
    rows = np.flatnonzero(real)
    ranks[rows] = _value_ranks(call, keys.take(rows), tied[rows]) + 2
    return ranks


def _value_ranks(call: CallContext, keys: Column, tied: Ints) -> Ints:
    """Ranks of values; only values of items that are still tied need a common order."""
    try:
        return order_ranks(keys, timezone=call.timezone)
    except Error:
        groups = np.unique(tied)
        if len(groups) == 1 and keys.n > 1:
            raise
    ranks = np.zeros(keys.n, np.int64)
    for group in groups:
        rows = np.flatnonzero(tied == group)
        if len(rows) > 1:
            ranks[rows] = order_ranks(keys.take(rows), timezone=call.timezone)
    return ranks


def _finer(tied: Ints, ranks: Ints) -> Ints:
    """Groups in order, each split by rank."""
    order = np.lexsort((ranks, tied))
    new = np.zeros(len(tied), np.int64)
    new[1:] = (np.diff(tied[order]) != 0) | (np.diff(ranks[order]) != 0)
    finer = np.empty(len(tied), np.int64)
    finer[order] = np.cumsum(new)
    return finer
