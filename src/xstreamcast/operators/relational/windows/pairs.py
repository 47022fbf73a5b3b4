"""Landmark windows: pairs of an item that starts and one that ends, at it or behind it.

Where the end condition compares a value of the start with one of the end, ends are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.free import facts
from xstreamcast.evaluate.walk import truth
from xstreamcast.model.delta import Cell, Key, Row, RowDelta
from xstreamcast.operators.relational.joins.index import JoinSide, Mode, mode_of
from xstreamcast.operators.relational.joins.values import JoinValues, key_values
from xstreamcast.operators.relational.windows.marks import boundary_columns
from xstreamcast.operators.relational.windows.rows import FoundWindow

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.circuit import nodes as c
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.relational.windows.marks import MarkedItems, MarkFinder
    from xstreamcast.operators.relational.windows.rows import WindowRows
    from xstreamcast.operators.relational.windows.walk import Revised

Pair = tuple[int, int]  # places of the first and the last item


class _Sides:
    """The values that starts and ends of one sequence are compared by."""

    def __init__(self) -> None:
        self.starts, self.ends = JoinSide("eq"), JoinSide("eq")
        self.mode: Mode = "none"


class WindowPairs:
    """Landmark windows from the marks of items, or by asking pairs that may be windows."""

    def __init__(
        self, node: c.Window, rows: dict[Key, Row], finder: MarkFinder, alone: bool
    ) -> None:
        self._node, self._rows, self._finder, self._alone = node, rows, finder, alone
        self._item = node.source.columns.index(node.item)
        self._sides: dict[Key, _Sides] = {}

    def forget(self, outer: Key) -> None:
        """An outer row has no items any more."""
        self._sides.pop(outer, None)

    def revised(self, part: MarkedItems, made: WindowRows, grown: bool, turn: Round) -> Revised:
        """The windows that begin, end or hold something between these places, and those before.

        `grown`: there are more or fewer items than before.
        """
        outer, items, low, high, _ = part
        if not self._alone and self._node.window.index is not None:
            self._take(part, turn)
        first, last = items.from_label(low), items.until_label(high)
        known = items.touching(first, last)
        inside = [name for name, a, z in known if a >= first or z <= last]
        found = [
            FoundWindow((*outer, (items.key(a), items.key(z))), a, z)
            for a, z in sorted(self._pairs(part, turn))
        ]
        if not (made.reads_items or (made.reads_positions and grown)):
            return found, inside
        names = set(inside)
        around = [one for one in known if one[0] not in names]
        found += [FoundWindow(name, items.place(a), items.place(z)) for name, a, z in around]
        return found, [name for name, _, _ in known]

    # -- pairs ------------------------------------------------------------------------------------

    def _pairs(self, part: MarkedItems, turn: Round) -> set[Pair]:
        """The windows that begin or end in the part."""
        _, items, low, high, _ = part
        window, marks = self._node.window, self._finder.of(part.outer)
        order, size = items.order, len(items)
        until = order.at(high + 1)[0] if high + 1 < size else None
        begins = [order.position(rank) for rank, _ in marks.starts.between(order.at(low)[0], until)]
        pairs = {(a, z) for a in begins for z in self._ends(part, a, a, size)}
        for z in self._ending(part, low, high):
            pairs |= {(a, z) for a in self._starts(part, z, low)}
        if not self._alone:
            pairs = self._holding(part, sorted(pairs), turn)
        else:
            self._check(part, {z for _, z in pairs}, turn)
        if not window.only_end:  # the last item ends every window, too
            pairs |= {(a, size - 1) for a in begins}
            if high == size - 1:
                starts = marks.starts.between(None, order.at(low)[0])
                pairs |= {(order.position(rank), size - 1) for rank, _ in starts}
        return pairs

    def _check(self, part: MarkedItems, ends: set[int], turn: Round) -> None:
        failing = self._finder.of(part.outer).failing
        for place in sorted(ends) if failing else ():
            if part.items.key(place) in failing:
                self._finder.fail(part, place, turn)

    def _ending(self, part: MarkedItems, low: int, high: int) -> Iterable[int]:
        """The items of the part at which windows may end."""
        if not self._alone:
            return range(low, high + 1)
        order, ends = part.items.order, self._finder.of(part.outer).ends
        until = order.at(high + 1)[0] if high + 1 < len(part.items) else None
        return [order.position(rank) for rank, _ in ends.between(order.at(low)[0], until)]

    def _ends(self, part: MarkedItems, start: int, low: int, size: int) -> Iterable[int]:
        """Where a window that begins at an item may end."""
        order = part.items.order
        if self._alone:
            ends = self._finder.of(part.outer).ends.between(order.at(low)[0], None)
            return [order.position(rank) for rank, _ in ends]
        sides = self._sides.get(part.outer)
        if sides is None or sides.mode == "all":
            return range(low, size)
        values = sides.starts.values.get(part.items.key(start))
        found = sides.ends.matching(values, "eq", sides.mode)
        places = (order.position(self._rows[key].rank) for key in found)
        return [place for place in places if place >= low]

    def _starts(self, part: MarkedItems, end: int, until: int) -> Iterable[int]:
        """Where a window that ends at an item may begin, before a place."""
        order, marks = part.items.order, self._finder.of(part.outer)
        sides = None if self._alone else self._sides.get(part.outer)
        if sides is None or sides.mode == "all":
            starts = marks.starts.between(None, order.at(until)[0])
            return [order.position(rank) for rank, _ in starts]
        values = sides.ends.values.get(part.items.key(end))
        found = sides.starts.matching(values, "eq", sides.mode)
        places = (order.position(self._rows[key].rank) for key in found)
        return [place for place in places if place < until and marks.begins(part.items.key(place))]

    # -- values -----------------------------------------------------------------------------------

    def _take(self, part: MarkedItems, turn: Round) -> None:
        """Bring the values of an outer row up to date."""
        outer, items, low, high, gone = part
        key, window = self._node.window.index, self._node.window
        assert key is not None
        assert window.start is not None
        assert window.end is not None
        sides = self._sides.get(outer)
        if sides is None:
            sides, low, high = _Sides(), 0, len(items) - 1
            self._sides[outer] = sides
        keys = items.order.keys(low, high + 1)
        delta = {one: RowDelta(None, self._rows[one]) for one in keys}
        delta |= {one: RowDelta(None, None) for one in gone}
        starts = self._values(part, window.start, key.left, low, keys, turn)
        ends = self._values(part, window.end, key.right, low, keys, turn)
        kinds = sides.starts.kinds_after(delta, starts), sides.ends.kinds_after(delta, ends)
        mode = mode_of(*kinds)
        sides.starts.update(delta, starts, mode)
        sides.ends.update(delta, ends, mode)
        if mode != sides.mode:
            sides.mode = mode
            sides.starts.rebuild(mode)
            sides.ends.rebuild(mode)

    def _values(
        self, part: MarkedItems, boundary: p.Boundary, plan: p.Expression, low: int,
        keys: list[Key], turn: Round,
    ) -> dict[Key, JoinValues]:  # fmt: skip
        sights = [(part, low + at) for at in range(len(keys))]
        used = facts(plan).free
        given = boundary_columns(boundary, used, sights, self._cell)
        variables = [v for v in boundary.variables() if v.number in given]
        carried = [v for v in self._node.carried if v in used]
        at = [self._node.source.columns.index(v) for v in carried]
        rows = [
            (key, Row((), (*(given[v.number][n] for v in variables),
                           *(self._rows[key].cells[one] for one in at))))
            for n, key in enumerate(keys)
        ]  # fmt: skip
        found = key_values(plan, [*variables, *carried], rows, turn)
        return dict(zip(keys, found, strict=True))

    def _holding(self, part: MarkedItems, pairs: list[Pair], turn: Round) -> set[Pair]:
        """The pairs for which the end condition holds."""
        window = self._node.window
        assert window.start is not None
        assert window.end is not None
        assert window.end.test is not None
        if not pairs:
            return set()
        used = facts(window.end.test).free
        starts = [(part, a) for a, _ in pairs]
        columns = boundary_columns(window.start, used, starts, self._cell)
        ends = [(part, z) for _, z in pairs]
        columns |= boundary_columns(window.end, used, ends, self._cell)
        for at, variable in enumerate(self._node.source.columns):
            if variable in self._node.carried and variable in used:
                cell = self._rows[part.items.key(0)].cells[at]
                columns[variable.number] = [cell] * len(pairs)
        frame = turn.workspace().frame(columns, len(pairs), {})
        holds = truth(window.end.test, frame).tolist()
        return {pair for pair, held in zip(pairs, holds, strict=True) if held}

    def _cell(self, part: MarkedItems, place: int) -> Cell:
        if not 0 <= place < len(part.items):
            return ()
        return self._rows[part.items.key(place)].cells[self._item]
