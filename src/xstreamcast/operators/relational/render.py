"""Rows to items of the answer: the one place where results are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.analysis.monotone import monotone
from xstreamcast.circuit import nodes as c
from xstreamcast.errors import Error
from xstreamcast.evaluate.results.results import lines
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.operators.relational.failing import Failing
from xstreamcast.operators.units.evaluating import rows_of_strings

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Column
    from xstreamcast.model.delta import Key, Row
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.relational.tick_rows import TickRows
    from xstreamcast.operators.units.units import Minis


class Rendering:
    """rows  →  the items that the result gives for each."""

    def __init__(self, circuit: c.Circuit) -> None:
        self._result, self._root = circuit.result, circuit.root
        self._written = isinstance(circuit.root, c.GrowingWindow) and circuit.root.answer
        used = facts(circuit.result).free
        self._used = [(at, v.number) for at, v in enumerate(circuit.root.columns) if v in used]

    def strings(self, rows: Sequence[tuple[Key, Row]], turn: Round) -> list[list[str]]:
        """The items of each row, in the order of the rows."""
        try:
            return self._strings(rows, turn)
        except Error:
            turn.failing = Failing(rows, lambda some: self._strings(some, turn))
            raise

    def of_columns(self, rows: TickRows) -> list[str]:
        """The items of all rows that live for one tick, in their order."""
        if not len(rows):
            return []
        column = evaluate(self._result, rows.frame)
        return list(lines(rows.frame.context.store, column.items))

    def _strings(self, rows: Sequence[tuple[Key, Row]], turn: Round) -> list[list[str]]:
        if not rows:
            return []
        if self._written:
            return [list(row.cells[0]) for _, row in rows]  # type: ignore[arg-type]
        if isinstance(self._root, c.Units):
            return self._of_units(self._root, [key for key, _ in rows], turn)
        space = turn.workspace()
        columns = {number: [row.cells[at] for _, row in rows] for at, number in self._used}
        frame = space.frame(columns, len(rows), {})
        return rows_of_strings(frame, evaluate(self._result, frame))

    def _of_units(self, root: c.Units, keys: Sequence[Key], turn: Round) -> list[list[str]]:
        """Units as they were read, without rows of their own."""
        wanted = {str(key[0]) for key in keys}
        found: dict[str, list[str]] = {}
        for minis in turn.read_each(root.source, wanted):
            frame = turn.asking.units(minis, root.document)
            column = self._evaluated(minis, frame)
            found.update(zip(minis.keys, rows_of_strings(frame, column), strict=True))
        return [found[key[0]] for key in keys]

    def _evaluated(self, minis: Minis, frame: Frame) -> Column:
        if minis.kept is not None and minis.kept.judged is not None:
            verdicts, places = minis.kept.judged
            return verdicts.listed(frame, places, minis.kept.roots)
        column = evaluate(self._result, frame)
        return column if minis.missing is None else self._decided(column, minis)

    def _decided(self, column: Column, minis: Minis) -> Column:
        """The items that no missing fragment can change."""
        missing = minis.missing
        assert missing is not None
        certain = ~missing.units[column.rows()]
        if not certain.all() and monotone(self._result, missing.hollow):
            # the units are the first tape of their store
            certain |= np.array(missing.decided(minis.tape, 0, column.items), np.bool_)
        return column.keep(certain)
