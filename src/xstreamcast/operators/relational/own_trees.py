"""Trees that a query constructed, brought from all the tapes that they were made on to one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from xstreamcast.history.forgetting import excerpt
from xstreamcast.model.column import offsets_of, ranges
from xstreamcast.tape.join import joined
from xstreamcast.tape.layout import Columns, Tape

if TYPE_CHECKING:
    from xstreamcast.model.delta import OwnNode, Rank
    from xstreamcast.tape.layout import I64


class NodeOrigins(NamedTuple):
    """Where nodes are made: by which operator, and for a row of which rank, by tuple."""

    operator: int
    ranks: Sequence[Rank]

    def place(self, handle: int, row: int) -> tuple[Any, ...]:
        """What sorts a node among those that an evaluation of the whole query would make."""
        return self.operator, self.ranks[row], handle


def placed(nodes: Sequence[OwnNode]) -> list[OwnNode]:
    """The nodes of a query in document order, those of one table of names together; in the order
    given if the place of one is not known: a snapshot of an earlier version has none.
    """
    if not all(node.place for node in nodes):
        return list(nodes)
    return sorted(nodes, key=lambda node: (id(node.tape.names), node.place))


class OwnTrees(NamedTuple):
    """Trees on one tape: where each begins, and the root that it was kept by."""

    begin: I64
    roots: Sequence[OwnNode]

    def nodes(self, rows: I64) -> list[OwnNode]:
        """What the nodes at some rows are known by, wherever they are read."""
        tree = np.searchsorted(self.begin, rows, "right") - 1
        within = (rows - self.begin[tree]).tolist()
        roots = [self.roots[at] for at in tree.tolist()]
        return [root._replace(row=root.row + at) for root, at in zip(roots, within, strict=True)]


def assembled(nodes: Sequence[OwnNode]) -> tuple[Tape, I64, OwnTrees]:
    """The trees around nodes, each once, in the order in which they are met → and the nodes' rows.

    The tapes must share their names.
    """
    at, within = np.empty(len(nodes), np.int64), np.empty(len(nodes), np.int64)
    top = np.empty(len(nodes), np.int64)
    parts: list[Tape] = []
    base = 0
    for tape, places, rows in _by_tape(nodes):
        tops = tops_of(tape, rows)
        roots, tree = np.unique(tops, return_inverse=True)
        part, begin = excerpt(tape, roots)
        at[places], within[places], top[places] = base + begin[tree], rows - tops, tops
        parts.append(part)
        base += len(part)
    roots, first, tree = np.unique(at, return_index=True, return_inverse=True)
    order = np.argsort(first)
    made, begin = _rearranged(joined(parts), roots[order])
    place = np.empty(len(order), np.int64)
    place[order] = begin
    kept = [nodes[n]._replace(row=int(top[n])) for n in first[order].tolist()]
    return made, place[tree] + within, OwnTrees(begin, kept)


def _by_tape(nodes: Sequence[OwnNode]) -> list[tuple[Any, I64, I64]]:
    """Each tape, with the places of its nodes and their rows."""
    found: dict[int, list[int]] = {}
    for place, node in enumerate(nodes):
        found.setdefault(id(node.tape), []).append(place)
    return [
        (
            nodes[places[0]].tape,
            np.array(places, np.int64),
            np.array([nodes[place].row for place in places], np.int64),
        )
        for places in found.values()
    ]


def tops_of(tape: Any, rows: I64) -> I64:
    """The roots of the trees that nodes are in."""
    parent = tape.columns.parent
    while len(rows):
        above = parent[rows].astype(np.int64)
        if (above < 0).all():
            break
        rows = np.where(above < 0, rows, above)
    return rows


def _rearranged(tape: Tape, roots: I64) -> tuple[Tape, I64]:
    """The trees at some rows in the order given → and their rows; the bytes are shared."""
    c = tape.columns
    lengths = c.size[roots].astype(np.int64) + 1
    rows, begin = ranges(roots, lengths), offsets_of(lengths)[:-1]
    taken = Columns._make([*(column[rows] for column in c[:-1]), c.heap])
    parent = taken.parent + np.repeat(begin - roots, lengths).astype(np.int32)
    parent[begin] = -1
    return Tape(taken._replace(parent=parent), tape.names, tape.source), begin
