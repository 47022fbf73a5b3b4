"""Which fragments are in which partitions: by the links that have come so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from xstreamcast.history.columns import NamedColumns
from xstreamcast.model.column import distinct, ranges
from xstreamcast.operators.relational.stages.routing import partition_of
from xstreamcast.operators.units.history_part import FragmentPlaces

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.tape.layout import I32, I64, Bools


class FragmentPartitions:
    """A fragment is in the partitions of all units above it; a unit in that of its id."""

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions
        self.fragments = NamedColumns(id=np.int32, table=np.int32, row=np.int32, holes=np.int64)
        self.holes = NamedColumns(id=np.int32)
        self._places = FragmentPlaces(cast("History", self))
        self._in: Bools = np.zeros((partitions, 1024), np.bool_)  # by partition and id
        self._unit: I32 = np.full(1024, -1, np.int32)  # by id of a unit: its partition

    def route(
        self, batch: FragmentBatch, rooted: Bools, tables: I64, rows: I64, ids: Ids
    ) -> list[I64]:
        """Fragments that arrived → the places of what each partition has not got yet."""
        first = self._enter(batch, tables, rows)
        owner = batch.hole_fragment
        units = self._units(distinct(batch.hole_id[rooted[owner]]), ids)
        inside = ~rooted[owner]
        out = []
        for partition, known in enumerate(self._in):
            here = rooted | known[batch.id]
            children = batch.hole_id[inside & here[owner]]
            fresh = np.concatenate((children, units[self._unit[units] == partition]))
            more = self._follow(distinct(fresh), known)
            out.append(distinct(np.concatenate((first + np.flatnonzero(here), *more))))
        return out

    def _follow(self, codes: I32, known: Bools) -> list[I64]:
        """Add ids that are new to a partition, and all below them."""
        found = []
        while len(codes := codes[~known[codes]]):
            known[codes] = True
            places = self._places.all_of(codes.astype(np.int64))
            found.append(places)
            codes = distinct(self.holes["id"][ranges(*self._places.carried(places))])
        return found

    def _enter(self, batch: FragmentBatch, tables: I64, rows: I64) -> int:
        first, begin = len(self.fragments), len(self.holes)
        counts = np.bincount(batch.hole_fragment, minlength=len(batch))
        self.fragments.append(id=batch.id, table=tables, row=rows, holes=begin + np.cumsum(counts))
        if len(batch.hole_id):
            self.holes.append(id=batch.hole_id)
        self._places.catch_up()
        more = self._places.ids - len(self._unit)
        if more > 0:
            self._in = np.concatenate((self._in, np.zeros((self.partitions, more), np.bool_)), 1)
            self._unit = np.concatenate((self._unit, np.full(more, -1, np.int32)))
        return first

    def _units(self, codes: I32, ids: Ids) -> I32:
        for code in codes[self._unit[codes] < 0].tolist():
            self._unit[code] = partition_of(ids.text(code), self.partitions)
        return codes

    def rows_at(self, places: I64) -> tuple[Any, Any]:
        """(table, row) of fragments."""
        return self.fragments["table"][places], self.fragments["row"][places].astype(np.int64)
