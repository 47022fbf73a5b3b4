"""Rows of one tick joined with rows that only come, of which nothing but values is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.operators.relational.joins.appended_side import AppendedSide
from xstreamcast.operators.relational.joins.lookup import left_values, looked_up, mode_with
from xstreamcast.operators.relational.joins.values import key_values

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.model.delta import Delta
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.relational.tick_rows import TickRows


class ValueLookup:
    """rows of this tick, rows that came  →  pairs of the first and of all that ever came."""

    def __init__(self, node: c.Join) -> None:
        self._node = node
        self.right = AppendedSide(len(node.right.columns))

    def look_up(self, turn: Round, left: TickRows, right: Delta) -> TickRows:
        """The pairs of rows that live for this tick with those that are kept on the right."""
        node, side, space = self._node, self.right, turn.common_workspace()
        assert node.key is not None, "circuit.inputs.grown lets no product through"
        mine = left_values(node, left, space)
        rows = [(key, new) for key, (_, new) in right.items() if new is not None]
        values = key_values(node.key.right, node.right.columns, rows, turn) if rows else []
        theirs = dict(zip((key for key, _ in rows), values, strict=True))
        mode = mode_with(mine, side.kinds_after(right, theirs), side.mode)
        side.update(right, theirs, mode)
        if mode != side.mode:
            side.rebuild(mode)
        return looked_up(node, left, mine, side, mode, node.key.op, space)

    def drop(self, left: bool, right: bool) -> None:
        """Rows of the left side live for one tick; those of the right one stay."""
        assert left
        assert not right
