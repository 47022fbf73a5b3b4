"""Where expressions are evaluated over rows: the nodes that the rows refer to, put into a store.

Units are put in the order of their input, each once, so that identity and document order hold for
nodes of all rows of one evaluation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.model import atomic
from xstreamcast.model.array_item import ArrayItem
from xstreamcast.model.atomic import NODE
from xstreamcast.model.column import Column
from xstreamcast.model.delta import (
    ArrayValue,
    Cell,
    FunctionValue,
    MapValue,
    NodeRef,
    OwnNode,
    nodes_in,
)
from xstreamcast.model.items import Items
from xstreamcast.model.map_item import MapItem
from xstreamcast.operators.relational.own_trees import NodeOrigins, OwnTrees, assembled, placed
from xstreamcast.operators.units.spine_view import SPINE
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.operators.units.evaluating import EvaluationContext
    from xstreamcast.operators.units.units import Minis

Reader = Callable[[int, set[str]], "list[Minis]"]  # units of an input, in its order
_ROW = 0xFFFFFFFF
_NOT_ATOMIC = frozenset({NODE, *atomic.FUNCTIONS})


class Workspace:
    """One evaluation: cells to columns, and back."""

    def __init__(self, asking: EvaluationContext, read: Reader) -> None:
        self.store = Store(asking.names)
        self.context = asking.context(self.store)
        self._read = read
        self._units: dict[tuple[int, str], int] = {}  # handles of their documents
        self._tapes: dict[int, tuple[int, Minis]] = {}  # by number: the input, and its units
        self._own: dict[tuple[int, int], int] = {}  # handles of constructed nodes
        self._trees: dict[int, OwnTrees] = {}  # by number: the constructed trees on a tape
        self._kept: list[Any] = []  # their tapes, whose identities are used

    def number_of(self, minis: Minis) -> int:
        """The number of the tape of some units, which is put into the store once."""
        for number, (_, known) in self._tapes.items():
            if known is minis:
                return number
        number = self.store.add(minis.tape)
        self._tapes[number] = -1, minis
        return number

    def rows_frame(self, n: int, values: Mapping[Key, Value]) -> Frame:
        """So many rows with these columns."""
        return Frame(self.context, n, self.context.root, np.zeros(n, np.int64), values)

    def frame(
        self, columns: Mapping[int, Sequence[Cell]], n: int, shared: Mapping[int, Cell]
    ) -> Frame:
        """A row for each cell of the columns; shared values are the same in all of them."""
        self._load(itertools.chain(*columns.values(), shared.values()))
        around = self.context.root
        if shared:
            values: dict[Key, Value] = {key: self._column([one]) for key, one in shared.items()}
            around = Frame(self.context, 1, around, None, values)
        own: dict[Key, Value] = {key: self._column(cells) for key, cells in columns.items()}
        for cells in columns.values():
            own |= self._inner_folds(cells)
        return Frame(self.context, n, around, np.zeros(n, np.int64), own)

    def _inner_folds(self, cells: Sequence[Cell]) -> dict[Key, Value]:
        """What is kept of units besides their content, if a column holds such units."""
        first = cells[0][0] if cells and len(cells[0]) == 1 else None
        if first is None or first[0] != NODE or type(first[1]) is not NodeRef or first[1].offset:
            return {}
        if first[1].unit.startswith(SPINE):
            return {}
        for number, (source, minis) in self._tapes.items():
            if source == first[1].source and minis.kept is not None:
                at = {key: place for place, key in enumerate(minis.keys)}
                rows = np.array([at[cell[0][1].unit] for cell in cells], np.int64)
                found = minis.kept.bound(number, together=False)
                return {key: column.take(rows) for key, column in found.items()}
        return {}

    def _load(self, cells: Iterable[Cell]) -> None:
        wanted: dict[int, set[str]] = {}
        own: dict[tuple[int, int], OwnNode] = {}
        for cell in cells:
            for node in nodes_in(cell):
                if type(node) is NodeRef:
                    wanted.setdefault(node.source, set()).add(node.unit)
                else:
                    assert type(node) is OwnNode
                    own[id(node.tape), node.row] = node
        for source in sorted(wanted):
            for minis in self._read(source, wanted[source]):
                number = self.store.add(minis.tape)
                self._tapes[number] = source, minis
                handles = ((number << 32) | minis.documents).tolist()
                for key, handle in zip(minis.keys, handles, strict=True):
                    self._units[source, key] = handle
        self._load_own(list(own.values()))

    def _load_own(self, nodes: Sequence[OwnNode]) -> None:
        """Constructed trees in their order, in which they may have come at any time."""
        for _, group in itertools.groupby(placed(nodes), key=lambda node: id(node.tape.names)):
            some = list(group)
            tape, rows, trees = assembled(some)
            number = self.store.add(tape)
            self._trees[number] = trees
            handles = ((number << 32) | rows).tolist()
            for node, handle in zip(some, handles, strict=True):
                self._own.setdefault((id(node.tape), node.row), handle)
            self._kept += [node.tape for node in some]

    def _column(self, cells: Sequence[Cell]) -> Column:
        lengths = np.fromiter(map(len, cells), np.int64, len(cells))
        atoms = [atom for cell in cells for atom in cell]
        tags = [tag for tag, _ in atoms]
        values = [self._value(tag, value) if tag in _NOT_ATOMIC else value for tag, value in atoms]
        items = Items.mixed(tags, values)
        if len(atoms) == len(cells) and bool((lengths == 1).all()):
            return Column(items)
        return Column.from_lengths(items, lengths)

    def _value(self, tag: int, value: Any) -> Any:
        """A node by its handle; a map, an array or a function with handles inside."""
        match tag:
            case atomic.NODE:
                return self._handle(value)
            case atomic.MAP:
                keys = Items.mixed([tag for tag, _ in value.keys], [one for _, one in value.keys])
                return MapItem(keys, self._column(value.values), 0, len(value.keys))
            case atomic.ARRAY:
                return ArrayItem(self._column(value.members), 0, len(value.members))
            case atomic.FUNCTION if type(value) is FunctionValue:
                captured = [self._column([cell]) for cell in value.values]
                return value.again(self.context, value.of, captured)
            case _:
                return value

    def _handle(self, value: Any) -> int:
        if type(value) is NodeRef:
            return self._units[value.source, value.unit] + value.offset
        return self._own[id(value.tape), value.row]

    def cells(self, column: Column, places: NodeOrigins | None = None) -> list[Cell]:
        """The values of a column, as rows keep them; `places`: where new nodes are made."""
        items = column.items
        tags, values = items.all_tags().tolist(), items.values.tolist()
        if not _NOT_ATOMIC.isdisjoint(tags):
            nodes = self._references(column, places) if NODE in tags else {}
            atoms = [
                (tag, self._kept_as(tag, value, nodes) if tag in _NOT_ATOMIC else value)
                for tag, value in zip(tags, values, strict=True)
            ]
        else:
            atoms = list(zip(tags, values, strict=True))
        if column.offsets is None:
            return [(atom,) for atom in atoms]
        bounds = column.offsets.tolist()
        return [tuple(atoms[a:b]) for a, b in itertools.pairwise(bounds)]

    def _kept_as(self, tag: int, value: Any, nodes: Mapping[int, NodeRef | OwnNode]) -> Any:
        """What is kept of a node, a map, an array or a function."""
        match tag:
            case atomic.NODE:
                return nodes[value]
            case atomic.MAP:
                keys = tuple(value.own_keys().pairs())
                return MapValue(keys, tuple(self.cells(value.own_values())))
            case atomic.ARRAY:
                return ArrayValue(tuple(self.cells(value.members())))
            case atomic.FUNCTION if value.remade is not None:
                again, of, captured = value.remade
                inner = tuple(self.cells(one)[0] for one in captured())
                return FunctionValue(again, of, inner)
            case _:
                return value

    def _references(
        self, column: Column, places: NodeOrigins | None
    ) -> dict[int, NodeRef | OwnNode]:
        """By handle, what a node is known by beyond this evaluation."""
        items = column.items
        nodes = np.flatnonzero(items.all_tags() == NODE)
        handles, first = np.unique(items.values[nodes].astype(np.int64), return_index=True)
        found: dict[int, NodeRef | OwnNode] = {}
        for number in np.unique(handles >> 32).tolist():
            mine = handles[handles >> 32 == number]
            rows = mine & _ROW
            if number in self._trees:  # the same nodes as before
                found |= zip(mine.tolist(), self._trees[number].nodes(rows), strict=True)
                continue
            if number not in self._tapes:
                tape, at = self.store.tape(number), nodes[first[handles >> 32 == number]]
                if column.offsets is not None:
                    at = np.searchsorted(column.offsets, at, "right") - 1
                for h, row in zip(mine.tolist(), at.tolist(), strict=True):
                    place = () if places is None else places.place(h, row)
                    found[h] = OwnNode(tape, h & _ROW, place)
                continue
            source, minis = self._tapes[number]
            at = np.searchsorted(minis.documents, rows, "right") - 1
            offsets = (rows - minis.documents[at]).tolist()
            for handle, unit, offset in zip(mine.tolist(), at.tolist(), offsets, strict=True):
                found[handle] = NodeRef(source, minis.keys[unit], offset)
        return found
