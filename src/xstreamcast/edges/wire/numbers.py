"""Tags by numbers that are small: what a stream calls them are names, and may be any number.

Columns and tables by tag are as long as the largest number, so a structure with large ids gets
others. An id keeps its number when the structure grows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from xstreamcast.errors import error
from xstreamcast.model.structure import TagStructure
from xstreamcast.tape.layout import I32

LARGEST: Final = (1 << 16) - 1  # the largest id that is a number of its own


class TagNumbers:
    """The numbers of one stream's tags; its own ids, as long as they are small."""

    def __init__(self, renumbers: bool) -> None:
        self._renumbers = renumbers
        self._number: dict[int, int] = {}
        self._own = False  # whether ids were numbers of their own, before a large one came
        self._ids, self._places = np.zeros(0, np.int32), np.zeros(0, np.int32)

    @property
    def differ(self) -> bool:
        """Whether numbers are not what the stream calls its tags."""
        return bool(self._number)

    def structure(self, wire: TagStructure) -> TagStructure:
        """A structure by numbers; from now on `of` knows its tags."""
        if not self.differ and max(wire.tags, default=0) <= LARGEST:
            self._own = True
            return wire
        if not self._renumbers:
            raise error(
                "XSCT0001", f"tag ids up to {LARGEST} can be kept in tables and on Spark; got "
                f"{max(wire.tags)}", hint="run and watch read larger ones with --runner local",
            )  # fmt: skip
        for id in sorted(wire.tags):
            if id not in self._number:
                self._number[id] = self._next(id)
        known = sorted(self._number)
        self._ids = np.array(known, np.int32)
        self._places = np.array([self._number[id] for id in known], np.int32)
        tags = {
            self._number[id]: replace(
                tag, id=self._number[id], children=tuple(self._number[one] for one in tag.children)
            )
            for id, tag in wire.tags.items()
        }
        return replace(wire, root=self._number[wire.root], tags=tags)

    def _next(self, id: int) -> int:
        if self._own and id <= LARGEST:
            return id
        least = LARGEST if self._own else 0
        return max(least, *self._number.values(), 0) + 1

    def of(self, ids: I32) -> I32:
        """The numbers of ids that the structure has; what is no id stays so."""
        if not self.differ:
            return ids
        at = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[at] == ids, self._places[at], ids).astype(np.int32)
