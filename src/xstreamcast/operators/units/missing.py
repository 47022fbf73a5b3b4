"""What is missing in units: which of their nodes may still get content that has not come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.model.atomic import NODE
from xstreamcast.tape.layout import ELEMENT, KIND

if TYPE_CHECKING:
    from xstreamcast.model.items import Items
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.tape.layout import I64, Bools, Tape


@dataclass(frozen=True, slots=True, eq=False)
class EmptyHoles:
    """The payloads written to a tape, by the rows of their roots, and which have empty holes."""

    rows: I64
    lacking: Bools
    hollow: frozenset[str]
    units: Bools  # which units lack anything

    def decided(self, tape: Tape, number: int, items: Items) -> list[bool]:
        """For each item, whether no missing fragment can change it."""
        tags = items.all_tags().tolist()
        return [
            tag == NODE and value >> 32 == number and self._whole(tape, value & 0xFFFFFFFF)
            for tag, value in zip(tags, items.values.tolist(), strict=True)
        ]

    def _whole(self, tape: Tape, row: int) -> bool:
        c = tape.columns
        if (c.kind[row] & KIND) != ELEMENT:
            return True
        first, last = np.searchsorted(self.rows, (row, row + int(c.size[row]) + 1)).tolist()
        if self.lacking[first:last].any():
            return False
        local = tape.names.qname(int(c.name[row]))[1]
        own = first < len(self.rows) and self.rows[first] == row
        return own or local not in self.hollow or not self._around_lacks(tape, row)

    def _around_lacks(self, tape: Tape, row: int) -> bool:
        """Whether the payload that contains an element has empty holes."""
        while row >= 0:
            at = int(np.searchsorted(self.rows, row))
            if at < len(self.rows) and self.rows[at] == row:
                return bool(self.lacking[at])
            row = int(tape.columns.parent[row])
        return False


def sent_names(structure: TagStructure) -> frozenset[str]:
    """The names of elements that are sent as fragments."""
    return frozenset(tag.local for tag in structure.tags.values() if structure.travels(tag.id))


def hollow_names(structure: TagStructure) -> frozenset[str]:
    """The names of elements below which fragments may be missing."""
    return frozenset(
        tag.local
        for tag in structure.tags.values()
        if any(below != tag.id and structure.travels(below) for below in structure.below(tag.id))
        or tag.id in tag.children
    )
