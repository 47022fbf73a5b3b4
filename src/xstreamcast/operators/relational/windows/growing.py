"""Windows over the items of a document: what each gives, as it closes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xstreamcast.circuit import nodes as c
from xstreamcast.model.atomic import NODE
from xstreamcast.model.delta import Cell, Delta, OwnNode, Row, RowDelta
from xstreamcast.operators.growing_windows.by_key import WindowsByKey
from xstreamcast.operators.growing_windows.windows import Windows
from xstreamcast.operators.units.evaluating import rows_of_strings

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Column
    from xstreamcast.operators.relational.tick import Round

_ROW = 0xFFFFFFFF


class GrowingWindowOperator:
    """pieces of a document  →  a row for each window, with what it gives.

    Rows of windows that have closed never change, and are not kept.
    """

    def __init__(self, node: c.GrowingWindow) -> None:
        self._node = node
        made = Windows if node.shape.by is None else WindowsByKey
        rows: Any = rows_of_strings if node.answer else _cells
        self.windows: Windows[Any] | WindowsByKey[Any] = made(
            node.shape, node.source.document, rows
        )
        self._shown: dict[str, Row] = {}  # of windows that may change

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The windows that came, or changed while they are open."""
        (units,) = deltas
        source = self._node.source
        pieces = turn.read(source.source, {key[0] for key in units}) if units else []
        ended = source.input in turn.ended
        found = self.windows.on_tick(pieces, turn.asking, turn.decided, ended)
        if found is None:
            return {}
        out: Delta = {}
        for name in sorted(found.gone):
            old = self._shown.pop(name, None)
            if old is not None:
                out[name,] = RowDelta(old, None)
        for name, value in found.contents.items():
            row = Row((found.ranks[name],), (value,))
            old = self._shown.pop(name, None)
            if old != row:
                out[name,] = RowDelta(old, row)
            if name in found.provisional:
                self._shown[name] = row
        turn.settled[id(self._node)] = [
            (name,) for name in found.contents if name not in found.provisional
        ]
        turn.final[id(self._node)] = {0: found.final, **found.finals}
        return out

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return self.windows.state_bytes + 200 * len(self._shown)


def _cells(frame: Frame, column: Column) -> list[Cell]:
    """What windows give, as rows keep it; their nodes were constructed."""
    tags, values = column.items.all_tags().tolist(), column.items.values.tolist()
    tape = frame.context.store.tape
    atoms = [
        (tag, OwnNode(tape(int(value) >> 32), int(value) & _ROW) if tag == NODE else value)
        for tag, value in zip(tags, values, strict=True)
    ]
    return [tuple(atoms[a:b]) for a, b in itertools.pairwise(column.bounds().tolist())]
