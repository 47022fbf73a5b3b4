"""What was kept for some nodes: plans call these where they need not look below a node again.

Nobody calls them by name: their arguments come from whoever keeps the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.functions.registry import Function
from xstreamcast.functions.signature import XSC, parse_signature
from xstreamcast.model.atomic import BOOLEAN
from xstreamcast.model.column import Column, ranges
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from xstreamcast.functions.call import Call

    Ints = npt.NDArray[np.int64]


def _found(node: Column, roots: Column) -> tuple[Ints, Ints]:
    """The rows whose one node is among its roots, and where among the roots of all rows."""
    place = np.full(node.n, -1, np.int64)
    single = node.lengths() == 1
    first = np.zeros(node.n, np.int64)
    first[single] = node.items.values[node.bounds()[:-1][single]]
    rows = roots.rows()
    hits = np.flatnonzero(single[rows] & (roots.items.values == first[rows]))
    place[rows[hits]] = hits
    there = np.flatnonzero(place >= 0)
    return there, place[there]


def _is_kept(call: Call, node: Column, roots: Column) -> Column:
    truth = np.zeros(node.n, np.bool_)
    truth[_found(node, roots)[0]] = True
    return Column(Items(BOOLEAN, truth))


def _kept(call: Call, node: Column, roots: Column, counts: Column, values: Column) -> Column:
    there, at = _found(node, roots)
    lengths = np.asarray(counts.items.values, np.int64)
    ends = np.cumsum(lengths)
    # values of each row begin where those of the rows before end
    taken = np.zeros(node.n, np.int64)
    taken[there] = lengths[at]
    items = values.items.take(ranges((ends - lengths)[at], lengths[at]))
    return Column.from_lengths(items, taken)


def _row(signature: str, body: Callable[..., Column]) -> Function:
    head = parse_signature(signature)
    return Function(
        head.uri, head.local, head.parameters, False, head.result, body, "", (), False, True,
        signature,
    )  # fmt: skip


IS_KEPT: Final = _row("xsc:is-kept($node as item()*, $roots as item()*) as xs:boolean", _is_kept)
KEPT: Final = _row(
    "xsc:kept($node as item()*, $roots as item()*, $counts as item()*, $values as item()*) "
    "as item()*",
    _kept,
)
assert IS_KEPT.uri == XSC
