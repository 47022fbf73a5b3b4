"""Folds whose failure counts only where something reads them.

members  →  the value of a fold; where it fails, the items themselves, which fail when it is read
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.errors import Error
from xstreamcast.operators.relational.folds.gathered import Switching

if TYPE_CHECKING:
    from xstreamcast.model.delta import Cell
    from xstreamcast.operators.relational.folds.gathered import FoldState, Member
    from xstreamcast.operators.relational.tick import Round


class Deferred:
    """A fold that what reads it calls again: on its value, or on the items that it fails on."""

    def __init__(self, fold: FoldState) -> None:
        assert isinstance(fold, Switching)
        self._fold = fold

    def update(self, gone: list[Member], come: list[Member]) -> None:
        self._fold.update(gone, come)

    def value(self, turn: Round) -> Cell:
        try:
            return self._fold.value(turn)
        except Error:
            ordered = sorted(self.members(), key=lambda member: member[0])
            return tuple(atom for _, _, cell in ordered for atom in cell)

    def members(self) -> list[Member]:
        """All of them, in any order."""
        return self._fold.members()
