"""Nodes counted once that several units find: elements around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Delta, Key, Row
from xstreamcast.operators.relational.folds.folds import counted

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.units.spine_view import SpineView


class FoundAround(NamedTuple):
    """What a unit found: elements around it, and how much of its own counts by that alone.

    `whole` is what counts of it if any unit found an element around it.
    """

    around: tuple[int, ...]
    elements: tuple[int, ...]
    own: int
    whole: int


class CountAroundOperator:
    """rows of units  →  one row: the number of nodes, or of what is below them."""

    def __init__(self, node: c.CountAround) -> None:
        self._node = node
        self._depths = node.source.columns.index(node.depths)
        self._below = node.below and tuple(map(node.source.columns.index, node.below))
        self._view: SpineView | None = None
        self._rows: dict[Key, Row] = {}
        self._made: Row | None = None
        self._forget()

    def _forget(self) -> None:
        self._found: dict[Key, FoundAround] = {}
        self._elements: Counter[int] = Counter()  # by how many units each was found
        self._own: Counter[tuple[int, ...]] = Counter()  # sums, by the elements around units
        self._whole: Counter[tuple[int, ...]] = Counter()
        self._inside: dict[int, set[tuple[int, ...]]] = {}  # by element: which of these it is in
        self._counts: dict[tuple[int, ...], int] = {}  # what each of these sums adds to
        self._total = 0

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The row, if the number is another one."""
        (source,) = deltas
        for key, (_, new) in source.items():
            if new is None:
                self._rows.pop(key, None)
            else:
                self._rows[key] = new
        view, touched = turn.spine_of(self._node.input), list(source)
        if view is not self._view:  # elements have other numbers now
            self._view, touched = view, list(self._rows)
            self._forget()
        self._take(touched)
        count = self._total + (len(self._elements) if self._below is None else 0)
        old, self._made = self._made, Row((), (counted(self._node.name, count),))
        out: Delta = {}
        turn.put(out, (), old, self._made)
        return out

    def _take(self, keys: Iterable[Key]) -> None:
        touched: set[tuple[int, ...]] = set()
        for key in keys:
            old = self._found.pop(key, None)
            if old is not None:
                self._add(old, -1, touched)
            if key in self._rows:
                self._found[key] = new = self._found_by(key, self._rows[key])
                self._add(new, 1, touched)
        for around in touched:
            count = self._sum(around)
            self._total += count - self._counts.get(around, 0)
            self._counts[around] = count

    def _add(self, found: FoundAround, sign: int, touched: set[tuple[int, ...]]) -> None:
        if found.around not in self._counts and found.around not in touched:
            for one in found.around:
                self._inside.setdefault(one, set()).add(found.around)
        touched.add(found.around)
        for one in found.elements:
            before = self._elements[one]
            self._elements[one] += sign
            if before == 0 or not self._elements[one]:
                touched |= self._inside[one]
            if not self._elements[one]:
                del self._elements[one]
        self._own[found.around] += sign * found.own
        self._whole[found.around] += sign * found.whole

    def _found_by(self, key: Key, row: Row) -> FoundAround:
        around = () if self._view is None else self._view.around(key[0])
        depths = [int(depth) for _, depth in row.cells[self._depths]]
        elements = tuple(around[depth - 1] for depth in depths if depth <= len(around))
        if self._below is None:
            return FoundAround(around, elements, len(depths) - len(elements), 0)
        own, whole = (int(row.cells[at][0][1]) for at in self._below)
        return FoundAround(around, elements, own, whole)

    def _sum(self, around: tuple[int, ...]) -> int:
        """What counts of all units below some elements; all of it if a unit found one of these."""
        whole = self._below is not None and any(one in self._elements for one in around)
        return (self._whole if whole else self._own)[around]
