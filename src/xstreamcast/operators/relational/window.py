"""Windows over the items of each outer row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.evaluate.windows import found_windows
from xstreamcast.model.delta import Delta, Key, Row
from xstreamcast.operators.relational.ordered import Ordered
from xstreamcast.operators.relational.positions import by_outer, reorder

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round


class WindowOperator:
    """items  →  a row for each window; one is known by its first item, and by its last where several begin there."""

    def __init__(self, node: c.Window) -> None:
        self._node = node
        columns = node.source.columns
        self._item = columns.index(node.item)
        self._carried = {v: columns.index(v) for v in node.carried}
        self._orders: dict[Key, Ordered] = {}
        self._rows: dict[Key, Row] = {}
        self._made: dict[Key, dict[Key, Row]] = {}

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The windows that came, went, or hold something else."""
        (delta,) = deltas
        for key, (_, new) in delta.items():
            if new is None:
                self._rows.pop(key, None)
            else:
                self._rows[key] = new
        out: Delta = {}
        for outer, own in by_outer(delta, self._node.outer).items():
            order = self._orders.setdefault(outer, Ordered())
            reorder(order, own)
            before = self._made.pop(outer, {})
            now = self._windows(outer, order, turn) if len(order) else {}
            self._made[outer] = now
            if len(order) == 0:
                del self._orders[outer], self._made[outer]
            for key in dict.fromkeys([*before, *now]):
                turn.put(out, key, before.get(key), now.get(key))
        return out

    def _windows(self, outer: Key, order: Ordered, turn: Round) -> dict[Key, Row]:
        node = self._node
        keys = order.keys()
        rows = [self._rows[key] for key in keys]
        space = turn.workspace()
        items = tuple(atom for row in rows for atom in row.cells[self._item])
        given = {v.number: [rows[0].cells[at]] for v, at in self._carried.items()}
        frame = space.frame({node.item.number: [items], **given}, 1, {})
        found, first, last = found_windows(node.window, frame)
        cells = [
            [rows[0].cells[self._carried[v]]] * found.n
            if v in self._carried
            else space.cells(found.variable(v.number))
            for v in node.columns
        ]
        values = list(zip(*cells, strict=True)) if cells else [()] * found.n
        made: dict[Key, Row] = {}
        for a, z, own in zip(first.tolist(), last.tolist(), values, strict=True):
            width = node.outer
            ends = rows[a].rank[width:], rows[z].rank[width:]
            inner = ends if node.window.order == "first" else ends[::-1]
            name = (keys[a], keys[z]) if node.window.kind == "landmark" else keys[a]
            made[(*outer, name)] = Row((*rows[a].rank[:width], inner), own)
        return made
