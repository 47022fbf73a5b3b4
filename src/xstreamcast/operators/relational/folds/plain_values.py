"""The values of many rows for the folds of their groups, without a row for each."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.circuit.passes.growing import COUNTS
from xstreamcast.functions.cast import cast, castable
from xstreamcast.model.atomic import DOUBLE, INTEGER, STRING, UNTYPED
from xstreamcast.operators.relational.folds.running import PlainValues

if TYPE_CHECKING:
    import numpy.typing as npt

    from xstreamcast.model.column import Column
    from xstreamcast.model.items import Items

    Ints = npt.NDArray[np.int64]


def plain_values(
    name: str, column: Column, members: Ints, bounds: Ints
) -> list[PlainValues] | None:
    """For each group what its fold takes; None where some value needs the function itself.

    members[bounds[i]:bounds[i + 1]] are the rows of group i.
    """
    taken = column.take(members)
    ends = taken.bounds()[bounds].tolist()
    counts = [end - begin for begin, end in itertools.pairwise(ends)]
    if name in COUNTS:
        return [PlainValues(INTEGER, count, ()) for count in counts]
    found = _plain(taken.items, name in ("min", "max"))
    if found is None:
        return None
    tag, values = found
    return [
        PlainValues(tag, count, values[begin : begin + count])
        for begin, count in zip(ends, counts, strict=False)
    ]


def _plain(items: Items, sorts: bool) -> tuple[int, list[Any]] | None:
    """The type of the values, and each as a fold adds or compares it."""
    if len(items) == 0:
        return INTEGER, []
    match items.tag:
        case tag if tag == INTEGER and items.values.dtype != object:
            return tag, items.values.tolist()
        case tag if tag == STRING and sorts:
            return tag, items.values.tolist()
        case tag if tag in (UNTYPED, DOUBLE) and bool(castable(items, DOUBLE).all()):
            numbers = cast(items, DOUBLE).values
            strange = np.isnan(numbers) | ((numbers == 0) & np.signbit(numbers))
            return None if sorts and bool(strange.any()) else (tag, numbers.tolist())
        case _:
            return None
