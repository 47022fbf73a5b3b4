"""A query whose units are spread, in Spark's stateful processing: router, buckets, teller."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.errors import Error
from xstreamcast.spark.watching.answering import Answering
from xstreamcast.spark.watching.messages import Arrived, Back, packed, unpacked
from xstreamcast.spark.watching.route import Router
from xstreamcast.spark.watching.state import (
    CHANGES,
    FAILED,
    Hosting,
    Keeping,
    Stage,
    beside,
    change_rows,
    pickled,
    side,
)
from xstreamcast.spark.watching.units import Units

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MESSAGES: Final = "query string, slot int, message binary"


class Routing(Hosting):
    """Rows of a query's streams → a message for each bucket."""

    def __init__(
        self, asked: dict[str, bytes], wall: bool, slots: Mapping[str, list[int]], keeping: Keeping
    ) -> None:
        super().__init__(asked, wall, False, keeping)
        self.slots = slots
        self.made_for = _made_for(slots)

    def make(self, key: Any) -> Any:
        query = str(key[0])
        return Router(pickle.loads(self.asked[query]), len(self.slots[query]))

    def take(self, host: Any, batch: Arrived, now: int | None) -> Any:
        return {number: packed(one) for number, one in host.take(batch, now).items()}

    def rows(self, key: Any, made: Any) -> Any:
        query = str(key[0])
        slots = self.slots[query]
        return _frame(query, [(slots[number], one) for number, one in made.items()])

    def failed(self, key: Any, why: Error) -> Any:
        query = str(key[0])
        return _frame(query, [(self.slots[query][0], packed(why))])


class _Hearing(Stage):
    """A stage that is handed messages."""

    def __init__(
        self, asked: dict[str, bytes], slots: Mapping[str, list[int]], keeping: Keeping
    ) -> None:
        super().__init__(keeping, _made_for(slots))
        self.asked, self.slots = asked, slots

    def read(self, rows: Iterator[Any]) -> list[bytes]:
        return [bytes(one) for part in rows for one in part["message"]]

    def logged(self, batch: list[bytes]) -> bytes:
        return pickle.dumps(batch)

    def unlogged(self, raw: bytes) -> list[bytes]:
        return pickle.loads(raw)  # type: ignore[no-any-return]


class Asking(_Hearing):
    """Messages of the router → what the units of a bucket hold."""

    def make(self, key: Any) -> Units:
        query, slots = str(key[0]), self.slots[str(key[0])]
        return Units(pickle.loads(self.asked[query]), slots.index(int(key[1])), len(slots))

    def take(self, host: Units, batch: list[bytes], now: int | None) -> Any:
        given = [unpacked(raw) for raw in batch]
        for one in given:
            if isinstance(one, Error):
                raise one
        backs = [host.take(one) for one in sorted(given, key=lambda one: int(one.turn))]
        return [packed(one) for one in backs if one is not None]

    def rows(self, key: Any, made: list[bytes]) -> Any:
        return _frame(str(key[0]), [(0, one) for one in made])

    def failed(self, key: Any, why: Error) -> Any:
        return _frame(str(key[0]), [(0, packed(why))])


class Telling(_Hearing):
    """What buckets say → changes."""

    def __init__(
        self, asked: dict[str, bytes], slots: Mapping[str, list[int]], keeping: Keeping,
        raises: bool,
    ) -> None:  # fmt: skip
        super().__init__(asked, slots, keeping)
        self.raises = raises

    def make(self, key: Any) -> Answering:
        return Answering(pickle.loads(self.asked[str(key[0])]))

    def take(self, host: Answering, batch: list[bytes], now: int | None) -> Any:
        heard: list[Back | Error] = [unpacked(raw) for raw in batch]
        for one in heard:
            if isinstance(one, Error):
                raise one
        changes = host.take([one for one in heard if isinstance(one, Back)])
        refused, host.refused = host.refused, []
        said = {what: count for what, count in host.said.items() if count}
        return changes, beside(refused, said if host.ended else None)

    def rows(self, key: Any, made: Any) -> Any:
        return change_rows(str(key[0]), *made)

    def failed(self, key: Any, why: Error) -> Any:
        if self.raises:
            raise why
        return change_rows(str(key[0]), [], [side(FAILED, pickled(why))])


def _made_for(slots: Mapping[str, list[int]]) -> str:
    return f"over {max(map(len, slots.values()))} buckets"


def _frame(query: str, told: list[tuple[int, bytes]]) -> Any:
    import pandas  # type: ignore[import-untyped]

    made = pandas.DataFrame({"message": [raw for _, raw in told]}, dtype=object)
    made.insert(0, "query", query)
    made.insert(1, "slot", [slot for slot, _ in told])
    return made.astype({"slot": "int32"})


def spread_changes(
    rows: DataFrame, asked: dict[str, bytes], wall: bool, raises: bool, buckets: int,
    keeping: Keeping,
) -> DataFrame:  # fmt: skip
    """The changes of queries over rows that have a column `query`."""
    slots = _slots(rows, list(asked), buckets)
    routed = rows.groupBy("query").transformWithStateInPandas(
        Routing(asked, wall, slots, keeping), _MESSAGES, "append",
        "processingTime" if wall else "none",
    )  # fmt: skip
    found = routed.groupBy("query", "slot").transformWithStateInPandas(
        Asking(asked, slots, keeping), _MESSAGES, "append", "none"
    )
    telling = Telling(asked, slots, keeping, raises)
    return found.groupBy("query").transformWithStateInPandas(telling, CHANGES, "append", "none")


def _slots(rows: DataFrame, queries: list[str], buckets: int) -> dict[str, list[int]]:
    """Numbers for the buckets of each query, such that they are of different partitions."""
    from pyspark.sql import functions as f

    partitions = max(buckets, len(queries))
    tried = rows.sparkSession.range(16 * partitions).select(
        f.explode(f.array(*map(f.lit, queries))).alias("query"),
        f.col("id").cast("int").alias("slot"),
    )
    place = f.pmod(f.hash("query", "slot"), f.lit(partitions)).alias("place")
    found: dict[str, dict[int, list[int]]] = {query: {} for query in queries}
    for query, slot, at in tried.select("query", "slot", place).orderBy("slot").collect():
        found[query].setdefault(at, []).append(slot)
    return {query: _one_each(found[query], n, buckets) for n, query in enumerate(queries)}


def _one_each(found: dict[int, list[int]], first: int, buckets: int) -> list[int]:
    places = sorted(found)
    return [found[places[(first + n) % len(places)]].pop(0) for n in range(buckets)]


__all__ = ["Asking", "Routing", "Telling", "spread_changes"]
