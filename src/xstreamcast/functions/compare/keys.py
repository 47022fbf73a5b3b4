"""Keys of values: what makes two values one group, and what sorts them.

Equality is that of `eq`, with NaN equal to itself, untyped values as strings, and values that no
`eq` compares distinct. Across number types `eq` is not transitive (a decimal can equal a float that
another decimal equals too); a key must be, so: as soon as a float or double takes part, numbers are
keyed by their value as xs:double; decimals and integers among themselves by their exact value.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from xstreamcast.errors import error
from xstreamcast.functions.cast import cast, per_type
from xstreamcast.functions.compare.values import FAMILY, NUMBER, comparable, ordinals
from xstreamcast.functions.numbers.numeric import RANK
from xstreamcast.model.atomic import (
    BY_TAG,
    DECIMAL,
    DOUBLE,
    FLOAT,
    MIXED,
    PRIMITIVE,
    STRING,
    UNTYPED,
)
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    Array = npt.NDArray[Any]
    Ints = npt.NDArray[np.int64]

_NAN: Final = "NaN"
_WORD: Final = 8  # bytes


def hash_keys(items: Items, *, inexact: bool | None = None, timezone: int = 0) -> Array:
    """For every atomic item a value that Python hashes and compares as grouping needs it.

    `inexact`: a float or double takes part elsewhere (the other side of a join).
    """
    exact = not (_inexact(items) if inexact is None else inexact)
    if items.tag == MIXED:
        out = np.empty(len(items), object)
        for tag in items.kinds():
            at = np.flatnonzero(items.all_tags() == tag)
            out[at] = _tagged(items.take(at), exact, timezone)
        return out
    return _tagged(items, exact, timezone) if len(items) else np.empty(0, object)


def _inexact(items: Items) -> bool:
    return any(PRIMITIVE.get(tag) in (FLOAT, DOUBLE) for tag in items.kinds())


def _tagged(items: Items, exact: bool, timezone: int) -> Array:
    """(family, key): values of different families are never one group."""
    family = FAMILY[items.tag]
    if family == STRING:
        return items.values
    keys: list[Hashable]
    if family == NUMBER:
        values = items.values if exact else cast(items, DOUBLE).values
        keys = [value if value == value else _NAN for value in values.tolist()]
    else:
        keys = ordinals(items, timezone).tolist()
    out = np.empty(len(keys), object)
    for i, key in enumerate(keys):
        out[i] = (family, key)
    return out


def group_codes(items: Items, timezone: int = 0) -> Ints:
    """Small integers, equal where the items are one group, in the order of first appearance."""
    if items.nodes is not None and items.tag in (UNTYPED, STRING):
        words = _short_texts(items)
        if words is not None:
            return _codes_of(words)
    elif items.tag not in (MIXED, UNTYPED) and items.values.dtype != object:
        return _codes_of(items.values)
    seen: dict[Hashable, int] = {}
    keys = hash_keys(items, timezone=timezone).tolist()
    return np.fromiter((seen.setdefault(key, len(seen)) for key in keys), np.int64, len(keys))


def _codes_of(values: Array) -> Ints:
    _, first, codes = np.unique(values, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[codes]


def _short_texts(items: Items) -> Array | None:
    """The string values of nodes as one number each; None if some have more than eight bytes.

    XML has no character of code 0, so the bytes that fill up a number are no part of its text.
    """
    assert items.store is not None
    assert items.nodes is not None
    data, offsets = items.store.string_bytes(items.nodes)
    lengths = np.diff(offsets)
    if lengths.max(initial=0) > _WORD or not data.all():
        return None
    words = np.zeros((len(lengths), _WORD), np.uint8)
    words[np.arange(_WORD) < lengths[:, None]] = data
    return words.view(np.uint64).ravel()


def row_codes(column: Column, timezone: int = 0) -> Ints:
    """group_codes of rows with at most one item; an empty row has code -1."""
    out = np.full(column.n, -1, np.int64)
    out[column.lengths() > 0] = group_codes(column.items, timezone)
    return out


def order_ranks(column: Column, *, empty_greatest: bool = False, timezone: int = 0) -> Ints:
    """For rows with at most one item, integers that sort as `order by` sorts the rows.

    () and then NaN come before everything, or after it if `empty_greatest`; the ranks of
    `descending` are these with the sign changed. Untyped values sort as strings.
    """
    items, filled = sortable(column.items), column.lengths() > 0
    out = np.zeros(column.n, np.int64)
    if len(items) == 0:
        return out
    ranks = value_ranks(items, timezone)
    top = int(ranks.max())
    out[filled] = np.where(ranks < 0, top + 1 if empty_greatest else -1, ranks)
    out[~filled] = top + 2 if empty_greatest else -2
    return out


def sortable(items: Items) -> Items:
    """Items of one family as items of one type: untyped and URIs as strings, numbers promoted."""
    kinds = {PRIMITIVE.get(tag, tag) for tag in items.kinds()}
    if not kinds <= set(BY_TAG):
        raise error("XPTY0004", "sort keys must be atomic values")
    families = {FAMILY[tag] for tag in kinds}
    if len(families) > 1:
        names = " and ".join(sorted(f"xs:{BY_TAG[tag].name}" for tag in kinds))
        raise error("XPTY0004", f"values of the types {names} have no common order")
    for tag in kinds:
        comparable("lt", tag, tag)
    if len(kinds) < 2:
        return items if items.tag != MIXED else Items.of(kinds.pop(), items.values.tolist())
    family = families.pop()
    target = max(kinds, key=RANK.__getitem__) if family == NUMBER else STRING
    if family not in (NUMBER, STRING):
        raise error("XPTY0004", "the two kinds of durations have no common order")
    return per_type(items, lambda part: cast(part, target))


def value_ranks(items: Items, timezone: int) -> Ints:
    """The place of every value among the distinct ones; -1 for NaN."""
    if PRIMITIVE[items.tag] in (FLOAT, DOUBLE):
        codes = np.full(len(items), -1, np.int64)
        real = ~np.isnan(items.values)
        codes[real] = np.unique(items.values[real], return_inverse=True)[1]
        return codes
    values = ordinals(items, timezone)
    if values.dtype != object:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    keys = values.tolist()
    if PRIMITIVE[items.tag] == DECIMAL:
        return _ranks_by_order(keys)
    place = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.fromiter((place[key] for key in keys), np.int64, len(keys))


def _ranks_by_order(keys: list[Any]) -> Ints:
    """Ranks without hashes: that of a long decimal costs as much as sixteen comparisons."""
    order = sorted(range(len(keys)), key=keys.__getitem__)
    steps = [0, *(keys[a] != keys[b] for a, b in pairwise(order))]
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.cumsum(steps)
    return ranks


def shared_ranks(left: Items, right: Items) -> tuple[Ints, Ints] | None:
    """Ranks in one order over both sides, as general comparison sees the values; NaN is -1.

    None where pairs must be looked at one by one: several families, or untyped against dates.
    """
    a, b = _kinds(left), _kinds(right)
    if a <= {STRING} and b <= {STRING}:
        both = Items(STRING, np.concatenate([left.values, right.values]))
    elif a <= {NUMBER} and b <= {NUMBER}:
        both = sortable(Items.concat([left, right]))
    elif (a == {NUMBER} and right.tag == UNTYPED) or (b == {NUMBER} and left.tag == UNTYPED):
        both = Items.concat([cast(left, DOUBLE), cast(right, DOUBLE)])
    else:
        return None
    ranks = value_ranks(both, 0)
    return ranks[: len(left)], ranks[len(left) :]


def _kinds(items: Items) -> set[int]:
    return {FAMILY.get(tag, tag) for tag in items.kinds()}
