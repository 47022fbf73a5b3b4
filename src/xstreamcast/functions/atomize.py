"""From items to atomic values, strings and truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.unread import Texts
from xstreamcast.model.array_item import flattened
from xstreamcast.model.atomic import (
    ANY_URI,
    ARRAY,
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    FLOAT,
    FUNCTIONS,
    INTEGER,
    MAP,
    MIXED,
    NODE,
    PRIMITIVE,
    STRING,
    UNTYPED,
)
from xstreamcast.model.items import Items, empty_items

if TYPE_CHECKING:
    from xstreamcast.model.column import Column

    Bools = npt.NDArray[np.bool_]
    Ints = npt.NDArray[np.int64]

# Kinds of nodes (tape) whose typed value is a string and not untyped: comment, PI, namespace.
_FIRST_STRING_KIND: Final = 4
_STRINGS: Final = frozenset({STRING, UNTYPED, ANY_URI})
_NUMBERS: Final = frozenset({INTEGER, DECIMAL, FLOAT, DOUBLE})


def atomize(where: CallContext | Texts, column: Column) -> Column:
    """The typed value of every item, in its row; node values are read on first use."""
    tag = column.items.tag
    if NODE < tag < MAP:
        return column
    if tag >= ARRAY and ARRAY in column.items.kinds():
        column = flattened(column)
    return column.with_items(atomize_items(where, column.items))


def atomize_items(where: CallContext | Texts, items: Items) -> Items:
    """The typed value of every item; a function has none (FOTY0013)."""
    store: Texts = where.store if isinstance(where, CallContext) else where
    if items.tag == NODE:
        return _of_nodes(store, items.values)
    if items.tag in FUNCTIONS:
        raise error("FOTY0013")
    return _of_mixed(store, items) if items.tag == MIXED else items


def _of_nodes(store: Texts, handles: Ints) -> Items:
    if len(handles) == 0:
        return empty_items()
    plain = store.kinds(handles) < _FIRST_STRING_KIND
    if plain.all():
        return Items.text_of(store, handles)
    tags = np.where(plain, UNTYPED, STRING).astype(np.uint8)
    return Items.mixed(tags.tolist(), store.strings(handles).tolist())


def _of_mixed(store: Texts, items: Items) -> Items:
    tags = items.all_tags()
    if (tags >= MAP).any():
        raise error("FOTY0013")
    where = np.flatnonzero(tags == NODE)
    if len(where) == 0:
        return items
    values, tags = items.values.copy(), tags.copy()
    typed = _of_nodes(store, values[where].astype(np.int64))
    values[where], tags[where] = typed.as_objects(), typed.all_tags()
    return Items(MIXED, values, tags).settled()


def effective_boolean(where: CallContext | Texts, column: Column) -> Bools:
    """The effective boolean value of every row.

    () → false; a node first → true; one boolean, string or number → its truth; else FORG0006.
    """
    lengths = column.lengths()
    if column.items.tag == NODE:
        return lengths > 0
    if column.offsets is None:
        return truth_of(column.items)
    out: Bools = np.zeros(column.n, np.bool_)
    filled = np.flatnonzero(lengths > 0)
    first = column.bounds()[:-1][filled]
    nodes = column.items.all_tags()[first] == NODE
    out[filled[nodes]] = True
    rest = filled[~nodes]
    if (lengths[rest] > 1).any():
        raise error("FORG0006", "a sequence of several values has no effective boolean value")
    out[rest] = truth_of(column.items.take(first[~nodes]))
    return out


def truth_of(items: Items) -> Bools:
    """The effective boolean value of single items."""
    tag = PRIMITIVE.get(items.tag)
    if len(items) == 0:
        return np.zeros(0, np.bool_)
    if items.tag == NODE:
        return np.ones(len(items), np.bool_)
    if tag == BOOLEAN:
        return items.values
    if tag in _STRINGS or tag in _NUMBERS:
        return _nonzero(tag, items.values)
    if items.tag == MIXED:
        out = [truth_of(items.slice(i, i + 1))[0] for i in range(len(items))]
        return np.array(out, np.bool_)
    raise error("FORG0006")


def _nonzero(tag: int, values: npt.NDArray[Any]) -> Bools:
    if tag in (FLOAT, DOUBLE):
        truth: Bools = (values != 0) & (values == values)  # NaN is false
        return truth
    return values.astype(np.bool_)
