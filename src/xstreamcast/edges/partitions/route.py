"""Where fragments go: each to the partitions of the units that contain it.

A fragment does not say which unit it belongs to; its parents do, and they may come later. So links
are kept here. What has arrived stays in the log of the state store, and is read there again only if
a fragment turns out to belong elsewhere too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra.analysis.timing import reached
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.stages import why_one_partition
from xstreamcast.edges.partitions.host import Reading, WatchRequest
from xstreamcast.edges.partitions.links import FragmentPartitions
from xstreamcast.edges.partitions.messages import ArrivedPacks, Given, Part, Sent, Whole
from xstreamcast.edges.table.schema import EOS, STRUCTURE, arrow
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.fragment import Arrival, Ended, FragmentBatch, Heartbeat, NewStructure
from xstreamcast.model.instant import START
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.feeds.fragments import FragmentFeed, plans_ahead
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.units.evaluating import BEFORE
from xstreamcast.operators.watching.watch import Watch

if TYPE_CHECKING:
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
    from xstreamcast.tape.layout import I64, Bools


class _Turned(Exception):
    """From here on the query is in one place."""


def why_at_all(request: WatchRequest) -> str | None:
    """Why a query is in one place, whatever the structures of its streams are."""
    if len(request.programs) > 1:
        return "it reads the answers of declared streams"
    if any(kind != "fragments" for kind in request.kinds.values()):
        return "it reads documents"
    if request.immutable:
        return "units that will not change are dropped where all of them are seen"
    return None


class RoutedPlan(Watch):
    """The plan of a query, and the roots of its streams; units are elsewhere."""

    def _feed_of(self, name: str, structure: TagStructure, ids: Ids | None) -> ForgettingFeed:
        feed = super()._feed_of(name, structure, ids)
        feed.mine = _nobody
        return feed


Earlier = Callable[[int], tuple[bytes, "int | None"]]  # a batch by its number, and its clock


class Router(Reading):
    """Tables of rows in, a message for each bucket out; what cannot be spread goes to the first.

    `earlier` gives batches that arrived before, by their number.
    """

    earlier: Earlier

    def __init__(self, request: WatchRequest, partitions: int) -> None:
        self.partitions, self.turn, self.now = partitions, 0, BEFORE
        self.why = why_at_all(request)  # why all of it is in one place
        self.spread: frozenset[str] | None = None  # streams whose units are partitioned, if known
        program = next(iter(request.programs.values()))
        kinds = request.kinds if self.why is None else {}
        self.plan = RoutedPlan(
            program, kinds, variables=request.variables, policy=request.policy, shallow=True
        )
        self.ended: set[str | None] = set()
        self.arrived = 0  # how many batches came
        self._read = 0  # how many of these were read
        self._ends_at: list[int] = []  # by batch that was read: the number of the row behind it
        self.rebuilt = False  # the log begins with what was kept, not with all that arrived
        self._sent = False  # whether anything was sent to partitions
        self._over: set[str] = set()
        self._newest: dict[str, tuple[int, bool]] = {}
        self._links: dict[str, FragmentPartitions] = {}
        self._parts: list[list[Part]] = [[] for _ in range(partitions)]
        self._number = 0  # of the batch that is being read
        self._table: Any = None  # its rows
        self._reach = max(map(reached, request.programs.values()))  # of projections
        super().__init__(request, self)

    @property
    def names(self) -> Any:
        """Those of all that is read here."""
        return self.plan.names

    def take(self, arrived: ArrivedPacks, now: int | None) -> dict[int, Given]:
        """The rows of a batch, and the wall clock if it counts → the messages of each bucket."""
        self.turn += 1
        self.arrived += 1
        if self.why is not None:
            return {0: Whole(self.turn, ((arrived.blob, now),))}
        try:
            if self.spread is None and not self._begins(arrived.table):
                return {} if self.why is None else self._in_one_place(arrived, now)
            for number in range(self._read, self.arrived):
                self._take_table(number, self._rows_of_batch(number, arrived))
        except _Turned as turned:
            self.why = str(turned)
            return self._in_one_place(arrived, now)
        self._read = self.arrived
        if self.request.wall and now is not None:
            self.reach(Moment(now, True))
        return self._messages()

    def _begins(self, table: Any) -> bool:
        """Whether the structures of all streams are known; what comes before them waits."""
        pc = arrow().compute
        said = table.filter(pc.equal(table["operation"], STRUCTURE)).sort_by("ordinal")
        both = zip(said["stream"].to_pylist(), said["payload"].to_pylist(), strict=True)
        for stream, payload in both:
            decoder = self._arriving[stream].decoder
            if isinstance(decoder, Decoder) and decoder.structure is None:
                self._feed(stream, payload)
        ends = table.filter(pc.equal(table["operation"], EOS))
        self._over |= set(ends["stream"].to_pylist())
        if self.plan.pipeline is None and self._over >= set(map(str, self.request.kinds)):
            self.why = "a stream has no tag structure"
        return self.plan.pipeline is not None

    def _rows_of_batch(self, number: int, last: ArrivedPacks) -> Any:
        is_last = number == self.arrived - 1
        return last.table if is_last else ArrivedPacks.of(self.earlier(number)[0]).table

    def _in_one_place(self, last: ArrivedPacks, now: int | None) -> dict[int, Given]:
        """All that arrived, to the first partition; the others drop what they have."""
        tables = (*map(self.earlier, range(self.arrived - 1)), (last.blob, now))
        anew, self._sent, self._links = self._sent, False, {}
        self.refused = []
        rest = range(1, self.partitions) if anew else ()
        return {0: Whole(self.turn, tables, anew), **{b: Whole(self.turn, (), anew) for b in rest}}

    def _messages(self) -> dict[int, Given]:
        parts, self._parts = self._parts, [[] for _ in range(self.partitions)]
        refused, self.refused = tuple(self.refused), []
        assert self.spread is not None
        newest = {name: self._newest.get(name, (START, False)) for name in self.spread}
        beside = self._counted() if self.ended >= set(self.request.kinds) else {}
        made: dict[int, Given] = {}
        self._sent = True
        for number, mine in enumerate(parts):
            if mine or number == 0 or self._clocked():
                reported = (refused, beside) if number == 0 else ((), {})
                made[number] = Sent(self.turn, self.now, newest, tuple(mine), *reported)
        return made

    def _counted(self) -> dict[str, int]:
        """What did not count; of the root, which all partitions have, what only one may count."""
        twice = {n: (self.partitions - 1) * self.plan.repeated(n) for n in self.spread or ()}
        return self.counted() | {f"{n}: repeated": -count for n, count in twice.items() if count}

    def _clocked(self) -> bool:
        """Whether units may change though nothing comes."""
        return any(one.clock or any(i.clock for i in one.inner) for one in self._units())

    def _units(self) -> list[c.Units]:
        nodes = in_order(self.circuit.root)
        return [node for node in nodes if isinstance(node, c.Units)]

    @property
    def circuit(self) -> c.Circuit:
        """The circuit of the query."""
        assert isinstance(self.plan.pipeline, CircuitRun)
        return self.plan.pipeline.circuit

    # -- arrivals ---------------------------------------------------------------------------------

    def _take_table(self, number: int, table: Any) -> None:
        self._number, self._table = number, table.combine_chunks()
        begin = self._ends_at[-1] if self._ends_at else 0
        self._ends_at.append(begin + table.num_rows)
        self.take_rows(self._table)

    def _take_fragments(self, name: str, rows: Any, at: I64) -> None:
        numbers = at + (self._ends_at[-1] - self._table.num_rows)
        self._arriving[name].take_rows(rows, self, self._limits(), numbers)  # type: ignore[arg-type]

    def on_arrivals(self, name: str, found: Iterable[Arrival], ids: Ids | None = None) -> None:
        """What a reader has made of rows."""
        for one in found:
            match one:
                case NewStructure(structure):
                    self.plan.on_arrivals(name, [one], ids)
                    self._decide()
                    self._to_all(("described", name, structure, self.now))
                case FragmentBatch():
                    self._route(name, one, ids)
                case Heartbeat(instant):
                    self._read_until(Moment(instant))
                case Ended():
                    self.on_end(name)
                case _:
                    pass

    def on_end(self, name: str | None) -> None:
        """A stream is over."""
        if name not in self.ended:
            self.ended.add(name)
            self._to_all(("ended", str(name)))

    def reach(self, now: Moment) -> None:
        """The clock says so; it never goes back."""
        if now.instant > self.now.instant:
            self.now = now

    def _read_until(self, now: Moment) -> None:
        """What arrives moves the clock, if it is not that on the wall."""
        if not self.request.wall:
            self.reach(now)

    def _decide(self) -> None:
        """Find out by whose units the query is partitioned, or why it is not."""
        if self.plan.pipeline is None:
            return
        if not isinstance(self.plan.pipeline, CircuitRun):
            raise _Turned("it reads documents")
        why = why_one_partition(self.circuit, self.request.policy == "strict")
        streams = self._streams()
        if why is None and self.spread not in (None, streams):
            why = "it reads the units of other streams now"
        if why is not None:
            raise _Turned(why)
        self.spread = streams
        for name in streams:
            self._links.setdefault(name, FragmentPartitions(self.partitions))

    def _streams(self) -> frozenset[str]:
        return frozenset(str(one.input) for one in self._units())

    def _route(self, name: str, batch: FragmentBatch, ids: Ids | None) -> None:
        clock = batch.clock
        at = len(clock) - 1 - int(np.argmax(clock[::-1])) if len(batch) else -1
        if at >= 0 and clock[at] >= self._newest.get(name, (START, False))[0]:
            self._newest[name] = int(clock[at]), batch.is_clock_zoned(at)
            self._read_until(Moment(*self._newest[name]))
        if self._reach > self.now.instant and plans_ahead(batch, self.now.instant):
            raise _Turned("a projection may see states that are planned")
        if batch.within is not None and (batch.within >= 0).any():
            raise _Turned("units that name their parents are ordered where all of them are seen")
        tables, rows = self._places_of(batch)
        if name not in (self.spread or ()):
            self._to_all(("fragments", name, self._rows_at(tables, rows)))
            return
        feed = self.plan._feeds[name]
        assert isinstance(feed, FragmentFeed)
        rooted: Bools = np.equal(batch.tsid, feed.history.structure.root)
        if rooted.any():
            self._root(name, batch.some(rooted), ids)
        assert ids is not None
        links = self._links[name]
        for bucket, places in enumerate(links.route(batch, rooted, tables, rows, ids)):
            if len(places):
                self._parts[bucket].append(
                    ("fragments", name, self._rows_at(*links.rows_at(places)))
                )

    def _places_of(self, batch: FragmentBatch) -> tuple[I64, I64]:
        """(batch, row) of fragments: those that waited for a structure came in earlier ones."""
        assert batch.row is not None
        ends = np.array(self._ends_at, np.int64)
        tables = np.searchsorted(ends, batch.row, "right")
        return tables, batch.row - np.where(tables > 0, ends[tables - 1], 0)

    def _root(self, name: str, batch: FragmentBatch, ids: Ids | None) -> None:
        """The root, which must be one that can be cut."""
        self.plan.on_arrivals(name, [batch], ids)
        feed = self.plan._feeds[name]
        assert isinstance(feed, FragmentFeed)
        try:
            feed.take()
        except Forbidden as why:
            raise _Turned(str(why)) from None

    def _rows_at(self, tables: I64, rows: I64) -> Any:
        """Rows of this batch and of earlier ones, in order."""
        found = []
        for number in np.unique(tables).tolist():
            is_now = number == self._number
            table = self._table if is_now else ArrivedPacks.of(self.earlier(number)[0]).table
            found.append(table.take(rows[tables == number]))
        return arrow().concat_tables(found)

    def _to_all(self, part: Part) -> None:
        for parts in self._parts:
            parts.append(part)


def _nobody(text: str) -> bool:
    return False
