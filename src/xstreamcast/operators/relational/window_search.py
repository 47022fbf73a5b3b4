"""Where windows begin and end, found again for a part of a sequence.

windows over the whole sequence  →  windows that end before the part, those found in it, and those
that begin behind it
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.free import facts
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.evaluate.windows import found_windows
from xstreamcast.model.delta import Key, Row

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.relational.window_items import WindowItems

_Found = tuple[Key, int, int, "Row | None"]  # name, first and last place, row
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


def _relative(test: p.Expression, window: p.Window) -> p.Expression:
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


_FIRST: Final = -(1 << 62)
_LAST: Final = (1 << 62) - 1  # labels before and behind all items, those that have gone among them


def _from(items: WindowItems, place: int) -> int:
    """The label from which on windows belong to a part that begins at a place."""
    return items.label(place) if place else _FIRST


def _until(items: WindowItems, place: int) -> int:
    """The label up to which windows belong to a part that ends at a place."""
    return items.label(place) if place + 1 < len(items) else _LAST


class WindowSearch:
    """Finds windows in a part of a sequence, and takes as much more of it as they need."""

    def __init__(self, node: c.Window) -> None:
        self._node, self._plan = node, node.window
        columns = node.source.columns
        self._item = columns.index(node.item)
        self._carried = {v: columns.index(v) for v in node.carried}

    def revised(
        self, outer: Key, items: WindowItems, rows: dict[Key, Row], first: int, last: int,
        turn: Round,
    ) -> tuple[dict[Key, Row], list[Key]]:  # fmt: skip
        """The windows found for items at these places; and the names of those they replace."""
        n = len(items)
        if n == 0:
            gone = [name for name, _, _ in items.beginning(_FIRST, _LAST)]
            for name in gone:
                items.drop(name)
            return {}, gone
        low, high = max(0, first - 1), min(n - 1, last + 1)
        if self._plan.kind == "landmark":
            return self._landmark(outer, items, rows, low, high, turn)
        known = items.touching(_from(items, low), _until(items, high))
        start = min([low, *(self._place(items, label) for _, label, _ in known)])
        if self._plan.kind == "tumbling":
            return self._tumbling(outer, items, rows, start, high, turn)
        reach = max([high, *(self._place(items, label) for _, _, label in known)])
        return self._each(outer, items, rows, start, high, reach, turn)

    def _place(self, items: WindowItems, label: int) -> int:
        """The place of the item with a label; of the next one if it has gone."""
        low, high = 0, len(items)
        while low < high:
            middle = (low + high) // 2
            if items.label(middle) < label:
                low = middle + 1
            else:
                high = middle
        return min(low, len(items) - 1)

    def _each(
        self, outer: Key, items: WindowItems, rows: dict[Key, Row], start: int, high: int,
        reach: int, turn: Round,
    ) -> tuple[dict[Key, Row], list[Key]]:  # fmt: skip
        """Windows that begin independently of each other."""
        n, end = len(items), min(len(items), reach + _AHEAD)
        while True:
            made = self._found(outer, items, rows, start, end, turn)
            mine = [one for one in made if one[1] <= high]
            if end == n or all(one[2] < end - 1 for one in mine):
                break
            end = min(n, start + 2 * (end - start))
        gone = [one for one, _, _ in items.beginning(_from(items, start), _until(items, high))]
        return self._taken(items, mine, gone)

    def _landmark(
        self, outer: Key, items: WindowItems, rows: dict[Key, Row], low: int, high: int, turn: Round
    ) -> tuple[dict[Key, Row], list[Key]]:
        """Each start waits for further ends for ever: windows that hold one of the places."""
        made = self._found(outer, items, rows, 0, len(items), turn, (low, high))
        gone = items.touching(_from(items, low), _until(items, high))
        return self._taken(items, made, [name for name, _, _ in gone])

    def _tumbling(
        self, outer: Key, items: WindowItems, rows: dict[Key, Row], start: int, high: int,
        turn: Round,
    ) -> tuple[dict[Key, Row], list[Key]]:  # fmt: skip
        """Windows that follow each other: until one begins where one began before."""
        n, end = len(items), min(len(items), high + 1 + _AHEAD)
        behind = items.beginning(_until(items, high) + 1, _LAST)
        while True:
            made = self._found(outer, items, rows, start, end, turn)
            ended = [one for one in made if one[2] < end - 1 or end == n]
            begun = {items.label(one[1]) for one in ended if one[1] > high}
            meet = next((one[1] for one in behind if one[1] in begun), None)
            if meet is not None or end == n:
                break
            end = min(n, start + 2 * (end - start))
        if meet is not None:
            made = [one for one in made if items.label(one[1]) < meet]
        last = _LAST if meet is None else meet - 1
        gone = [name for name, _, _ in items.beginning(_from(items, start), last)]
        return self._taken(items, made, gone)

    def _taken(
        self, items: WindowItems, made: list[_Found], gone: list[Key]
    ) -> tuple[dict[Key, Row], list[Key]]:
        for name in gone:
            items.drop(name)
        for name, a, z, _ in made:
            items.put(name, *items.order.keys(a, a + 1), *items.order.keys(z, z + 1))
        return {name: row for name, _, _, row in made if row is not None}, gone

    def _found(
        self, outer: Key, items: WindowItems, rows: dict[Key, Row], start: int, end: int,
        turn: Round, around: tuple[int, int] | None = None,
    ) -> list[_Found]:  # fmt: skip
        """The windows over a part of the sequence.

        Behind the part may come more, so that a window that reaches its end may not end there.
        Windows that have not ended are found, too: where only those that have are shown, the
        others have no row.
        """
        skip = 1 if start else 0
        keys = items.order.keys(start - skip, end)
        own = [rows[key] for key in keys]
        space = turn.workspace()
        cells = tuple(atom for row in own for atom in row.cells[self._item])
        given = {v.number: [own[0].cells[at]] for v, at in self._carried.items()}
        frame = space.frame({self._node.item.number: [cells], **given}, 1, {})
        plan, shown = self._plan, None
        if plan.only_end and plan.kind != "landmark":
            if end == len(items):
                _, begun, _ = found_windows(plan, frame, before=start - skip, skip=skip)
                shown = frozenset(begun.tolist())
            plan = replace(plan, only_end=False)
        found, first, last = found_windows(
            plan, frame, before=start - skip, skip=skip, around=around
        )
        columns = [
            [own[0].cells[self._carried[v]]] * found.n
            if v in self._carried
            else space.cells(found.variable(v.number))
            for v in self._node.columns
        ]
        values = list(zip(*columns, strict=True)) if columns else [()] * found.n
        base = start - skip
        return [
            (
                self._named(outer, keys, a, z), a + base, z + base,
                self._row(own, a, z, one) if shown is None or a in shown else None,
            )
            for a, z, one in zip(first.tolist(), last.tolist(), values, strict=True)
        ]  # fmt: skip

    def _named(self, outer: Key, keys: list[Key], a: int, z: int) -> Key:
        name = (keys[a], keys[z]) if self._plan.kind == "landmark" else keys[a]
        return (*outer, name)

    def _row(self, own: list[Row], a: int, z: int, values: tuple[Any, ...]) -> Row:
        width = self._node.outer
        ends = own[a].rank[width:], own[z].rank[width:]
        inner = ends if self._plan.order == "first" else ends[::-1]
        return Row((*own[a].rank[:width], inner), values)
