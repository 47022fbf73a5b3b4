"""What is the same: distinct-values, index-of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import cast, per_type
from xstreamcast.functions.compare import group_codes
from xstreamcast.functions.compare.values import FAMILY, by_pairs, value_compare
from xstreamcast.functions.numbers.numeric import is_numeric
from xstreamcast.functions.registry import function
from xstreamcast.functions.strings.collations import one_collation
from xstreamcast.model.atomic import DOUBLE, FLOAT, INTEGER, MIXED, PRIMITIVE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    Bools = npt.NDArray[np.bool_]
    Ints = npt.NDArray[np.int64]


@function("fn:distinct-values($arg as xs:anyAtomicType*) as xs:anyAtomicType*")
@function(
    "fn:distinct-values($arg as xs:anyAtomicType*, $collation as xs:string) as xs:anyAtomicType*"
)
def distinct_values(call: CallContext, arg: Column, collation: Column | None = None) -> Column:
    """The values, each once, in the order of their first appearance."""
    order = one_collation(call, collation)
    if len(arg.items) == 0:
        return arg
    codes = group_codes(order.keyed(arg.items), call.timezone)
    pairs = arg.rows() * (int(codes.max()) + 1) + codes
    keep = np.zeros(len(codes), np.bool_)
    keep[np.unique(pairs, return_index=True)[1]] = True
    numbers = _numbers_of_several_precisions(arg.items)
    if len(numbers):
        keep[numbers] = _distinct_numbers(arg.items.take(numbers), arg.rows()[numbers])
    return arg.keep(keep)


def _precision(tag: int) -> int:
    """Exact numbers, floats and doubles: eq between two of these rounds one of them."""
    primitive = PRIMITIVE.get(tag, tag)
    return {FLOAT: 1, DOUBLE: 2}.get(primitive, 0)


def _numbers_of_several_precisions(items: Items) -> Ints:
    """The places of numbers where eq is not transitive among them, else none."""
    numeric = [tag for tag in items.kinds() if is_numeric(tag)]
    if len({_precision(tag) for tag in numeric}) < 2:
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.isin(items.all_tags(), numeric))


def _distinct_numbers(items: Items, rows: Ints) -> Bools:
    """Which numbers are eq to none kept before them in their row."""
    as_float, as_double = (
        per_type(items, lambda part, t=tag: cast(part, t)).values.tolist()  # type: ignore[misc]
        for tag in (FLOAT, DOUBLE)
    )
    seen: set[tuple[int, int, int, object]] = set()  # row, precision, form compared in, value
    keep = np.zeros(len(items), np.bool_)
    cells = zip(rows.tolist(), items.pairs(), as_float, as_double, strict=True)
    for i, (row, (tag, value), single, double) in enumerate(cells):
        mine = _precision(tag)
        forms = [(row, mine, form, _key(v)) for form, v in enumerate((value, single, double))]
        # Compared with exact, float and double values in turn, in the wider form of the two.
        candidates = [(row, other, *forms[max(mine, other)][2:]) for other in range(3)]
        if not any(key in seen for key in candidates):
            keep[i] = True
            seen.update(forms[mine:])
    return keep


def _key(value: object) -> object:
    return "NaN" if value != value else value


@function("fn:index-of($seq as xs:anyAtomicType*, $search as xs:anyAtomicType) as xs:integer*")
@function(
    "fn:index-of($seq as xs:anyAtomicType*, $search as xs:anyAtomicType, $collation as xs:string)"
    " as xs:integer*"
)
def index_of(
    call: CallContext, seq: Column, search: Column, collation: Column | None = None
) -> Column:
    """The positions at which a value occurs."""
    order = one_collation(call, collation)
    rows = seq.rows()
    wanted = order.keyed(search.items).take(rows)
    hits = same_values(order.keyed(seq.items), wanted, call.timezone)
    inside = np.arange(len(rows)) - seq.bounds()[:-1][rows] + 1
    return Column.labelled(Items(INTEGER, inside[hits]), rows[hits], seq.n)


def same_values(left: Items, right: Items, timezone: int) -> Bools:
    """left[i] eq right[i], false where the types have no eq."""
    if left.tag == MIXED or right.tag == MIXED:
        return by_pairs(left, right, lambda a, b: same_values(a, b, timezone))
    if len(left) and FAMILY.get(left.tag) != FAMILY.get(right.tag):
        return np.zeros(len(left), np.bool_)
    return value_compare("eq", left, right, timezone)


def is_nan(items: Items) -> Bools:
    """Which items are the float or double NaN."""
    if items.tag == MIXED:
        flags = [PRIMITIVE.get(tag) in (DOUBLE, FLOAT) and v != v for tag, v in items.pairs()]
        return np.array(flags, np.bool_)
    if PRIMITIVE[items.tag] in (DOUBLE, FLOAT):
        return np.isnan(items.values)
    return np.zeros(len(items), np.bool_)
