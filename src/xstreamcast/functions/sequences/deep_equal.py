"""fn:deep-equal: sequences whose items are equal in value and structure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import truths
from xstreamcast.functions.sequences.distinct import is_nan, same_values
from xstreamcast.functions.strings.collations import Collation, one_collation
from xstreamcast.model.atomic import ARRAY, FUNCTION, MAP, NODE
from xstreamcast.model.column import Column, gather, ranges
from xstreamcast.model.items import Items
from xstreamcast.tape.layout import ATTRIBUTE, COMMENT, DOCUMENT, ELEMENT, KIND, NAMESPACE, PI

if TYPE_CHECKING:
    from xstreamcast.model.array_item import ArrayItem
    from xstreamcast.model.map_item import MapItem

    Bools = npt.NDArray[np.bool_]
    Ints = npt.NDArray[np.int64]

_ROW = 0xFFFFFFFF


@function(
    "fn:deep-equal($parameter1 as item()*, $parameter2 as item()*) as xs:boolean", blocking=(0, 1)
)
@function(
    "fn:deep-equal($parameter1 as item()*, $parameter2 as item()*, $collation as xs:string)"
    " as xs:boolean",
    blocking=(0, 1),
)
def deep_equal(
    call: CallContext, left: Column, right: Column, collation: Column | None = None
) -> Column:
    """Whether two sequences are equal item by item; nodes by name, attributes and content."""
    order = one_collation(call, collation)
    return truths(same_sequences(call, left, right, order))


def same_sequences(call: CallContext, left: Column, right: Column, order: Collation) -> Bools:
    """Whether the sequences of each row are equal."""
    if FUNCTION in left.items.kinds() | right.items.kinds():
        raise error("FOTY0015")
    equal: Bools = left.lengths() == right.lengths()
    rows = np.flatnonzero(equal)
    a, b = _items(left, rows), _items(right, rows)
    same = _same(call, a, b, order)
    labels = np.repeat(rows, left.lengths()[rows])
    equal[labels[~same]] = False
    return equal


def _items(column: Column, rows: Ints) -> Items:
    return column.items.take(ranges(column.bounds()[:-1][rows], column.lengths()[rows]))


def _same(call: CallContext, left: Items, right: Items, order: Collation) -> Bools:
    """left[i] deep-equal right[i], one item each."""
    a, b = left.all_tags(), right.all_tags()
    out: Bools = np.zeros(len(left), np.bool_)
    both = np.flatnonzero((a == NODE) & (b == NODE))
    out[both] = same_nodes(call, _handles(left, both), _handles(right, both), order)
    values = np.flatnonzero((a != NODE) & (b != NODE) & (a < MAP) & (b < MAP))
    out[values] = _same_values(
        call, order.keyed(left.take(values)), order.keyed(right.take(values))
    )
    for i in np.flatnonzero((a == b) & (a >= MAP)).tolist():
        one, other = left.values[i], right.values[i]
        alike = _same_arrays if a[i] == ARRAY else _same_maps
        out[i] = one is other or alike(call, one, other, order)
    return out


def _same_arrays(call: CallContext, left: ArrayItem, right: ArrayItem, order: Collation) -> bool:
    if len(left) != len(right):
        return False
    return bool(same_sequences(call, left.members(), right.members(), order).all())


def _same_maps(call: CallContext, left: MapItem, right: MapItem, order: Collation) -> bool:
    """The same keys, in any order, with equal values."""
    if len(left) != len(right):
        return False
    cells = [right.find(*key) for key in left.own_keys().pairs()]
    found = [cell for cell in cells if cell is not None]
    if len(found) < len(cells):
        return False
    return bool(same_sequences(call, left.own_values(), gather(found), order).all())


def _handles(items: Items, places: Ints) -> Ints:
    return items.take(places).values.astype(np.int64)


def _same_values(call: CallContext, left: Items, right: Items) -> Bools:
    """eq, but NaN equals NaN, and values that eq cannot compare differ."""
    if len(left) == 0:
        return np.zeros(0, np.bool_)
    return same_values(left, right, call.timezone) | (is_nan(left) & is_nan(right))


# -- nodes -----------------------------------------------------------------------------------


def same_nodes(call: CallContext, left: Ints, right: Ints, order: Collation) -> Bools:
    """left[i] deep-equal right[i] for nodes."""
    same: Bools = left == right
    alike = call.store.kinds(left) == call.store.kinds(right)
    for i in np.flatnonzero(alike & ~same).tolist():
        same[i] = _shape(call, int(left[i]), order) == _shape(call, int(right[i]), order)
    return same


def _shape(call: CallContext, node: int, order: Collation) -> list[Any]:
    """What counts of a node: two nodes are deep-equal if their shapes are equal.

    Comments and processing instructions inside a tree do not count, nor do namespaces and
    prefixes; attributes count in any order.
    """
    number, row = node >> 32, node & _ROW
    columns = call.store.tape(number).columns
    kinds = columns.kind[row : row + int(columns.size[row]) + 1] & KIND
    counts = (kinds != COMMENT) & (kinds != PI) & (kinds != NAMESPACE)
    counts[0] = True
    rows = row + np.flatnonzero(counts)
    texts = map(order.text, _texts(call, number, rows, kinds[counts]))
    levels = (columns.level[rows].astype(np.int64) - int(columns.level[row])).tolist()
    names = [_name(call, name) for name in columns.name[rows].tolist()]
    cells = zip(levels, kinds[counts].tolist(), names, texts, strict=True)
    return list(_attributes_in_order(cells))


def _texts(
    call: CallContext, number: int, rows: Ints, kinds: npt.NDArray[np.uint8]
) -> list[str | None]:
    """The string values of the nodes that have one of their own."""
    own = (kinds != ELEMENT) & (kinds != DOCUMENT)
    values = iter(call.store.strings(rows[own] | (number << 32)).tolist())
    return [next(values) if mine else None for mine in own.tolist()]


def _name(call: CallContext, name: int) -> tuple[str, str] | None:
    if name < 0:
        return None
    _, local, uri = call.store.names.qname(name)
    return uri, local


Cell = tuple[int, int, Any, Any]


def _attributes_in_order(cells: Iterator[Cell]) -> Iterator[Cell]:
    """The cells with each run of attributes sorted by name."""
    run: list[Cell] = []
    for cell in cells:
        if cell[1] == ATTRIBUTE:
            run.append(cell)
            continue
        yield from sorted(run)
        run.clear()
        yield cell
    yield from sorted(run)
