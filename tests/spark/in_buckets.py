"""The places of a spread query in one process: what Spark does between them, without Spark."""

from __future__ import annotations

import pickle
from typing import Any

from xstreamcast.model.change import Change
from xstreamcast.spark.watching.answering import Answering
from xstreamcast.spark.watching.host import Asked
from xstreamcast.spark.watching.messages import Arrived, Back, packed, unpacked
from xstreamcast.spark.watching.packing import Packing
from xstreamcast.spark.watching.route import Router
from xstreamcast.spark.watching.state import pickled
from xstreamcast.spark.watching.units import Units


class InBuckets:
    """A query over some buckets; with `pickling` every place is elsewhere after each batch."""

    def __init__(self, asked: Asked, buckets: int, pickling: bool = False) -> None:
        self.router, self.answering = Router(asked, buckets), Answering(asked)
        self.units = [Units(asked, number, buckets) for number in range(buckets)]
        self.pickling = pickling

    def take(self, table: Any, now: int | None = None) -> list[Change]:
        """The rows of a batch → the changes."""
        packs = [row for batch in Packing()(table.to_batches()) for row in batch.to_pylist()]
        arrived = Arrived([(row["stream"], row["rows"]) for row in packs])
        given = self.router.take(arrived, now)
        backs = [self.units[number].take(unpacked(packed(one))) for number, one in given.items()]
        heard: list[Back] = [unpacked(packed(one)) for one in backs if one is not None]
        changes = self.answering.take(heard)
        if self.pickling:
            places = pickled((self.router, self.units, self.answering))
            self.router, self.units, self.answering = pickle.loads(places)
        return changes
