"""Where windows begin and end, found again for a part of a sequence.

windows over the whole sequence  →  windows that end before the part, those found in it, and those
that begin behind it
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.evaluate.flwor.windows import found_windows
from xstreamcast.operators.relational.windows.rows import FoundWindow

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.model.delta import Key, Row
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.relational.windows.marks import MarkedItems
    from xstreamcast.operators.relational.windows.walk import Revised

_AHEAD: Final = 16  # items that are looked at beyond those that windows are known to reach


def moves_with_positions(node: c.Window) -> bool:
    """Whether windows behind an item that comes or goes are others, because positions are."""
    window = node.window
    positions = {
        b.position for b in (window.start, window.end) if b is not None and b.position is not None
    }
    if positions & set(node.columns):
        return True
    tests = [b.test for b in (window.start, window.end) if b is not None and b.test is not None]
    return any(facts(_relative(test, window)).used & positions for test in tests)


def _relative(test: p.Expression, window: p.ForWindow) -> p.Expression:
    """A condition without differences of positions, which stay when both move."""
    start = None if window.start is None else window.start.position
    end = None if window.end is None else window.end.position

    def put(node: Any) -> Any:
        match node:
            case p.Arithmetic("-", p.Var(a), p.Var(b)) if (a, b) == (end, start):
                return p.EMPTY
            case p.ValueCompare(_, p.Var(a), p.Arithmetic("+", p.Var(b), p.Const())) if (a, b) == (
                end,
                start,
            ):
                return p.EMPTY
            case _:
                return node

    made: p.Expression = bottom_up(test, put)
    return made


class WindowSearch:
    """Finds windows whose ends depend on their starts, and takes as much more as they need."""

    def __init__(self, node: c.Window, rows: dict[Key, Row]) -> None:
        self._node, self._plan, self._rows = node, node.window, rows
        columns = node.source.columns
        self._item = columns.index(node.item)
        self._carried = {v: columns.index(v) for v in node.carried}

    def revised(self, part: MarkedItems, turn: Round) -> Revised:
        """The windows found for items at these places; and the names of those they replace."""
        items = part.items
        known = items.touching(items.from_label(part.low), items.until_label(part.high))
        start = min([part.low, *(items.place(label) for _, label, _ in known)])
        if self._plan.kind == "tumbling":
            return self._tumbling(part, start, turn)
        reach = max([part.high, *(items.place(label) for _, _, label in known)])
        return self._each(part, start, reach, turn)

    def _each(self, part: MarkedItems, start: int, reach: int, turn: Round) -> Revised:
        """Windows that begin independently of each other."""
        items, high = part.items, part.high
        n, end = len(items), min(len(items), reach + _AHEAD)
        while True:
            made = self._found(part, start, end, turn)
            mine = [one for one in made if one.first <= high]
            if end == n or all(one.last < end - 1 for one in mine):
                break
            end = min(n, start + 2 * (end - start))
        gone = items.beginning(items.from_label(start), items.until_label(high) + 1)
        return mine, [one for one, _, _ in gone]

    def _tumbling(self, part: MarkedItems, start: int, turn: Round) -> Revised:
        """Windows that follow each other: until one begins where one began before."""
        items, high = part.items, part.high
        n, end = len(items), min(len(items), high + 1 + _AHEAD)
        while True:
            made = self._found(part, start, end, turn)
            ended = [one for one in made if one.last < end - 1 or end == n]
            begun = [one for one in ended if one.first > high and items.has(one.name)]
            meet = min((items.first_label(one.name) for one in begun), default=None)
            if meet is not None or end == n:
                break
            end = min(n, start + 2 * (end - start))
        if meet is not None:
            made = [one for one in made if items.label(one.first) < meet]
        gone = items.beginning(items.from_label(start), meet)
        return made, [name for name, _, _ in gone]

    def _found(self, part: MarkedItems, start: int, end: int, turn: Round) -> list[FoundWindow]:
        """The windows over a part of the sequence.

        Behind the part may come more, so that a window that reaches its end may not end there.
        Windows that have not ended are found, too: where only those that have are shown, the
        others have no row.
        """
        skip = 1 if start else 0
        keys = part.items.order.keys(start - skip, end)
        own = [self._rows[key] for key in keys]
        cells = tuple(atom for row in own for atom in row.cells[self._item])
        given = {v.number: [own[0].cells[at]] for v, at in self._carried.items()}
        frame = turn.workspace().frame({self._node.item.number: [cells], **given}, 1, {})
        plan, shown, base = self._plan, None, start - skip
        if plan.only_end:
            if end == len(part.items):
                _, begun, _ = found_windows(plan, frame, before=base, skip=skip)
                shown = frozenset(begun.tolist())
            plan = replace(plan, only_end=False)
        _, first, last = found_windows(plan, frame, before=base, skip=skip)
        return [
            FoundWindow((*part.outer, keys[a]), a + base, z + base, shown is None or a in shown)
            for a, z in zip(first.tolist(), last.tolist(), strict=True)
        ]
