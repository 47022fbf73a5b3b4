"""Operators in Spark's stateful processing: their state is logged, and rebuilt where it is lost.

Of each query one instance runs, in the partition of its name; of a query in partitions, a router
and an instance of each stage in each of them (`spread`). The store has a numbered log of what
arrived, a value with a token of its own for each batch, and the last snapshot in pieces, an Arrow
table for each thing that is kept. A worker keeps the operators
between batches, with the token of the last batch that they took in. Where other workers had batches
since, they take those in from the log; where the log does not have their token (that batch failed
and was done again, or is long gone), they are rebuilt from the snapshot.
"""

from __future__ import annotations

import json
import pickle
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from xstreamcast.edges.table.schema import arrow
from xstreamcast.errors import Error, error
from xstreamcast.model.update import RankedAnswer
from xstreamcast.spark.watching.facts import error_facts, refused_facts
from xstreamcast.spark.watching.host import Host
from xstreamcast.spark.watching.messages import Arrived

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

    from xstreamcast.model.update import Update

CHANGES: Final = (
    "query string, nth bigint, time bigint, diff int, key string, after string, item string"
)
UPDATES: Final = (
    "query string, key string, rank binary, item string, deleted boolean, time bigint, "
    "version bigint"
)
REFUSED, FAILED, SAID = "refused", "failed", "said"  # keys of rows that are no changes: diff is 0
_PIECE: Final = 4 << 20  # bytes of a snapshot in one value
_CHECK: Final = 1000  # milliseconds between two looks at the wall clock


class Kept(NamedTuple):
    """Operators, the batches of the log that they have taken in, and the token of the last one."""

    token: str
    number: int
    host: Any


class Log(NamedTuple):
    """Which state the store has, and what of it: batches by number, from the oldest kept on."""

    token: str = ""
    number: int = 0  # batches taken in so far
    first: int = 0  # the first that the snapshot does not have
    before: int = 0  # the same of the snapshot before it: older ones are of no use to anybody
    oldest: int = 0
    logged: int = 0  # bytes since the snapshot
    held: int = 0  # bytes of the snapshot
    made_for: str = ""


_KEPT: dict[tuple[Any, ...], Kept] = {}  # by run, stage and key, for as long as the worker lives


@dataclass(frozen=True, slots=True)
class Keeping:
    """How state is kept: bytes of log before a snapshot is made, and whether workers keep it."""

    least: int = 4 << 20
    in_worker: bool = True


class Stage(StatefulProcessor):
    """Something that takes batches in, of which one instance runs for each key.

    A stage says what it is made of, and what it makes of what Spark hands it.
    """

    wall = False

    def __init__(self, keeping: Keeping, made_for: str = "") -> None:
        self.keeping, self.made_for = keeping, made_for
        self.run = uuid.uuid4().hex

    def make(self, key: Any) -> Any:
        """A new instance."""
        raise TypeError(key)

    def read(self, rows: Iterator[Any]) -> Any:
        """What Spark hands in, as it is taken in."""
        raise TypeError(rows)

    def logged(self, batch: Any) -> bytes:
        """It, for the log."""
        raise TypeError(batch)

    def unlogged(self, raw: bytes) -> Any:
        """It, from the log."""
        raise TypeError(raw)

    def take(self, host: Any, batch: Any, now: int | None) -> Any:
        """Take a batch in → what came of it."""
        raise TypeError(batch)

    def rows(self, key: Any, made: Any) -> Any:
        """What came of it, as Spark takes it."""
        raise TypeError(made)

    def failed(self, key: Any, why: Error, host: Any) -> Any:
        """What is told where a batch cannot be taken in."""
        raise why

    @property
    def name(self) -> str:
        """What tells its instances from those of other stages."""
        return type(self).__name__

    # -- what Spark calls -------------------------------------------------------------------------

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._batches = handle.getMapState(
            "batches", "number bigint", "token string, now bigint, batch binary"
        )
        self._snapshot = handle.getListState("snapshot", "piece binary")
        self._log = handle.getValueState(
            "log",
            "token string, number bigint, first bigint, before bigint, oldest bigint, "
            "logged bigint, held bigint, made_for string",
        )

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        batch = self.read(rows)
        now = timerValues.getCurrentProcessingTimeInMs() * 1000 if self.wall else None
        if self.wall:
            self._set_timer(timerValues)
        yield self._step(key, batch, now)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Any]:
        now = timerValues.getCurrentProcessingTimeInMs()
        self._handle.registerTimer(now + _CHECK)
        yield self._step(key, self.read(iter(())), now * 1000)

    def close(self) -> None:
        """Nothing is open."""

    def _set_timer(self, timers: Any) -> None:
        if not any(True for _ in self._handle.listTimers()):
            self._handle.registerTimer(timers.getCurrentProcessingTimeInMs() + _CHECK)

    # -- state ------------------------------------------------------------------------------------

    def _step(self, key: Any, batch: Any, now: int | None) -> Any:
        """Take a batch in, and write down what brings the operators to where they are then."""
        told = self._log.get()
        log = None if told is None else Log(*told)
        host = self._host(key, log)
        try:
            made = self.take(host, batch, now)
        except Error as why:
            return self.failed(key, why, host)
        log = self._written(log or Log(made_for=self.made_for), batch, now, host)
        if self.keeping.in_worker:
            _KEPT[self._name(key)] = Kept(log.token, log.number, host)
        return self.rows(key, made)

    def _name(self, key: Any) -> tuple[Any, ...]:
        return self.run, self.name, *key

    def _host(self, key: Any, log: Log | None) -> Any:
        # taken out while it is worked on: what a failure leaves half done is not used again
        known = _KEPT.pop(self._name(key), None)
        if log is None:
            return self.make(key)
        if log.made_for != self.made_for:
            raise error(
                "XSCU0005",
                f"the checkpoint is that of a query {log.made_for}, not {self.made_for}",
                hint="start with an empty checkpoint, or as it was started",
            )
        if known is not None and self._is_on_the_way(known, log):
            return self._led_on(known.host, known.number, log.number)
        whole = b"".join(piece for (piece,) in self._snapshot.get())
        host = self.make(key)
        if whole:
            self.thaw(host, decompressed(whole))
        return self._led_on(host, log.first, log.number)

    def _is_on_the_way(self, known: Kept, log: Log) -> bool:
        """Whether what was kept is a state that the log goes on from."""
        if known.number >= log.number:
            return known.token == log.token
        last = self._batches.getValue((known.number - 1,))
        return last is not None and last[0] == known.token

    def _led_on(self, host: Any, first: int, last: int) -> Any:
        for number in range(first, last):
            raw, now = self.earlier(number)
            self.take(host, self.unlogged(raw), now)
        return host

    def _written(self, log: Log, batch: Any, now: int | None, host: Any) -> Log:
        entry, token = self.logged(batch), uuid.uuid4().hex
        self._batches.updateValue((log.number,), (token, now, entry))
        log = log._replace(token=token, number=log.number + 1, logged=log.logged + len(entry))
        if log.logged >= max(self.keeping.least, log.held):
            log = self._snapshot_taken(log, host)
        log = log if self.keeps_batches(host) else self._cleared(log)
        self._log.update(tuple(log))
        return log

    def _snapshot_taken(self, log: Log, host: Any) -> Log:
        """Write a snapshot; what cannot be written has its log, and is tried when that doubled."""
        raw = self.freeze(host)
        if raw is None:
            return log._replace(held=2 * log.logged)
        whole = compressed(raw)
        self._snapshot.put([(whole[at : at + _PIECE],) for at in range(0, len(whole), _PIECE)])
        return log._replace(before=log.first, first=log.number, logged=0, held=len(whole))

    def keeps_batches(self, host: Any) -> bool:
        """Whether an instance may read batches again that a snapshot has."""
        return False

    def earlier(self, number: int) -> tuple[bytes, int | None]:
        """A batch that was logged, and its clock."""
        found = self._batches.getValue((number,))
        assert found is not None
        return bytes(found[2]), found[1]

    def freeze(self, host: Any) -> bytes | None:
        """What an instance keeps, if it can be written."""
        from xstreamcast.spark.watching.kept import frozen

        return frozen(host)

    def thaw(self, host: Any, raw: bytes) -> None:
        """Give a new instance what another one kept."""
        from xstreamcast.spark.watching.kept import thaw

        thaw(host, raw)

    def _cleared(self, log: Log) -> Log:
        """Let go of a few batches that nobody needs: two for each that comes."""
        last = min(log.oldest + 2, log.before)
        for number in range(log.oldest, last):
            self._batches.removeKey((number,))
        return log._replace(oldest=max(log.oldest, last))


class Hosting(Stage):
    """All operators of a query in one place; found by name where it is unpickled."""

    def __init__(
        self, asked: dict[str, bytes], wall: bool, raises: bool, keeping: Keeping,
        updates: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(keeping)
        self.asked, self.wall, self.raises, self.updates = asked, wall, raises, updates

    def make(self, key: Any) -> Host:
        made = Host(pickle.loads(self.asked[str(key[0])]))
        made.ranked = RankedAnswer() if self.updates else None
        return made

    def read(self, rows: Iterator[Any]) -> Arrived:
        packs = [
            (str(stream), bytes(packed))
            for part in rows
            for stream, packed in zip(part["stream"], part["rows"], strict=True)
        ]
        return Arrived(packs)

    def logged(self, batch: Arrived) -> bytes:
        return batch.blob

    def unlogged(self, raw: bytes) -> Arrived:
        return Arrived.of(raw)

    def take(self, host: Host, batch: Arrived, now: int | None) -> Any:
        changes = host.take(batch.table, now)
        if host.ranked is not None:
            return ranked_updates(host.ranked, changes)
        refused, host.refused = host.refused, []
        return changes, beside(refused, host.said() if host.ended else None)

    def rows(self, key: Any, made: Any) -> Any:
        return update_rows(str(key[0]), made) if self.updates else change_rows(str(key[0]), *made)

    def failed(self, key: Any, why: Error, host: Any) -> Any:
        if self.raises:
            raise why
        return change_rows(str(key[0]), [], [failed_side(why)])


def pickled(what: Any) -> bytes:
    """What can be unpickled elsewhere; functions of users go along by value."""
    return bytes(cloudpickle.dumps(what))  # type: ignore[no-untyped-call]


def compressed(raw: bytes) -> bytes:
    """Bytes for the store: how many there are, and what zstd makes of them."""
    return len(raw).to_bytes(8, "big") + bytes(arrow().compress(raw, "zstd", asbytes=True))


def decompressed(raw: bytes) -> bytes:
    """The bytes."""
    size = int.from_bytes(raw[:8], "big")
    return bytes(arrow().decompress(raw[8:], size, "zstd", asbytes=True))


Side = tuple[None, int, str, None, str]


def side(key: str, what: Any) -> Side:
    """A row that is no change: JSON."""
    return None, 0, key, None, json.dumps(what)


def failed_side(why: Error) -> Side:
    """The error that a query stops with."""
    return side(FAILED, error_facts(why))


def beside(refused: Iterable[Any], said: Any) -> list[Side]:
    """What there is to say beside changes."""
    told = [side(REFUSED, refused_facts(one)) for one in refused]
    return told + ([] if said is None else [side(SAID, said)])


def ranked_updates(ranked: RankedAnswer, changes: list[Any]) -> list[tuple[int, Update]]:
    """What the changes of a tick come to, and its number."""
    return [(ranked.ticks, one) for one in ranked.updates(changes)]


def update_rows(query: str, made: list[tuple[int, Update]]) -> Any:
    """Updates as Spark takes them; of two of one key, the one with the greater version counts."""
    import pandas  # type: ignore[import-untyped]

    columns: dict[str, Any] = {
        "key": [one.key for _, one in made],
        "rank": [None if one.item is None else one.rank for _, one in made],
        "item": [one.item for _, one in made],
        "deleted": [one.item is None for _, one in made],
        "time": [one.instant for _, one in made],
        # a row that moves is taken back by one partition and emitted by another in the same tick
        "version": [2 * turn + (one.item is not None) for turn, one in made],
    }
    found = pandas.DataFrame(columns, dtype=object)
    found.insert(0, "query", query)
    return found.astype({"deleted": "bool", "time": "int64", "version": "int64"})


def change_rows(query: str, changes: list[Any], besides: list[Side]) -> Any:
    """Changes, and what else there is to say, as Spark takes them."""
    import pandas

    told = [(one.instant, one.diff, one.key, one.after, one.item) for one in changes] + besides
    columns: list[Any] = [list(one) for one in zip(*told, strict=True)] if told else [[]] * 5
    names = ("time", "diff", "key", "after", "item")
    made = pandas.DataFrame(dict(zip(names, columns, strict=True)), dtype=object)
    made.insert(0, "query", query)
    made.insert(1, "nth", range(len(told)))
    return made.astype({"nth": "int64", "diff": "int32", "time": "Int64"})
