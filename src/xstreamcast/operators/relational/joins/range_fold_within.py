"""Rows that compare by order with rows of their own group: an index for each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Delta, Key
from xstreamcast.operators.relational.joins.range_fold import RangeFoldOperator

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round


class RangeFoldWithin:
    """outer, inner  →  each outer row with the fold over the inner rows of its group.

    Groups have an operator each. What rows compare by is evaluated for all groups at once.
    """

    def __init__(self, node: c.RangeFold) -> None:
        self._node = node
        self._values = RangeFoldOperator(node)  # keeps no row: it evaluates those of all groups
        self._parts: dict[Key, RangeFoldOperator] = {}

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The outer rows that changed, or whose folds did."""
        outer, inner = deltas
        cells = self._values.cells_of(turn, outer, inner)
        sides = self._by_group(outer), self._by_group(inner)
        out: Delta = {}
        for group in dict.fromkeys([*sides[0], *sides[1]]):
            part = self.part(group)
            mine, theirs = (side.get(group, {}) for side in sides)
            out |= part.apply_known(turn, mine, theirs, cells)
            if part.is_empty:
                del self._parts[group]
        return out

    def _by_group(self, delta: Delta) -> dict[Key, Delta]:
        found: dict[Key, Delta] = {}
        for key, change in delta.items():
            found.setdefault(key[: self._node.within], {})[key] = change
        return found

    def part(self, group: Key) -> RangeFoldOperator:
        """The operator of a group, which may be new."""
        found = self._parts.get(group)
        if found is None:
            found = self._parts[group] = RangeFoldOperator(self._node)
        return found

    def part_of(self, key: Key) -> RangeFoldOperator:
        """The operator of the group that a row belongs to."""
        return self.part(key[: self._node.within])

    @property
    def parts(self) -> Iterator[tuple[Key, RangeFoldOperator]]:
        """All groups with their operators."""
        yield from self._parts.items()
