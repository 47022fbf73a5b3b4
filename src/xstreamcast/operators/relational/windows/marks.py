"""Whether windows begin and end at each item of a sequence, as far as items alone decide it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from xstreamcast.algebra.analysis.free import facts
from xstreamcast.errors import Error
from xstreamcast.evaluate.walk import truth
from xstreamcast.model.atomic import INTEGER
from xstreamcast.operators.relational.orders.ordered import Ordered

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.circuit import nodes as c
    from xstreamcast.model.delta import Cell, Key, Rank, Row
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.relational.windows.items import WindowItems


class MarkedItems(NamedTuple):
    """The items of an outer row, the places at which marks may be others, and items that went."""

    outer: Key
    items: WindowItems
    low: int
    high: int
    gone: tuple[Key, ...] = ()


class Marks:
    """The items at which windows may begin, and those at which they end."""

    def __init__(self) -> None:
        self.starts, self.ends = Ordered(), Ordered()
        self.failing: set[Key] = set()  # items whose end condition fails
        self._known: dict[Key, tuple[Rank, bool, bool]] = {}

    def begins(self, key: Key) -> bool:
        """Whether windows may begin at an item."""
        return self._known[key][1]

    def replace(self, gone: Sequence[Key], come: Sequence[tuple[Rank, Key, bool, bool]]) -> None:
        """Marks of some items; those of others stay."""
        before = [
            (key, *self._known.pop(key))
            for key in dict.fromkeys([*gone, *(one[1] for one in come)])
            if key in self._known
        ]
        self._known.update((key, (rank, start, end)) for rank, key, start, end in come)
        self.starts.replace(
            [(rank, key) for key, rank, start, _ in before if start],
            [(rank, key) for rank, key, start, _ in come if start],
        )
        self.ends.replace(
            [(rank, key) for key, rank, _, end in before if end],
            [(rank, key) for rank, key, _, end in come if end],
        )


class MarkFinder:
    """Evaluates the conditions of a window clause for many items at once."""

    def __init__(self, node: c.Window, rows: dict[Key, Row], alone: bool) -> None:
        self._node, self._rows, self._alone = node, rows, alone
        self._item = node.source.columns.index(node.item)
        self._marks: dict[Key, Marks] = {}
        end = node.window.end
        self._follows = end is None or end.test is None  # a window ends where another may begin
        self._reach = 2 if self._follows else 1  # how far from an item its neighbours see it

    def places(self, items: WindowItems, first: int, last: int) -> tuple[int, int]:
        """Where marks may be others, if items at these places came, went or changed."""
        return max(0, first - self._reach), min(len(items) - 1, last + 1)

    def of(self, outer: Key) -> Marks:
        """The marks of an outer row."""
        return self._marks[outer]

    def update(self, parts: Sequence[MarkedItems], turn: Round) -> None:
        """Bring the marks of some outer rows up to date."""
        todo = []
        for part in parts:
            if part.outer not in self._marks:
                self._marks[part.outer] = Marks()
                part = part._replace(low=0, high=len(part.items) - 1)
            todo.append(part)
        for part, own in zip(todo, self._found(todo, turn), strict=True):
            self._marks[part.outer].replace(part.gone, own)

    def forget(self, outer: Key) -> None:
        """An outer row has no items any more."""
        self._marks.pop(outer, None)

    # -- conditions -------------------------------------------------------------------------------

    def _found(
        self, parts: Sequence[MarkedItems], turn: Round
    ) -> list[list[tuple[Rank, Key, bool, bool]]]:
        window = self._node.window
        assert window.start is not None
        assert window.start.test is not None
        behind = int(self._follows)
        sights = [
            (part, place)
            for part in parts
            for place in range(part.low, min(part.high + behind, len(part.items) - 1) + 1)
        ]
        starts = self._holds(window.start, sights, turn)
        ends = [False] * len(sights)
        if self._alone and window.end is not None and window.end.test is not None:
            ends = self._ends(window.end, sights, turn)
        out: list[list[tuple[Rank, Key, bool, bool]]] = []
        at = 0
        for part in parts:
            entries = part.items.order.between_places(part.low, part.high + 1)
            count = min(part.high + behind, len(part.items) - 1) + 1 - part.low
            own = starts[at : at + count]
            here = [*own[1:], False] if self._follows else ends[at : at + count]
            out.append([(*one, s, e) for one, s, e in zip(entries, own, here, strict=False)])
            at += count
        return out

    def _ends(
        self, end: p.Boundary, sights: Sequence[tuple[MarkedItems, int]], turn: Round
    ) -> list[bool]:
        """Where windows end; an item whose condition fails counts, and is known to fail."""
        for part, place in sights:
            self._marks[part.outer].failing.discard(part.items.order.at(place)[1])
        try:
            return self._holds(end, sights, turn)
        except Error:
            if len(sights) == 1:
                ((part, place),) = sights
                self._marks[part.outer].failing.add(part.items.order.at(place)[1])
                return [True]
        half = len(sights) // 2
        parts = sights[:half], sights[half:]
        return [one for some in parts for one in self._ends(end, some, turn)]

    def fail(self, part: MarkedItems, place: int, turn: Round) -> None:
        """Raise the error of an item whose end condition fails."""
        end = self._node.window.end
        assert end is not None
        self._holds(end, [(part, place)], turn)

    def _holds(
        self, boundary: p.Boundary, sights: Sequence[tuple[MarkedItems, int]], turn: Round
    ) -> list[bool]:
        if not sights:
            return []
        assert boundary.test is not None
        used = facts(boundary.test).free
        columns = boundary_columns(boundary, used, sights, self._cell)
        for at, variable in enumerate(self._node.source.columns):
            if variable in self._node.carried and variable in used:
                columns[variable.number] = [
                    self._rows[part.items.order.at(place)[1]].cells[at] for part, place in sights
                ]
        frame = turn.workspace().frame(columns, len(sights), {})
        found: list[bool] = truth(boundary.test, frame).tolist()
        return found

    def _cell(self, part: MarkedItems, place: int) -> Cell:
        if not 0 <= place < len(part.items):
            return ()
        return self._rows[part.items.order.at(place)[1]].cells[self._item]


def boundary_columns(
    boundary: p.Boundary, used: frozenset[p.Variable], sights: Sequence[tuple[MarkedItems, int]],
    cell: Callable[[MarkedItems, int], Cell],
) -> dict[int, list[Cell]]:  # fmt: skip
    """The values of a boundary's used variables if it is at these places."""
    columns: dict[int, list[Cell]] = {}
    for variable, by in ((boundary.current, 0), (boundary.previous, -1), (boundary.next, 1)):
        if variable in used:
            columns[variable.number] = [cell(part, place + by) for part, place in sights]
    if boundary.position in used:
        columns[boundary.position.number] = [((INTEGER, place + 1),) for _, place in sights]
    return columns
