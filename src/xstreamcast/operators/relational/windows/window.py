"""Windows over the items of each outer row: a change touches the windows that hold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.free import facts
from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Delta, Key, Row
from xstreamcast.operators.relational.orders.positions import by_outer, take_rows
from xstreamcast.operators.relational.windows.items import FIRST, WindowItems
from xstreamcast.operators.relational.windows.marks import MarkedItems, MarkFinder
from xstreamcast.operators.relational.windows.pairs import WindowPairs
from xstreamcast.operators.relational.windows.rows import WindowRows
from xstreamcast.operators.relational.windows.search import WindowSearch, moves_with_positions
from xstreamcast.operators.relational.windows.walk import Revised, WindowWalk

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round


class WindowOperator:
    """items  →  a row for each window; one is known by its first item, and by its last where
    several begin there.

    Where items alone decide that windows begin and end there, they are marked as they come, and
    windows follow from the marks. Otherwise ends are searched again in a part of the sequence.
    """

    def __init__(self, node: c.Window) -> None:
        self._node = node
        self._absolute = moves_with_positions(node)
        self._rows: dict[Key, Row] = {}
        self._items: dict[Key, WindowItems] = {}
        self._made: dict[Key, Row] = {}
        self.set_up()

    def set_up(self) -> None:
        """Make what follows from the rows of the items."""
        node, alone = self._node, _ends_alone(self._node)
        self._of = WindowRows(node, self._rows)
        self._finder = MarkFinder(node, self._rows, alone)
        self._walk = WindowWalk(node, self._finder)
        self._pairs = WindowPairs(node, self._rows, self._finder, alone)
        self._search = WindowSearch(node, self._rows)
        self._landmark = node.window.kind == "landmark"
        self._marked = alone or self._landmark

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The windows that came, went, or hold something else."""
        (delta,) = deltas
        take_rows(self._rows, delta)
        out: Delta = {}
        parts: list[tuple[MarkedItems, bool]] = []
        for outer, own in by_outer(delta, self._node.outer).items():
            items = self._items.setdefault(outer, WindowItems())
            before = len(items)
            first, last = items.update(own)
            self._of.take(outer, items, own)
            if len(items) == 0:
                self._end(outer, items, out, turn)
                continue
            if self._absolute and len(items) != before:
                last = len(items) - 1
            low, high = self._finder.places(items, first, last)
            gone = tuple(key for key, (_, new) in own.items() if new is None)
            parts.append((MarkedItems(outer, items, low, high, gone), len(items) != before))
        if self._marked:
            self._finder.update([part for part, _ in parts], turn)
        for part, grown in parts:
            self._replace(part.outer, part.items, self._revised(part, grown, turn), out, turn)
        return out

    def _revised(self, part: MarkedItems, grown: bool, turn: Round) -> Revised:
        if self._landmark:
            return self._pairs.revised(part, self._of, grown, turn)
        return (self._walk if self._marked else self._search).revised(part, turn)

    def _end(self, outer: Key, items: WindowItems, out: Delta, turn: Round) -> None:
        """The last item of an outer row has gone, and all of its windows."""
        names = [name for name, _, _ in items.beginning(FIRST, None)]
        self._replace(outer, items, ([], names), out, turn)
        self._finder.forget(outer)
        self._pairs.forget(outer)
        del self._items[outer]

    def _replace(
        self, outer: Key, items: WindowItems, revised: Revised, out: Delta, turn: Round
    ) -> None:
        found, gone = revised
        before = {name: self._made.pop(name) for name in gone if name in self._made}
        for name in gone:
            items.drop(name)
        made = {}
        for one in found:
            items.put(one.name, items.key(one.first), items.key(one.last))
            if one.shown:
                made[one.name] = self._of.row(one, outer, items, turn)
        self._made.update(made)
        for name in dict.fromkeys([*before, *made]):
            turn.put(out, name, before.get(name), made.get(name))


def _ends_alone(node: c.Window) -> bool:
    """Whether items alone decide that windows end there."""
    window = node.window
    if window.end is None or window.end.test is None or window.start is None:
        return True
    return not facts(window.end.test).free & set(window.start.variables())
