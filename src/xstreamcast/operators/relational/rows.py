"""let, where and for over rows: evaluated for the rows that changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from xstreamcast.algebra.analysis.free import facts
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import follows_clock
from xstreamcast.circuit.passes.growing import adds
from xstreamcast.errors import Error
from xstreamcast.evaluate.flwor.tuples import gathered
from xstreamcast.model.delta import Cell, Delta, Key, Row, RowDelta
from xstreamcast.operators.relational.appended import AppendedRows
from xstreamcast.operators.relational.failing import Failing
from xstreamcast.operators.relational.late_columns import LateColumns, late_lets
from xstreamcast.operators.relational.own_trees import NodeOrigins

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.relational.workspace import Workspace

KeyedRows: TypeAlias = Sequence[tuple[Key, Row]]
T = TypeVar("T")


class RowsOperator:
    """rows of the source  →  the tuples that each becomes, with the columns that are needed."""

    def __init__(
        self, node: c.Rows, columns: bool = False, late: frozenset[p.Variable] = frozenset()
    ) -> None:
        """`columns`: all readers take the rows as columns, and `late` of some rows only."""
        self._node = node
        given = node.source.columns
        used = facts(node.tuples).free
        self._used = [(at, v.number) for at, v in enumerate(given) if v in used]
        self._copied = {v: at for at, v in enumerate(given)}
        self._scalars: dict[p.Variable, Cell] = {}
        clocked = node.clock and not follows_clock(node.source)
        self._again = bool(node.scalars or node.whole) or clocked
        self._rows: dict[Key, Row] = {}  # of the source, if all may have to be evaluated again
        self._made: dict[Key, list[Row]] = {}
        self._keeps = not adds(node)  # rows that never change need not be known again
        self._late = late
        self._columns = columns and not self._keeps and not self._copied.keys() & {*node.columns}

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta | AppendedRows:
        """What became of the rows that changed, or that read something that changed."""
        source, *scalars = deltas
        changed = self._take_scalars(scalars)
        node = self._node
        everything = changed or bool(node.whole & turn.touched)
        everything = everything or (self._again and node.clock and turn.clock_moved)
        if self._again:
            for key, (_, new) in source.items():
                if new is None:
                    self._rows.pop(key, None)
                else:
                    self._rows[key] = new
        out: Delta = {}
        if not self._keeps:
            return self._appended(source, turn)
        for key, (_, new) in source.items():
            if new is None:
                self._replace(key, [], out, turn)
        todo = (
            list(self._rows.items())
            if everything
            else [(key, new) for key, (_, new) in source.items() if new is not None]
        )
        if todo:
            pairs = zip(todo, self._evaluated(todo, turn), strict=True)
            if not self._made and not out:
                out = self._first(pairs)
            else:
                for (key, _), made in pairs:
                    self._replace(key, made, out, turn)
        self._settle(turn)
        return out

    def drop(self) -> None:
        """Drop all rows; what they read besides their own values stays."""
        self._rows, self._made = {}, {}

    def _appended(self, source: Delta, turn: Round) -> Delta | AppendedRows:
        """What became of rows that never change."""
        rows = [(key, new) for key, (_, new) in source.items() if new is not None]
        if not rows:
            return {}
        if self._columns:
            return self._guarded(rows, turn, self._as_columns)
        made = self._evaluated(rows, turn)
        if not self._node.nested:
            return {
                key: RowDelta(None, own[0]) for (key, _), own in zip(rows, made, strict=True) if own
            }
        return {
            (*key, at): RowDelta(None, row)
            for (key, _), own in zip(rows, made, strict=True)
            for at, row in enumerate(own)
        }

    def _settle(self, turn: Round) -> None:
        """Drop what was made of rows that never change."""
        settled = turn.settled.get(id(self._node.source), ())
        for key in settled if not self._again else ():
            self._made.pop(key, None)

    def _take_scalars(self, deltas: Sequence[Delta]) -> bool:
        changed = False
        for (variable, _), delta in zip(self._node.scalars, deltas, strict=True):
            for _, new in delta.values():
                self._scalars[variable] = () if new is None else new.cells[0]
                changed = True
        return changed

    def _first(self, pairs: Iterable[tuple[tuple[Key, Row], list[Row]]]) -> Delta:
        """What rows become where nothing was made of any before."""
        made = self._made = {key: own for (key, _), own in pairs if own}
        if self._node.nested:
            return {
                (*key, at): RowDelta(None, row)
                for key, own in made.items()
                for at, row in enumerate(own)
            }
        return {key: RowDelta(None, own[0]) for key, own in made.items()}

    def _replace(self, key: Key, made: list[Row], out: Delta, turn: Round) -> None:
        """Note what a row of the source becomes now."""
        before = self._made.pop(key, [])
        if made:
            self._made[key] = made
        nested = self._node.nested
        if not before:
            for at, row in enumerate(made):
                out[(*key, at) if nested else key] = RowDelta(None, row)
            return
        for at in range(max(len(before), len(made))):
            old = before[at] if at < len(before) else None
            new = made[at] if at < len(made) else None
            turn.put(out, (*key, at) if nested else key, old, new)

    def _evaluated(self, rows: KeyedRows, turn: Round) -> list[list[Row]]:
        return self._guarded(rows, turn, self._evaluate)

    def _guarded(self, rows: KeyedRows, turn: Round, made: Callable[[KeyedRows, Round], T]) -> T:
        try:
            return made(rows, turn)
        except Error:
            turn.failing = Failing(rows, lambda some: made(some, turn))
            raise

    def _frame(self, rows: KeyedRows, space: Workspace) -> Frame:
        columns: Mapping[int, list[Cell]] = {
            number: [row.cells[at] for _, row in rows] for at, number in self._used
        }
        shared = {variable.number: cell for variable, cell in self._scalars.items()}
        return space.frame(columns, len(rows), shared)

    def _as_columns(self, rows: KeyedRows, turn: Round) -> Delta | AppendedRows:
        node, space = self._node, turn.workspace()
        frame = self._frame(rows, space)
        first, late = late_lets(node.tuples, self._late)
        tuples = gathered(first, frame)
        if tuples.n == 0:
            return {}
        evaluated = LateColumns(tuples, [v.number for v in node.columns], late)

        def failed() -> None:
            turn.failing = Failing(rows, lambda some: self._evaluate(some, turn))

        return AppendedRows(rows, tuples.origin_in(frame), evaluated, space, node.nested, failed)

    def _evaluate(self, rows: KeyedRows, turn: Round) -> list[list[Row]]:
        node, space = self._node, turn.workspace()
        frame = self._frame(rows, space)
        tuples = gathered(node.tuples, frame)
        out: list[list[Row]] = [[] for _ in rows]
        if tuples.n == 0:
            return out
        origin = tuples.origin_in(frame).tolist()
        places = NodeOrigins(turn.operator, [rows[row][1].rank for row in origin])
        cells = [
            [rows[row][1].cells[self._copied[v]] for row in origin]
            if v in self._copied
            else [self._scalars[v]] * len(origin)
            if v in self._scalars
            else space.cells(tuples.variable(v.number), places)
            for v in node.columns
        ]
        each = zip(*cells, strict=True) if cells else iter([()] * len(origin))
        if node.nested:
            for row, values in zip(origin, each, strict=True):
                made = out[row]
                made.append(Row((*rows[row][1].rank, len(made)), values))
        else:
            for row, values in zip(origin, each, strict=True):
                out[row] = [Row(rows[row][1].rank, values)]
        return out
