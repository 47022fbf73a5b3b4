"""Operators in Spark's stateful processing: their state is logged, and rebuilt where it is lost.

Of each query one instance runs, in the partition of its name; of a query in partitions, a router
and an instance of each stage in each of them (`spread`). The store has a numbered log of what
arrived, with a token of its own for each batch, and the last snapshot, an Arrow table for each
thing that is kept. A worker keeps the operators between batches, with the token of the last batch
that they took in. A worker that is handed a batch asks the one that has the operators (`peers`).
Where there is none, its own read from the log what they missed; where the log does not have
their token (that batch failed and was done again, or is long gone), they are rebuilt from the
snapshot.
"""

from __future__ import annotations

import pickle
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from xstreamcast.edges.partitions.host import Host
from xstreamcast.edges.partitions.messages import ArrivedPacks
from xstreamcast.errors import Error, error
from xstreamcast.model.update import RankedAnswer
from xstreamcast.spark.watching.emitted import (
    change_rows,
    failed_side,
    ranked_updates,
    side_rows,
    update_rows,
)
from xstreamcast.spark.watching.peers import Done, Errand, Name, give_up, is_possible, listen, sent
from xstreamcast.spark.watching.progress import counts_of, with_fact
from xstreamcast.spark.watching.seeds import SEEDED, seed_of
from xstreamcast.spark.watching.store import (
    KeyValues,
    StateLog,
    StoredBatch,
    compressed,
    decompressed,
)

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle


_CHECK: Final = 1000  # milliseconds between two looks at the wall clock


class Kept(NamedTuple):
    """Operators, the batches of the log that they have processed, and the token of the last one."""

    token: str
    number: int
    host: Any
    stage: Any  # that takes batches in, for another worker


_KEPT: dict[tuple[Any, ...], Kept] = {}  # by run, stage and key, for as long as the worker lives
_WORKING: Final = threading.Lock()  # operators of one place at a time


@dataclass(frozen=True, slots=True)
class Keeping:
    """How state is kept: bytes of log before a snapshot is made, and whether workers keep it.

    `seeds`: the folder of state that was moved here.
    """

    least: int = 4 << 20
    in_worker: bool = True
    seeds: Path | None = None


class Stage(StatefulProcessor):
    """Something that takes batches in, of which one instance runs for each key.

    A stage says what it is made of, and what it makes of what Spark hands it.
    """

    wall = False
    reports = True  # it reports its progress, in a row of its own
    can_be_asked = True  # to process a batch that another worker received

    def __init__(self, keeping: Keeping, made_for: str = "") -> None:
        self.keeping, self.made_for = keeping, made_for
        self.run = uuid.uuid4().hex

    def make(self, key: Any) -> Any:
        """A new instance."""
        raise TypeError(key)

    def read(self, rows: Iterator[Any]) -> Any:
        """The rows that Spark passes, in the form in which they are processed."""
        raise TypeError(rows)

    def logged(self, batch: Any) -> bytes:
        """It, for the log."""
        raise TypeError(batch)

    def unlogged(self, raw: bytes) -> Any:
        """It, from the log."""
        raise TypeError(raw)

    def carried(self, batch: Any, logged: bytes) -> Any:
        """It, for another worker: all of it, where the log has less."""
        return logged

    def uncarried(self, given: Any) -> Any:
        """It, from another worker."""
        return self.unlogged(given)

    def take(self, host: Any, batch: Any, now: int | None) -> Any:
        """Process a batch → its results."""
        raise TypeError(batch)

    def rows(self, key: Any, made: Any) -> Any:
        """What came of it, as Spark takes it."""
        raise TypeError(made)

    def changes_in(self, made: Any) -> int:
        """How many changes came of it, or messages for other stages."""
        return len(made)

    def failed(self, key: Any, why: Error, host: Any) -> Any:
        """The message if a batch cannot be processed."""
        raise why

    @property
    def name(self) -> str:
        """What distinguishes its instances from those of other stages."""
        return type(self).__name__

    # -- what Spark calls -------------------------------------------------------------------------

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle, self._store = handle, KeyValues(handle)

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
        """Process a batch, and write down what brings the operators to the state after it."""
        self._key, log = key, self._store.log() or self._seeded(key)
        name, entry = self._name(key), StoredBatch(uuid.uuid4().hex, now, self.logged(batch))
        if log is not None and self._is_elsewhere(name, log):
            given, due = self.carried(batch, entry.raw), self._is_due(log, entry)
            errand = Errand(name, log.token, entry.token, given, now, due)
            done = sent(errand)
            if done is not None:
                log = self._written(log, entry, lambda: done.snapshot, clears=True)
                return self._with_fact(key, done.rows, done.counts, log)
        with _WORKING:
            host = self._host(key, log)
            before = counts_of(host)
            try:
                made = self.take(host, batch, now)
            except Error as why:
                return self.failed(key, why, host)
            log = log or StateLog(made_for=self.made_for, stage=self.name)
            clears = not self.keeps_batches(host)
            log = self._written(log, entry, lambda: self._frozen(host), clears)
            self._keep(name, log, host)
            counts = self._counted(host, before, made)
            return self._with_fact(key, self.rows(key, made), counts, log)

    def _counted(self, host: Any, before: dict[str, int], made: Any) -> dict[str, int]:
        """What a batch came to, but for the bytes of state."""
        seen = {name: count - before[name] for name, count in counts_of(host).items()}
        return seen | {"changes": self.changes_in(made)}

    def _with_fact(self, key: Any, rows: Any, counts: dict[str, int], log: StateLog) -> Any:
        if not self.reports:
            return rows
        return with_fact(rows, str(key[0]), counts | {"stateBytes": log.held + log.logged})

    def _is_elsewhere(self, name: Name, log: StateLog) -> bool:
        """Whether another worker may have the operators, where the log is."""
        if not self.can_be_asked or not self.keeping.in_worker or not is_possible():
            return False
        known = _KEPT.get(name)
        return log.made_for == self.made_for and (known is None or known.token != log.token)

    def _keep(self, name: Name, log: StateLog, host: Any) -> None:
        if not self.keeping.in_worker:
            return
        _KEPT[name] = Kept(log.token, log.number, host, self)
        if self.can_be_asked and is_possible():
            listen(name, done_here)

    def _name(self, key: Any) -> Name:
        return self.run, self.name, *key

    def _host(self, key: Any, log: StateLog | None) -> Any:
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
        whole = self._store.snapshot(log)
        if not whole and (seed := seed_of(self.keeping.seeds, self.name, key)) is not None:
            whole = seed.snapshot
        host = self.make(key)
        if whole:
            self.thaw(host, decompressed(whole))
        return self._led_on(host, log.first, log.number)

    def _is_on_the_way(self, known: Kept, log: StateLog) -> bool:
        """Whether what was kept is a state that the log continues from."""
        if known.number >= log.number:
            return known.token == log.token
        last = self._store.batch(known.number - 1)
        return last is not None and last.token == known.token

    def _led_on(self, host: Any, first: int, last: int) -> Any:
        for number in range(first, last):
            raw, now = self.earlier(number)
            self.take(host, self.unlogged(raw), now)
        return host

    def _written(
        self, log: StateLog, entry: StoredBatch, frozen: Callable[[], bytes | None], clears: bool
    ) -> StateLog:
        """Write a batch down; and a snapshot, if one is due.

        What cannot be written has its log, and is tried when that doubled.
        """
        self._store.write_batch(log.number, entry)
        due, logged = self._is_due(log, entry), log.logged + len(entry.raw)
        log = log._replace(token=entry.token, number=log.number + 1, logged=logged)
        if due:
            whole = frozen()
            log = (
                log._replace(held=2 * log.logged)
                if whole is None
                else self._store.write_snapshot(log, whole)
            )
        log = self._cleared(log) if clears else log
        self._store.write_log(log)
        return log

    def _is_due(self, log: StateLog, entry: StoredBatch) -> bool:
        return log.logged + len(entry.raw) >= max(self.keeping.least, log.held)

    def _frozen(self, host: Any) -> bytes | None:
        raw = self.freeze(host)
        return None if raw is None else compressed(raw)

    def done_for(self, known: Kept, errand: Errand) -> Done:
        """Process a batch that another worker received."""
        before = counts_of(known.host)
        made = self.take(known.host, self.uncarried(errand.given), errand.now)
        counts, rows = self._counted(known.host, before, made), self.rows(errand.name[2:], made)
        return Done(rows, counts, self._frozen(known.host) if errand.freezes else None)

    def keeps_batches(self, host: Any) -> bool:
        """Whether an instance may read batches again that a snapshot has."""
        return False

    def earlier(self, number: int) -> tuple[bytes, int | None]:
        """A batch that was logged, and its clock."""
        found = self._store.batch(number)
        if found is not None:
            return found.raw, found.now
        seed = seed_of(self.keeping.seeds, self.name, self._key)
        assert seed is not None
        return seed.batches[number]

    def _seeded(self, key: Any) -> StateLog | None:
        """The log of a place to which state was moved, and that nothing has come to since."""
        seed = seed_of(self.keeping.seeds, self.name, key)
        if seed is None:
            return None
        many, made_for = len(seed.batches), self.made_for
        return StateLog(
            SEEDED, many, many, held=len(seed.snapshot), made_for=made_for, stage=self.name
        )

    def freeze(self, host: Any) -> bytes | None:
        """What an instance keeps, if it can be written."""
        from xstreamcast.edges.partitions.kept import frozen

        return frozen(host)

    def thaw(self, host: Any, raw: bytes) -> None:
        """Give a new instance what another one kept."""
        from xstreamcast.edges.partitions.kept import thaw

        thaw(host, raw)

    def _cleared(self, log: StateLog) -> StateLog:
        """Drop a few batches that are no longer needed: two for each that comes."""
        last = min(log.oldest + 2, log.before)
        for number in range(log.oldest, last):
            self._store.remove_batch(number)
        return log._replace(oldest=max(log.oldest, last))


def done_here(errand: Errand) -> Done | None:
    """Do what another worker asks; None: it has to do that itself."""
    if not _WORKING.acquire(blocking=False):
        return None  # two at once gain nothing: who asks has a processor of its own
    try:
        known = _KEPT.get(errand.name)
        if known is None or known.token != errand.before:
            give_up(errand.name)
            return None
        del _KEPT[errand.name]  # what a failure leaves half done is not used again
        done: Done = known.stage.done_for(known, errand)
        _KEPT[errand.name] = known._replace(token=errand.token, number=known.number + 1)
        return done
    except Exception:
        return None  # the requester does the same, and fails where the user sees the error
    finally:
        _WORKING.release()


class Hosting(Stage):
    """All operators of a query in one place; found by name where it is unpickled."""

    def __init__(
        self, requests: dict[str, bytes], wall: bool, raises: bool, keeping: Keeping,
        updates: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(keeping)
        self.requests, self.wall, self.raises, self.updates = requests, wall, raises, updates

    def make(self, key: Any) -> Host:
        made = Host(pickle.loads(self.requests[str(key[0])]))
        made.ranked = RankedAnswer() if self.updates else None
        return made

    def read(self, rows: Iterator[Any]) -> ArrivedPacks:
        packs = [
            (str(stream), bytes(packed))
            for part in rows
            for stream, packed in zip(part["stream"], part["rows"], strict=True)
        ]
        return ArrivedPacks(packs)

    def logged(self, batch: ArrivedPacks) -> bytes:
        return batch.blob

    def unlogged(self, raw: bytes) -> ArrivedPacks:
        return ArrivedPacks.of(raw)

    def take(self, host: Host, batch: ArrivedPacks, now: int | None) -> Any:
        changes = host.take(batch.table, now)
        if host.ranked is not None:
            return ranked_updates(host.ranked, changes)
        refused, host.refused = host.refused, []
        return changes, side_rows(refused, host.said() if host.ended else None)

    def rows(self, key: Any, made: Any) -> Any:
        return update_rows(str(key[0]), made) if self.updates else change_rows(str(key[0]), *made)

    def changes_in(self, made: Any) -> int:
        return len(made if self.updates else made[0])

    def failed(self, key: Any, why: Error, host: Any) -> Any:
        if self.raises:
            raise why
        return change_rows(str(key[0]), [], [failed_side(why)])


def pickled(what: Any) -> bytes:
    """What can be unpickled elsewhere; functions of users go along by value."""
    return bytes(cloudpickle.dumps(what))  # type: ignore[no-untyped-call]
