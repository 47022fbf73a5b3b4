"""The content of fragments, read from the tape on which they were decoded. seen as they are

written → what `inside_of` reads from the file
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.edges.table.insides import PayloadNames
from xstreamcast.tape.fragments.payload_kernels import mark_names
from xstreamcast.tape.layout import KIND, NAMESPACE

if TYPE_CHECKING:
    from xstreamcast.algebra.analysis.guide import Names
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.tape.layout import Tape

_MIX = np.uint64(0x9E3779B97F4A7C15)


class Insides:
    """What was seen so far, by tag; None for a tag whose payloads were rewritten."""

    def __init__(self) -> None:
        self._found: dict[int, PayloadNames | None] = {}

    def of(self, tag: int) -> PayloadNames | None:
        """The content of the fragments of a tag, if all of them were seen."""
        return self._found.get(tag)

    def see(self, batch: FragmentBatch, *, as_written: bool) -> None:
        """Read fragments; `as_written`: their payloads are in the table as on the tape."""
        tags = np.unique(batch.tsid).tolist()
        if not as_written:
            self._found |= dict.fromkeys(tags)
            return
        names, bound, holes = _names(batch), _bound(batch), _holes(batch)
        for tag in tags:
            known = self._found.setdefault(tag, PayloadNames())
            if known is not None:
                mine = frozenset((path, label) for other, path, label in holes if other == tag)
                self._found[tag] = known | PayloadNames(frozenset(names[tag]), tag in bound, mine)


def _names(batch: FragmentBatch) -> dict[int, list[tuple[str, str]]]:
    """By tag, the names of elements below the roots of payloads; holes are none."""
    c, names = batch.tape.columns, batch.tape.names
    skip = np.zeros(len(c.kind), np.bool_)
    skip[batch.hole_row] = True
    tags, place = np.unique(batch.tsid, return_inverse=True)
    seen = np.zeros((len(tags), len(names)), np.bool_)
    mark_names(c, batch.payload, place.astype(np.int32), skip, seen)
    return {
        tag: [names.qname(name)[:0:-1] for name in np.flatnonzero(seen[at]).tolist()]
        for at, tag in enumerate(tags.tolist())
    }


def _bound(batch: FragmentBatch) -> set[int]:
    """The tags of fragments that bind namespaces in their payload."""
    c = batch.tape.columns
    rows = np.flatnonzero(c.kind & KIND == NAMESPACE)
    there = batch.payload >= 0
    first = batch.payload[there]
    binds = np.searchsorted(rows, first) < np.searchsorted(rows, first + c.size[first] + 1)
    return set(np.unique(batch.tsid[there][binds]).tolist())


def _holes(batch: FragmentBatch) -> set[tuple[int, Names, int]]:
    """Tags, names between the root of a payload and a hole, and the tag that the hole says."""
    if len(batch.hole_row) == 0:
        return set()
    tag, root = batch.tsid[batch.hole_fragment], batch.payload[batch.hole_fragment]
    mixed = _paths(batch.tape, batch.hole_row, root)
    mixed ^= batch.hole_tsid.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= tag.astype(np.uint64) * np.uint64(0xD6E8FEB86659FD93)
    return {
        (
            int(tag[at]),
            _path(batch.tape, int(batch.hole_row[at]), int(root[at])),
            int(batch.hole_tsid[at]),
        )
        for at in np.unique(mixed, return_index=True)[1].tolist()
    }


def _paths(tape: Tape, rows: Any, roots: Any) -> Any:
    """A number for the names above each hole: equal where they are."""
    c = tape.columns
    found = np.zeros(len(rows), np.uint64)
    above = c.parent[rows].astype(np.int64)
    left = np.flatnonzero(above != roots)
    while len(left):
        name = c.name[above[left]].astype(np.uint64) + np.uint64(1)
        found[left] = (found[left] ^ name) * _MIX
        found[left] ^= found[left] >> np.uint64(29)
        above[left] = c.parent[above[left]]
        left = left[above[left] != roots[left]]
    return found


def _path(tape: Tape, row: int, root: int) -> Names:
    above, path = int(tape.columns.parent[row]), []
    while above != root:
        _, local, uri = tape.names.qname(int(tape.columns.name[above]))
        path.append((uri, local))
        above = int(tape.columns.parent[above])
    return tuple(reversed(path))
