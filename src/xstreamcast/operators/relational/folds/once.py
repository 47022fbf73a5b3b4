"""Folds over pairs of rows that count the nodes of one side once.

pairs  →  the fold over the rows of that side that are in one of them
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xstreamcast.model.delta import Cell, Key
    from xstreamcast.operators.relational.folds.gathered import FoldState, Member
    from xstreamcast.operators.relational.tick import Round


class Once:
    """A fold over rows of which those that agree in some parts of their keys count as one."""

    def __init__(self, fold: FoldState, first: int, last: int) -> None:
        self._fold, self._parts = fold, slice(first, last)
        self._held: dict[Key, tuple[int, Member]] = {}

    def update(self, gone: list[Member], come: list[Member]) -> None:
        before: dict[Key, Member | None] = {}
        for sign, members in ((-1, gone), (1, come)):
            for rank, key, cell in members:
                name = key[self._parts]
                count, known = self._held.pop(name, (0, None))
                before.setdefault(name, known)
                if count + sign:
                    self._held[name] = count + sign, (rank[self._parts], name, cell)
        after = {name: self._held[name][1] for name in before if name in self._held}
        left = [one for name, one in before.items() if one is not None and one != after.get(name)]
        new = [one for name, one in after.items() if one != before[name]]
        self._fold.update(left, new)

    def value(self, turn: Round) -> Cell:
        return self._fold.value(turn)
