"""The row that is there while a stream has a root."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Delta, Row, RowDelta

if TYPE_CHECKING:
    from xstreamcast.operators.feeds.arrived import Tick


class RootRow:
    """a stream  →  one row without columns, or none."""

    def __init__(self, node: c.Root) -> None:
        self._node = node
        self._there = False

    def apply(self, tick: Tick) -> Delta:
        """The row, if it came or went."""
        before, self._there = self._there, tick.rooted(self._node.input, self._node.test)
        if before == self._there:
            return {}
        row = Row((0,), ())
        return {(0,): RowDelta(row if before else None, row if self._there else None)}
