"""Windows whose boundaries items alone decide: found from marks, without evaluating items again.

marks of a part of a sequence  →  the windows that begin, end or hold something there
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.operators.relational.windows.rows import FoundWindow

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.model.delta import Key, Rank
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.relational.windows.items import WindowItems
    from xstreamcast.operators.relational.windows.marks import MarkedItems, MarkFinder, Marks

Revised = tuple[list[FoundWindow], list["Key"]]  # the windows of a part; the names of those before


class WindowWalk:
    """Tumbling and sliding windows from the marks of their items."""

    def __init__(self, node: c.Window, finder: MarkFinder) -> None:
        self._window, self._finder = node.window, finder

    def revised(self, part: MarkedItems, turn: Round) -> Revised:
        """The windows that hold an item between these places, and the names of those before."""
        marks = self._finder.of(part.outer)
        step = self._tumbling if self._window.kind == "tumbling" else self._sliding
        return step(part, marks, turn)

    def _tumbling(self, part: MarkedItems, marks: Marks, turn: Round) -> Revised:
        """One after another, until one begins where one began before."""
        outer, items, low, high, _ = part
        known = items.touching(items.from_label(low), items.until_label(high))
        start = min([low, *(items.place(label) for _, label, _ in known)])
        behind, at = items.order.at(high)[0], items.order.at(start)[0]
        found, meet = [], None
        while (begin := marks.starts.next(at)) is not None:
            name = (*outer, begin[1])
            if begin[0] > behind and items.has(name):
                meet = items.first_label(name)
                break
            end = self._end(part, marks, begin[0], turn)
            found.append(self._found(items, name, begin[0], end))
            following = None if end is None else items.order.behind(end)
            if following is None:
                break
            at = following[0]
        gone = items.beginning(items.from_label(start), meet)
        return found, [name for name, _, _ in gone]

    def _sliding(self, part: MarkedItems, marks: Marks, turn: Round) -> Revised:
        """Those that have not ended before the part, and begin before its end."""
        outer, items, low, high, _ = part
        last = marks.ends.before(items.order.at(low)[0])
        first = None if last is None else items.order.behind(last)
        if last is not None and first is None:
            return [], []
        label = items.from_label(0 if first is None else items.order.position(first[0]))
        until = items.order.behind(items.order.at(high))
        gone = items.beginning(label, None if until is None else items.until_label(high) + 1)
        names = [name for name, _, _ in gone]
        if self._window.only_end and marks.ends.next(items.order.at(low)[0]) is None:
            return [], names
        begins = marks.starts.between(first and first[0], until and until[0])
        found = []
        for rank, key in begins:
            end = self._end(part, marks, rank, turn)
            if end is not None or not self._window.only_end:
                found.append(self._found(items, (*outer, key), rank, end))
        return found, names

    def _end(
        self, part: MarkedItems, marks: Marks, begin: Rank, turn: Round
    ) -> tuple[Rank, Key] | None:
        """The item at which a window ends."""
        end = marks.ends.next(begin)
        if end is not None and end[1] in marks.failing:
            self._finder.fail(part, part.items.order.position(end[0]), turn)
        return end

    def _found(
        self, items: WindowItems, name: Key, begin: Rank, end: tuple[Rank, Key] | None
    ) -> FoundWindow:
        last = len(items) - 1 if end is None else items.order.position(end[0])
        shown = end is not None or not self._window.only_end
        return FoundWindow(name, items.order.position(begin), last, shown)
