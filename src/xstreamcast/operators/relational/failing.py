"""Which error counts where several operators, rows and partitions fail: that of the first row.

rows of all partitions  →  the error that one place meets first
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from xstreamcast.errors import Error

if TYPE_CHECKING:
    from xstreamcast.model.delta import Key, Rank, Row

Rows = Sequence[tuple["Key", "Row"]]


Order = tuple[int, "Rank"]  # the number of an operator in its circuit, and a row


class Failing(NamedTuple):
    """Rows of which one fails at least, and how they are evaluated."""

    rows: Rows
    evaluate: Callable[[Rows], object]

    def first(self) -> tuple[Rank, Error] | None:
        """The first row in order that fails, and its error; None if none fails by itself."""
        ordered = sorted(self.rows, key=lambda one: one[1].rank)
        low, high = 0, len(ordered)  # as many rows do not fail together; as many do
        while high - low > 1:
            middle = (low + high) // 2
            if _error(self.evaluate, ordered[:middle]) is None:
                low = middle
            else:
                high = middle
        found = _error(self.evaluate, ordered[low:high]) if ordered else None
        return None if found is None else (ordered[low][1].rank, found)


def _error(evaluate: Callable[[Rows], object], rows: Rows) -> Error | None:
    try:
        evaluate(rows)
    except Error as why:
        return why
    return None
