"""Stored values of some nodes: plans call this instead of reading below a node again.

Queries cannot call it: its arguments come from the operator that stores the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.functions.registry import Function
from xstreamcast.functions.signature import parse_signature
from xstreamcast.model.column import Column, ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from xstreamcast.functions.call import CallContext

    Ints = npt.NDArray[np.int64]


def _found(node: Column, roots: Column) -> Ints:
    """For each row, where its one node is among the roots of all rows."""
    if node.n == len(roots.items) and bool((node.items.values == roots.items.values).all()):
        return np.arange(node.n, dtype=np.int64)
    rows = roots.rows()
    hits = np.flatnonzero(roots.items.values == node.items.values[rows])
    place = np.full(node.n, -1, np.int64)
    place[rows[hits]] = hits
    assert (place >= 0).all(), "nothing was kept for a node"
    return place


def _kept(call: CallContext, node: Column, roots: Column, counts: Column, values: Column) -> Column:
    at, lengths = _found(node, roots), np.asarray(counts.items.values, np.int64)
    starts = np.cumsum(lengths) - lengths
    return Column.from_lengths(values.items.take(ranges(starts[at], lengths[at])), lengths[at])


def _row(signature: str, body: Callable[..., Column]) -> Function:
    head = parse_signature(signature)
    return Function(
        head.uri, head.local, head.parameters, False, head.result, body, "", (), False, True,
        signature,
    )  # fmt: skip


KEPT: Final = _row(
    "xsc:kept($node as item(), $roots as item()*, $counts as item()*, $values as item()*) "
    "as item()*",
    _kept,
)
