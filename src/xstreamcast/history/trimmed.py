"""Fragments reduced to the part that a query reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.fragments.payload_kernels import DEFAULT, OWN_BOUNDS, Payloads, Places
from xstreamcast.tape.fragments.trim_kernels import (
    EVERYTHING,
    NOTHING,
    Paths,
    Trimmed,
    write_trimmed,
)
from xstreamcast.tape.layout import Columns, empty_columns

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.guide import Name, Names
    from xstreamcast.algebra.analysis.trims import Trim
    from xstreamcast.history.history import History
    from xstreamcast.tape.layout import I32, I64


@dataclass(frozen=True, slots=True, eq=False)
class RowSources:
    """The source of the rows of a view: the position of each fragment and hole."""

    payloads: Payloads
    places: Places
    number: I32  # of the columns that a payload is part of
    payload: I32
    hole_row: I32
    columns: dict[int, Columns]


def sources(history: History, trims: Mapping[int, Trim]) -> RowSources:
    """The payloads in place; those of some tags trimmed."""
    f, h = history.fragments, history.holes
    payloads = Payloads(f["rows"], f["nbytes"], f["shape"], f["hash"])
    places = Places(h["before"], h["depth"], h["beside"], h["path"])
    columns = {i: history.store.tape(i).columns for i in np.unique(f["tape"]).tolist()}
    whole = RowSources(payloads, places, f["tape"], f["payload"], h["row"], columns)
    chosen = np.flatnonzero(history.tagged(frozenset(trims)) & (f["payload"] >= 0))
    if len(chosen) == 0:
        return whole
    made = RowSources(
        Payloads(f["rows"].copy(), f["nbytes"].copy(), f["shape"].copy(), f["hash"]),
        Places(h["before"].copy(), h["depth"], h["beside"].copy(), h["path"]),
        whole.number.copy(), whole.payload.copy(), whole.hole_row.copy(), columns,
    )  # fmt: skip
    forest = _Forest(history, trims)
    beyond, tapes = max(columns) + 1, f["tape"][chosen]
    for number in np.unique(tapes).tolist():
        which = chosen[tapes == number]
        made.number[which] = number + beyond
        columns[number + beyond] = _trimmed(history, columns[number], which, forest, made)
    return made


def _trimmed(
    history: History, c: Columns, which: I64, forest: _Forest, made: RowSources
) -> Columns:
    """Columns with the remaining rows of the fragments of one tape, over the same bytes."""
    f, n = history.fragments, len(which)
    last = f["holes"][which]
    first = np.where(which > 0, f["holes"][which - 1], 0)
    given = Trimmed(
        f["payload"][which].astype(np.int64), forest.root[f["tsid"][which]], first, last,
        np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64),
    )  # fmt: skip
    most = int(f["rows"][which].sum() + (last - first).sum())  # what is not written costs nothing
    out = empty_columns(most, c.heap)
    used = write_trimmed(c, forest.paths, given, out, made.hole_row, made.places)
    made.payload[which], made.payloads.rows[which] = given.at, given.rows
    made.payloads.nbytes[which] = given.nbytes
    made.payloads.shape[which] &= DEFAULT | OWN_BOUNDS
    return Columns._make([*(column[:used] for column in out[:-1]), c.heap])


class _Forest:
    """The paths of all trims: for each tag the node that represents the root of its fragments."""

    def __init__(self, history: History, trims: Mapping[int, Trim]) -> None:
        self._names = history.store.names
        self._rows: list[I32] = []
        self._nodes: dict[tuple[int, Name], int] = {}
        self.root: I32 = np.full(max(history.structure.tags) + 2, NOTHING, np.int32)
        texts: set[int] = set()
        for tag, trim in trims.items():
            self.root[tag] = root = self._new()
            for path in trim.paths:
                self._node(root, path)
            texts |= {self._node(root, path) for path in trim.texts}
            for path in trim.whole:
                self._lead(self._node(root, path[:-1]), path[-1], EVERYTHING)
        self.paths = Paths(np.stack(self._rows), np.isin(np.arange(len(self._rows)), list(texts)))

    def _node(self, node: int, path: Names) -> int:
        """The node at the end of a path."""
        for name in path:
            if (node, name) not in self._nodes:
                self._nodes[node, name] = self._new()
                self._lead(node, name, self._nodes[node, name])
            node = self._nodes[node, name]
        return node

    def _lead(self, node: int, name: Name, to: int) -> None:
        """Let elements of this name, whatever their prefix, lead from one node to another."""
        uri, local = name
        self._rows[node][self._names.matching(local, uri)] = to

    def _new(self) -> int:
        self._rows.append(np.full(len(self._names), NOTHING, np.int32))
        return len(self._rows) - 1
