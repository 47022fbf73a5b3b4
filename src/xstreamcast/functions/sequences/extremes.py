"""The least and the greatest: min, max."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import Error, error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import cast, per_type
from xstreamcast.functions.compare.keys import sortable, value_ranks
from xstreamcast.functions.numbers.numeric import RANK
from xstreamcast.functions.registry import function
from xstreamcast.functions.sequences.aggregates import doubles_for_untyped
from xstreamcast.functions.strings.collations import Collation, one_collation
from xstreamcast.model.atomic import ANY_URI, BY_TAG, MIXED, PRIMITIVE, STRING
from xstreamcast.model.column import Column, scatter
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    Ints = npt.NDArray[np.int64]


@function("fn:max($arg as xs:anyAtomicType*) as xs:anyAtomicType?", blocking=(0,))
@function(
    "fn:max($arg as xs:anyAtomicType*, $collation as xs:string) as xs:anyAtomicType?",
    blocking=(0,),
)
def max_(call: CallContext, arg: Column, collation: Column | None = None) -> Column:
    """The greatest value."""
    return _extreme(call, "max", arg, 1, one_collation(call, collation))


@function("fn:min($arg as xs:anyAtomicType*) as xs:anyAtomicType?", blocking=(0,))
@function(
    "fn:min($arg as xs:anyAtomicType*, $collation as xs:string) as xs:anyAtomicType?",
    blocking=(0,),
)
def min_(call: CallContext, arg: Column, collation: Column | None = None) -> Column:
    """The least value."""
    return _extreme(call, "min", arg, -1, one_collation(call, collation))


def _extreme(call: CallContext, name: str, arg: Column, sign: int, order: Collation) -> Column:
    """Rows whose values have the same types are judged together."""
    full = doubles_for_untyped(arg)
    parts = []
    for rows in _alike(full):
        parts.append((rows, Column(_best(call, name, full.take(rows), sign, order))))
    return scatter(arg.n, parts)


def _alike(column: Column) -> list[Ints]:
    """The rows that hold something, in groups of the same primitive types."""
    if column.items.tag != MIXED:
        rows = np.flatnonzero(column.lengths() > 0)
        return [rows] if len(rows) else []
    tags = np.array([PRIMITIVE.get(tag, tag) for tag in column.items.all_tags().tolist()])
    groups: dict[frozenset[int], list[int]] = {}
    for row, (start, end) in enumerate(zip(column.bounds()[:-1], column.bounds()[1:], strict=True)):
        if end > start:
            groups.setdefault(frozenset(tags[start:end].tolist()), []).append(row)
    return [np.array(rows, np.int64) for rows in groups.values()]


def _best(call: CallContext, name: str, rows: Column, sign: int, order: Collation) -> Items:
    """The first of the best values of each row, none of which is empty."""
    place = value_ranks(order.keyed(_ordered(name, rows.items)), call.timezone)
    signed = np.where(place < 0, np.iinfo(np.int64).max, place * sign)  # NaN beats everything
    best = np.maximum.reduceat(signed, rows.bounds()[:-1])
    hits = np.flatnonzero(signed == np.repeat(best, rows.lengths()))
    first = np.unique(rows.rows()[hits], return_index=True)[1]
    return _promoted(rows.items, rows.items.take(hits[first]))


def _ordered(name: str, items: Items) -> Items:
    """The values as items of one type with an order, or FORG0006."""
    try:
        return sortable(items)
    except Error as caught:
        kinds = {PRIMITIVE.get(tag, tag) for tag in items.kinds()}
        names = " and ".join(sorted(f"xs:{BY_TAG[tag].name}" for tag in kinds if tag in BY_TAG))
        raise error("FORG0006", f"fn:{name} cannot order values of type {names}") from caught


def _promoted(among: Items, chosen: Items) -> Items:
    """The chosen values in the type common to all among which they were chosen.

    Numbers are promoted, a URI among strings becomes a string, derived types stay.
    """
    kinds = {PRIMITIVE[tag] for tag in among.kinds()}
    if len(kinds) < 2:
        return chosen
    target = max(kinds, key=lambda tag: RANK.get(tag, -1))
    if target in RANK:
        return per_type(chosen, lambda p: p if PRIMITIVE[p.tag] == target else cast(p, target))
    return per_type(chosen, lambda p: cast(p, STRING) if p.tag == ANY_URI else p)
