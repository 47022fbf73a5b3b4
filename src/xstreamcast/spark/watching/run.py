"""A query left running on Spark, as the local runner has it: `ticks` gives the changes of each.

The changes of a batch are in the sink, and that is written down, before Spark counts the batch.
"""

from __future__ import annotations

import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, redirect_stdout
from dataclasses import dataclass, field, replace
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.algebra.analysis.infinite import refuse_blocked
from xstreamcast.edges.immutable import paths_of
from xstreamcast.edges.partitions.host import WatchRequest
from xstreamcast.edges.watching import Watching, WatchOptions
from xstreamcast.errors import error
from xstreamcast.model.counted import counted
from xstreamcast.spark.failing import failure
from xstreamcast.spark.master import refuse_connect
from xstreamcast.spark.quiet import quieten
from xstreamcast.spark.watching.changes import (
    ENDS,
    call_all,
    changes_of,
    end_all,
    kinds_of,
    rows_of,
)
from xstreamcast.spark.watching.checkpoint import (
    PARTITIONS,
    Reached,
    address,
    begin,
    other_partitions,
    partitions_before,
)
from xstreamcast.spark.watching.ending import go_back, keep_before
from xstreamcast.spark.watching.handle import PATIENCE, Handing, Running
from xstreamcast.spark.watching.inputs import Prepared, prepared
from xstreamcast.spark.watching.moving import last_batch, move_checkpoint
from xstreamcast.spark.watching.seeds import finish_move, moved_of, seeds_of
from xstreamcast.spark.watching.sink import BatchTotals, Named, Write, once_each
from xstreamcast.spark.watching.state import Keeping, pickled
from xstreamcast.spark.watching.steps import StepPlan, planned_steps
from xstreamcast.spark.watching.store import FORMAT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from xstreamcast.algebra.program import Program
    from xstreamcast.edges.sinks.forms import OutputForm
    from xstreamcast.model.change import Change

_PARTITIONS: Final = "spark.sql.shuffle.partitions"


@dataclass
class SparkWatching:
    """Queries by name, each with the programs it needs, over the same inputs."""

    spark: SparkSession
    queries: Mapping[str, Watching]
    options: WatchOptions = field(default_factory=WatchOptions)
    most: int | None = None  # fragments of a batch
    interval: str = "100 milliseconds"
    partitions: int | None = None  # of each stage of a query; None: as many tasks as run at once
    sink: Callable[[], int] = lambda: 0  # how many bytes the sink holds
    form: OutputForm | None = None  # how the caller writes changes
    journal: Reached | None = None
    totals: BatchTotals = field(default_factory=BatchTotals)
    _folder: Path | None = None
    _in: int | None = None  # partitions, while what was begun with another number is finished
    _made: Prepared | None = None
    _handed: int = 0  # of the refused fragments

    def __post_init__(self) -> None:
        if self.options.checkpoint is None:
            self._folder = Path(tempfile.mkdtemp(prefix="xstreamcast-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        else:
            self._folder = Path(self.options.checkpoint).absolute()
        finish_move(self._folder)
        begin(self._folder, self._identity())
        go_back(self._folder)
        if self.options.checkpoint is not None:
            self.journal = Reached.of(self._folder / "reached")

    def _identity(self) -> dict[str, Any]:
        """What a checkpoint belongs to: with anything else its state would mean something else."""
        options = self.options
        inputs = self._inputs().items()
        values = [one.variables for one in self.queries.values() if one.variables]
        return {
            "query": {name: one.program.source.text for name, one in self.queries.items()},
            "input": sorted([name or "", address(source)] for name, source in inputs),
            "value of a variable": sha256(pickled(values)).hexdigest() if values else "",
            "tell": options.tell,
            "policy": options.policy,
            "clock": options.clock,
            "lateness": options.lateness,
            "max-skew": options.skew,
            "immutable": list(options.immutable),
            PARTITIONS: self._many(),
            "format of state": FORMAT,
        }

    @property
    def folder(self) -> Path:
        """Where it remembers how far it came."""
        assert self._folder is not None
        return self._folder

    @property
    def programs(self) -> Mapping[str, Program]:
        """The programs of the first query."""
        return next(iter(self.queries.values())).programs

    @property
    def program(self) -> Program:
        """The program whose answer is emitted, of the first query."""
        return next(iter(self.queries.values())).program

    def streams(self) -> frozenset[str | None]:
        """The inputs that are streams of fragments."""
        inputs = self.prepared.inputs
        return frozenset(n for n, kind in kinds_of(inputs).items() if kind == "fragments")

    # -- running ----------------------------------------------------------------------------------

    def changes(self, raises: bool = True, updates: bool = False) -> DataFrame:
        """The streaming DataFrame of changes; of all messages, if it does not raise.

        `updates`: of updates, in place of changes.
        """
        inputs, ends = self.prepared.inputs, None if raises else self.folder / ENDS
        if raises and self.options.checkpoint is None and self.prepared.is_written:
            raise error(
                "XSCU0001", "an input that cannot be read twice needs a checkpoint",
                hint="watch(…, checkpoint=DIR) names the folder",
            )  # fmt: skip
        if raises and (before := self._moves_from()) is not None:
            raise other_partitions(self.folder, before, self._many())
        planned, plan = self._planned()
        many, moved = self._many(), moved_of(self.folder)
        since, keeping = moved.since, self._keeping()
        rows = rows_of(
            self.spark, inputs, most=self.most, ends=ends, parting=plan.parting(many), since=since
        )
        return changes_of(
            rows, planned, raises=raises, everything=not raises, partitions=many, plan=plan,
            updates=updates, keeping=keeping,
        )  # fmt: skip

    def _keeping(self) -> Keeping:
        every, seeds = self.options.snapshot_every, seeds_of(self.folder)
        return Keeping(seeds=seeds) if every is None else Keeping(every, seeds=seeds)

    def _planned(self) -> tuple[dict[str, WatchRequest], StepPlan]:
        """Each query with its options, and how it is cut into steps."""
        made, kinds = self.prepared, kinds_of(self.prepared.inputs)
        found = {name: self._request(one, kinds) for name, one in self.queries.items()}
        return found, planned_steps(found, made.ahead, self.folder, made.mapped)

    def _many(self) -> int:
        """In how many partitions each stage runs: as requested, else as in the checkpoint."""
        many = self._in or self.partitions or partitions_before(self.folder)
        return many or int(self.spark.sparkContext.defaultParallelism)

    def _moves_from(self) -> int | None:
        """The number of partitions of the checkpoint, if another is requested."""
        before = partitions_before(self.folder)
        return None if before == self._many() else before

    def _move(self, write: Write | None) -> None:
        """Bring the state to the requested number of partitions.

        A batch that was begun is finished with the old number if the sink may have it; `write` is
        handed it; None: the journal says whether the sink has it.
        """
        before = self._moves_from()
        if before is None:
            return
        begun, done = (last_batch(self.folder, one) for one in ("offsets", "commits"))
        in_sink = self.journal is not None and self.journal.epoch
        if begun > done and (write is not None or in_sink == moved_of(self.folder).base + begun):
            self._finish_begun(write or (lambda *_: None), before)
        planned, plan = self._planned()
        inputs = self.prepared.inputs
        move_checkpoint(self.spark, self.folder, planned, plan, inputs, before, self._many())
        call_all(self.folder / ENDS, inputs)

    def _finish_begun(self, write: Write, partitions: int) -> None:
        self._in = partitions
        try:
            query = self._begin(write, once=True)
            query.awaitTermination()
        except Exception as stopped:
            raise failure(stopped, writes=(self.folder,)) from None
        finally:
            self._in = None
        if self.totals.failed:
            raise self.totals.failed[0]

    @property
    def prepared(self) -> Prepared:
        """The inputs as Spark reads them."""
        if self._made is None:
            self._made = prepared(
                self.spark, self._inputs(), self.folder, self.options, most=self.most,
                fixed=paths_of(self.program, self.options.immutable),
                keep=self.totals.refused.append,
            )  # fmt: skip
        return self._made

    def _inputs(self) -> dict[str | None, Any]:
        needed = {name for one in self.queries.values() for name in one.inputs}
        sources = {n: s for one in self.queries.values() for n, s in one.sources.items()}
        return {name: sources[name] for name in needed}

    def _request(self, query: Watching, kinds: Mapping[str | None, Any]) -> WatchRequest:
        options = self.options
        if options.policy == "strict":
            for program in query.programs.values():
                refuse_blocked(program, streams=options.follow)
        return WatchRequest(
            query.programs,
            {name: kinds[name] for name in query.inputs},
            query.variables,
            "strict" if options.policy == "strict" else "optimistic",
            options.clock == "wall",
            options.lateness,
            options.skew,
            options.on_error,
            self.prepared.immutable(paths_of(query.program, options.immutable)),
        )

    def start(self, write: Write) -> Running:
        """Begin; `write` is handed the number of each batch and its changes."""
        self._move(write)
        return self._started(write)

    def _started(self, write: Write) -> Running:
        running = Running(self._begin(write), self)
        if self.prepared.ends:
            running.end_with(self.prepared.wait, self._end)
        return running

    def _begin(self, write: Write, once: bool = False) -> StreamingQuery:
        refuse_connect(self.spark, "a query that is left running")
        take = once_each(write, self.totals, moved_of(self.folder).base)
        written = self.changes(raises=False).writeStream.foreachBatch(take)
        written = written.option("checkpointLocation", f"file://{self.folder / 'spark'}")
        written = (
            written.trigger(once=True) if once else written.trigger(processingTime=self.interval)
        )
        quieten(self.spark)
        # one partition for each query: settings are cloned with the session when it starts
        before = str(self.spark.conf.get(_PARTITIONS))
        self.spark.conf.set(_PARTITIONS, str(max(len(self.queries), self._many())))
        try:
            return written.start()
        except Exception as stopped:
            raise failure(stopped, writes=(self.folder,)) from None
        finally:
            self.spark.conf.set(_PARTITIONS, before)

    def _end(self) -> None:
        """Say that what does not grow is over."""
        if self.options.checkpoint is not None:
            keep_before(self.folder)
        self.prepared.finish()
        names = {name for one in self.queries.values() for name in one.inputs}
        end_all(self.folder / ENDS, dict.fromkeys(names))

    def plan(self) -> str:
        """Spark's plan, as Spark prints it; nothing is run."""
        with redirect_stdout(StringIO()) as printed:
            self.changes(raises=False).explain()
        return printed.getvalue().strip()

    # -- as the local runner ----------------------------------------------------------------------

    def ticks(self) -> Generator[list[Change]]:
        """The changes of each batch that made any, to the end of all inputs."""
        for _, changes in self.batches():
            yield [change for _, change in changes]

    def batches(self) -> Iterator[tuple[int, list[Named]]]:
        """The number of each batch and its changes; it counts when the next one is requested."""
        seconds = self.options.seconds
        until = None if seconds is None else time.monotonic() + seconds
        self._move(None)
        handing = Handing()
        running = self._started(handing)
        with closing(running), closing(handing):
            while True:
                found = handing.next(PATIENCE)
                if found is not None:
                    yield from self._told(*found)
                    handing.done()
                elif not running.goes_on():
                    return
                if until is not None and time.monotonic() >= until:
                    return

    def _told(self, epoch: int, changes: list[Named]) -> Iterator[tuple[int, list[Named]]]:
        if self.journal is not None and epoch <= self.journal.epoch:
            return
        if changes:
            yield epoch, changes
        if self.journal is not None:
            changed = self.journal.changes + len(changes)
            self.journal.write(epoch, self.sink(), changed)

    def begin(self) -> None:
        """Nothing has to be recalled: Spark has the state."""

    def close(self) -> None:
        """Nothing is held: the query ends with its batches."""

    @property
    def written_before(self) -> int:
        """How many changes were written before it started again."""
        return 0 if self.journal is None else self.journal.changes

    def keep_refused(self) -> None:
        """Hand out what was refused since the last time."""
        while self._handed < len(self.totals.refused):
            self.options.keep(self.totals.refused[self._handed])
            self._handed += 1

    def report(self) -> list[str]:
        """What was emitted and kept, a line each."""
        batches = counted(self.totals.batches, "batch", "batches")
        lines = [f"{counted(self.totals.changes, 'change')} in {batches}"]
        for query, said in self.totals.said.items():
            at = f"{query}: " if len(self.queries) > 1 else ""
            lines += [
                f"{at}{what}: {n}" if ":" in what else f"{at}{n} {what}" for what, n in said.items()
            ]
        lines += self.prepared.said()
        self.keep_refused()
        if self.totals.refused:
            lines.append(f"{counted(len(self.totals.refused), 'fragment')} refused")
        return lines


def watchings(
    queries: Mapping[str, tuple[Mapping[str, Program], Mapping[str | None, Any], Any]],
    options: WatchOptions,
) -> dict[str, Watching]:
    """Programs, sources and variables of some queries, checked as the local runner checks them."""
    bare = replace(options, checkpoint=None)
    return {
        name: Watching(programs, sources, bare, variables)
        for name, (programs, sources, variables) in queries.items()
    }


__all__ = ["Reached", "Running", "SparkWatching", "watchings"]
