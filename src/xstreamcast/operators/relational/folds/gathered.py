"""Items of a group in their order, and folds that have a quick way for values of some types."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from xstreamcast.evaluate.calls import library_call
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.operators.relational.orders.ordered import Ordered

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.circuit.nodes import Fold
    from xstreamcast.model.delta import Atom, Cell, Key, Rank
    from xstreamcast.operators.relational.tick import Round

Member = tuple["Rank", "Key", "Cell"]


class FoldState(Protocol):
    """What is kept of one group for one fold."""

    def update(self, gone: list[Member], come: list[Member]) -> None:
        """Remove members and add others."""

    def value(self, turn: Round) -> Cell:
        """The value over all members."""


class Gathered:
    """Items in order, and the function over all of them; members without items are not kept."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._order, self._cells = Ordered(), dict["Key", "Cell"]()

    def __len__(self) -> int:
        return len(self._cells)

    def update(self, gone: list[Member], come: list[Member]) -> None:
        gone, come = [m for m in gone if m[2]], [m for m in come if m[2]]
        if not gone and len(come) == 1 and not self._cells:  # most groups have one member
            ((rank, key, cell),) = come
            self._order.begin(rank, key)
            self._cells[key] = cell
            return
        self._order.replace(
            ((rank, key) for rank, key, _ in gone), ((rank, key) for rank, key, _ in come)
        )
        for _, key, _ in gone:
            del self._cells[key]
        for _, key, cell in come:
            self._cells[key] = cell

    def value(self, turn: Round) -> Cell:
        if len(self._cells) == 1:
            (items,) = self._cells.values()
        else:
            items = tuple(atom for _, key in self._order for atom in self._cells[key])
        if self._fold.call is None:
            return items
        return applied(self._fold.call, items, turn)


def applied(call: p.Call, items: Iterable[Atom], turn: Round) -> Cell:
    """A library function over atomic items; further arguments are constants."""
    space = turn.workspace()
    frame = space.context.root
    atoms = list(items)
    arguments = [_one_row([tag for tag, _ in atoms], [value for _, value in atoms])]
    for other in call.args[1:]:
        constants = other.atoms  # type: ignore[union-attr]
        arguments.append(_one_row([a.tag for a in constants], [a.value for a in constants]))
    column = library_call(call.function, arguments, frame, None)
    return space.cells(column)[0]


def _one_row(tags: list[int], values: list[Any]) -> Column:
    return Column(Items.mixed(tags, values), np.array([0, len(tags)], np.int64))


class Switching(ABC):
    """A fold that has a quick way for values of some types, and the function itself for others."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._rows: dict[Key, tuple[Rank, Cell]] = {}
        self._strange = 0  # members with values of other types
        self._slow: Gathered | None = None

    def update(self, gone: list[Member], come: list[Member]) -> None:
        for _, key, cell in gone:
            del self._rows[key]
            self._strange -= self._is_strange(cell)
        for rank, key, cell in come:
            self._rows[key] = rank, cell
            self._strange += self._is_strange(cell)
        if self._strange:
            if self._slow is None:
                self._slow = Gathered(self._fold)
                self._slow.update([], self.members())
                self._clear()
            else:
                self._slow.update(gone, come)
        elif self._slow is not None:
            self._slow = None
            self._take([], self.members())
        else:
            self._take(gone, come)

    def value(self, turn: Round) -> Cell:
        return self._quick() if self._slow is None else self._slow.value(turn)

    def members(self) -> list[Member]:
        """All of them, in any order."""
        return [(rank, key, cell) for key, (rank, cell) in self._rows.items()]

    @abstractmethod
    def _is_strange(self, cell: Cell) -> bool:
        """Whether the quick way does not know a value of the cell."""

    @abstractmethod
    def _take(self, gone: list[Member], come: list[Member]) -> None:
        """Add members in the quick way."""

    @abstractmethod
    def _clear(self) -> None:
        """Forget all members of the quick way."""

    @abstractmethod
    def _quick(self) -> Cell:
        """The value in the quick way."""
