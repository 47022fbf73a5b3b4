"""Windows over the items of each outer row: a change touches the windows that hold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Delta, Key, Row
from xstreamcast.operators.relational.positions import by_outer, take_rows
from xstreamcast.operators.relational.window_items import WindowItems
from xstreamcast.operators.relational.window_search import WindowSearch, moves_with_positions

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round


class WindowOperator:
    """items  →  a row for each window; one is known by its first item, and by its last where
    several begin there.
    """

    def __init__(self, node: c.Window) -> None:
        self._node = node
        self._search = WindowSearch(node)
        self._absolute = moves_with_positions(node)
        self._rows: dict[Key, Row] = {}
        self._items: dict[Key, WindowItems] = {}
        self._made: dict[Key, Row] = {}

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The windows that came, went, or hold something else."""
        (delta,) = deltas
        take_rows(self._rows, delta)
        out: Delta = {}
        for outer, own in by_outer(delta, self._node.outer).items():
            items = self._items.setdefault(outer, WindowItems())
            before = len(items)
            first, last = items.update(own)
            if self._absolute and len(items) != before:
                last = len(items) - 1
            self._revise(outer, items, first, last, out, turn)
            if len(items) == 0:
                del self._items[outer]
        return out

    def _revise(
        self, outer: Key, items: WindowItems, first: int, last: int, out: Delta, turn: Round
    ) -> None:
        """Find the windows again that may hold one of the items at these places."""
        found, gone = self._search.revised(outer, items, self._rows, first, last, turn)
        before = {name: self._made.pop(name) for name in gone if name in self._made}
        for name, row in found.items():
            self._made[name] = row
        for name in dict.fromkeys([*before, *found]):
            turn.put(out, name, before.get(name), found.get(name))
