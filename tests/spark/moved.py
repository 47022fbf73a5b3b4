"""A query in one place or several, whose state moves to another number of partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.spark.in_partitions import InPartitions
from xstreamcast.edges.partitions.host import Host, WatchRequest
from xstreamcast.edges.partitions.kept import frozen, thaw
from xstreamcast.edges.partitions.moving import Unmoved, move
from xstreamcast.edges.partitions.packing import Parting
from xstreamcast.edges.partitions.places import QueryPlaces
from xstreamcast.edges.partitions.unit_keys import Inside
from xstreamcast.model.change import Change

Tags = Mapping[str, frozenset[int]]


class Running:
    """It reads batches; `tags` and `inside`: what is partitioned as it is read."""

    def __init__(
        self, asked: WatchRequest, partitions: int, tags: Tags | None = None,
        inside: Mapping[str, Inside] | None = None, steps: int = 4,
    ) -> None:  # fmt: skip
        self.asked, self.partitions = asked, partitions
        self.tags, self.inside, self.steps = tags, inside, steps
        self.host = Host(asked) if partitions == 1 else None
        self.spread = InPartitions(asked, partitions, steps=steps, tags=tags, inside=inside)
        self.changes: list[Change] = []
        self.deep = partitions == 1  # items have the names of one place

    def take(self, rows: Any) -> None:
        place = self.spread if self.host is None else self.host
        self.changes += place.take(rows, None)

    @property
    def places(self) -> QueryPlaces:
        if self.host is not None:
            return QueryPlaces(host=self.host)
        parting = self.spread.parting
        router = self.spread.router if parting is None else None
        found = QueryPlaces(None, router, self.spread.units, self.spread.later, log=self.spread.log)
        found.parting = parting or found.parting
        return found

    def moved(self, partitions: int) -> Running:
        """It in so many partitions, from what was written down there; Unmoved if it cannot be."""
        made = self._made(partitions)
        if partitions == 1:
            made.host = Host(self.asked, shallow=True)
        parting = Parting(partitions, self.tags or {}, self.inside or {})
        move(self.places, made.places, parting)
        return made.thawed()

    def _made(self, partitions: int) -> Running:
        made = Running(self.asked, partitions, self.tags, self.inside, self.steps)
        made.changes, made.deep = self.changes, self.deep
        return made

    def thawed(self) -> Running:
        """It from what its places wrote down."""
        made = self._made(self.partitions)
        made.spread.log = self.spread.log
        for old, new in zip(_all(self.places), _all(made.places), strict=True):
            raw = frozen(old)
            if raw is None:
                raise Unmoved("it has state that cannot be written")
            thaw(new, raw)
        return made


def _all(places: QueryPlaces) -> list[Any]:
    single = [one for one in (places.host, places.router) if one is not None]
    return [*single, *places.units, *places.later.values()]
