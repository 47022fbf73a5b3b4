"""Operators in Spark's stateful processing: their state is logged, and rebuilt where it is lost.

Of each query one instance runs, in the partition of its name. The store has what arrived since the
last snapshot (`log`, a value for each batch), the snapshot in pieces, and a token that says which
state this is. A worker keeps the operators between batches, and uses them only if they have that
token: after a failure, or where another worker had the batch before, they are rebuilt.
"""

from __future__ import annotations

import pickle
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from xstreamcast.edges.table.schema import arrow
from xstreamcast.errors import Error, error
from xstreamcast.spark.watching_host import Host

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

CHANGES: Final = (
    "query string, nth bigint, time bigint, diff int, key string, after string, item string"
)
READ: Final = (
    "stream", "tag", "id", "operation", "valid", "zoned", "payload", "ordinal", "position", "code",
    "reason",
)  # fmt: skip
REFUSED, FAILED, SAID = "refused", "failed", "said"  # keys of rows that are no changes: diff is 0
_PIECE: Final = 4 << 20  # bytes of a snapshot in one value
_CHECK: Final = 1000  # milliseconds between two looks at the wall clock

# (run, query) → token and operators, for as long as the worker lives
_KEPT: dict[tuple[str, str], tuple[str, Host]] = {}


@dataclass(frozen=True, slots=True)
class Keeping:
    """How state is kept: bytes of log before a snapshot is made, and whether workers keep it."""

    least: int = 4 << 20
    in_worker: bool = True


class Hosting(StatefulProcessor):
    """What Spark calls for each query and batch; found by name where it is unpickled."""

    def __init__(self, asked: dict[str, bytes], wall: bool, raises: bool, keeping: Keeping) -> None:
        self.asked, self.wall, self.raises, self.keeping = asked, wall, raises, keeping
        self.run = uuid.uuid4().hex

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._log = handle.getListState("log", "now bigint, rows binary")
        self._snapshot = handle.getListState("snapshot", "piece binary")
        self._state = handle.getValueState("state", "token string, logged bigint, held bigint")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        table = _table(rows)
        now = timerValues.getCurrentProcessingTimeInMs() * 1000 if self.wall else None
        if self.wall:
            self._set_timer(timerValues)
        yield self._step(str(key[0]), table, now)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Any]:
        now = timerValues.getCurrentProcessingTimeInMs()
        self._handle.registerTimer(now + _CHECK)
        yield self._step(str(key[0]), _nothing(), now * 1000)

    def close(self) -> None:
        """Nothing is open."""

    def _set_timer(self, timers: Any) -> None:
        if not any(True for _ in self._handle.listTimers()):
            self._handle.registerTimer(timers.getCurrentProcessingTimeInMs() + _CHECK)

    # -- state ------------------------------------------------------------------------------------

    def _step(self, query: str, table: Any, now: int | None) -> Any:
        """Take a batch in, and write down what brings the operators to where they are then."""
        state = self._state.get() if self._state.exists() else None
        host = self._host(query, None if state is None else state[0])
        refused = len(host.refused)
        try:
            changes = host.take(table, now)
        except Error as failed:
            if self.raises:
                raise
            return _rows(query, [], [_side(FAILED, pickled(failed))])
        beside = [_side(REFUSED, pickle.dumps(one)) for one in host.refused[refused:]]
        beside += [_side(SAID, pickle.dumps(host.said()))] if host.ended else []
        host.refused.clear()
        token = self._written(state, table, now, host)
        if self.keeping.in_worker:
            _KEPT[self.run, query] = token, host
        return _rows(query, changes, beside)

    def _host(self, query: str, token: str | None) -> Host:
        # taken out while it is worked on: what a failure leaves half done is not used again
        known = _KEPT.pop((self.run, query), None)
        if known is not None and known[0] == token:
            return known[1]
        if token is None:
            return Host(pickle.loads(self.asked[query]))
        return self._rebuilt(query)

    def _rebuilt(self, query: str) -> Host:
        whole = b"".join(piece for (piece,) in self._snapshot.get())
        host = _restored(whole) if whole else Host(pickle.loads(self.asked[query]))
        for now, rows in self._log.get():
            host.take(_read(rows), now)
        host.refused.clear()
        return host

    def _written(self, state: Any, table: Any, now: int | None, host: Host) -> str:
        entry = _ipc(table)
        token, logged = uuid.uuid4().hex, len(entry) + (0 if state is None else int(state[1]))
        held = 0 if state is None else int(state[2])
        if logged < max(self.keeping.least, held):
            self._log.appendValue((now, entry))
        else:
            whole = _frozen(host)
            held, logged = len(whole), 0
            pieces = [(whole[at : at + _PIECE],) for at in range(0, held, _PIECE)]
            self._snapshot.put(pieces)
            self._log.clear()
        self._state.update((token, logged, held))
        return token


def pickled(what: Any) -> bytes:
    """What can be unpickled elsewhere; functions of users go along by value."""
    return bytes(cloudpickle.dumps(what))  # type: ignore[no-untyped-call]


def _frozen(host: Host) -> bytes:
    return zlib.compress(pickled((version("xstreamcast"), host)), 1)


def _restored(whole: bytes) -> Host:
    made_by, host = pickle.loads(zlib.decompress(whole))
    here = version("xstreamcast")
    if made_by != here:
        raise error(
            "XSCU0005", f"the checkpoint is that of version {made_by}; this is {here}",
            hint="start with an empty checkpoint",
        )  # fmt: skip
    assert isinstance(host, Host)
    return host


def _table(rows: Iterator[Any]) -> Any:
    pa = arrow()
    schema = _schema()
    parts = [pa.Table.from_pandas(part[list(READ)], schema, preserve_index=False) for part in rows]
    return pa.concat_tables(parts) if parts else _nothing()


def _schema() -> Any:
    from xstreamcast.edges.table.schema import row_schema

    known = row_schema()
    return arrow().schema([known.field(name) for name in READ])


def _nothing() -> Any:
    return _schema().empty_table()


def _ipc(table: Any) -> bytes:
    pa = arrow()
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _read(rows: bytes) -> Any:
    return arrow().ipc.open_stream(rows).read_all()


def _side(key: str, what: bytes) -> tuple[None, int, str, None, str]:
    return None, 0, key, None, what.hex()


def _rows(query: str, changes: list[Any], beside: list[Any]) -> Any:
    """Changes, and what else there is to say, as Spark takes them."""
    import pandas  # type: ignore[import-untyped]

    told = [(one.instant, one.diff, one.key, one.after, one.item) for one in changes] + beside
    columns: list[Any] = [list(one) for one in zip(*told, strict=True)] if told else [[]] * 5
    names = ("time", "diff", "key", "after", "item")
    made = pandas.DataFrame(dict(zip(names, columns, strict=True)), dtype=object)
    made.insert(0, "query", query)
    made.insert(1, "nth", range(len(told)))
    return made.astype({"nth": "int64", "diff": "int32", "time": "Int64"})
