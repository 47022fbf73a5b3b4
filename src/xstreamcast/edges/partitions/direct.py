"""A partition of units that reads its own fragments: no router is before it.

Fragments that are whole units are partitioned by their ids as they are read, and fragments inside
of units by the unit that they name. What all partitions need (roots, structures, ends, and what the
clock has come to) each of them is handed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.stages import why_one_partition
from xstreamcast.edges.partitions.host import Reading, WatchRequest
from xstreamcast.edges.partitions.messages import Part, Sent, framed, unframed
from xstreamcast.edges.partitions.packing import EVERYONE, read_schema, rows_in
from xstreamcast.edges.partitions.unit_keys import HINT, KnownUnits
from xstreamcast.edges.partitions.units import UnitPartition
from xstreamcast.edges.table.schema import EOS, arrow
from xstreamcast.errors import DataPlace, error
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.fragment import Ended, FragmentBatch, NewStructure
from xstreamcast.model.instant import START
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.feeds.fragments import FragmentFeed

if TYPE_CHECKING:
    from xstreamcast.edges.partitions.later import Addressed
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.model.fragment import Arrival
    from xstreamcast.operators.watching.partition import PartitionWatch
    from xstreamcast.tape.names import Names


class Pack(NamedTuple):
    """Rows of a stream for one partition or all, and how late it is by what a task read."""

    stream: str
    part: int
    rows: bytes
    newest: int  # START: of nothing
    zoned: bool
    links: bytes | None = None  # what was said of the units of ids that belong to this partition


class PartArrived:
    """What arrived in a batch for one partition."""

    def __init__(self, packs: Sequence[Pack]) -> None:
        self.packs = list(packs)

    def rows(self, shared: bool) -> Any:
        """The rows that all partitions have, or those of this one alone."""
        mine = [one for one in self.packs if (one.part == EVERYONE) is shared]
        tables = [rows_in(one.stream, one.rows) for one in mine]
        return arrow().concat_tables([read_schema().empty_table(), *tables])

    @cached_property
    def blob(self) -> bytes:
        found = list[bytes]()
        for p in self.packs:
            links = [] if p.links is None else [p.links]
            head = json.dumps([p.stream, p.part, p.newest, p.zoned, len(links)])
            found += [head.encode(), p.rows, *links]
        return framed(found)

    @staticmethod
    def of(blob: bytes) -> PartArrived:
        parts, packs = iter(unframed(blob)), []
        for head in parts:
            stream, part, newest, zoned, *linked = json.loads(head)
            rows = next(parts)
            links = next(parts) if linked and linked[0] else None
            packs.append(Pack(stream, part, rows, newest, zoned, links))
        return PartArrived(packs)


class DirectUnits(UnitPartition):
    """The first stage of a query in one partition: rows of its units in, rows for others out.

    `keyed`: the streams in which each fragment names its unit.
    """

    def __init__(
        self, request: WatchRequest, number: int, partitions: int, steps: int, emits: bool = False,
        keyed: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        super().__init__(request, number, partitions, steps, emits)
        assert self.watch is not None
        self.reading = Reading(request, _Heard(self.watch, keyed))
        self.known = {name: KnownUnits(name) for name in sorted(keyed)}
        self.now = self.watch.now
        self.newest: dict[str, tuple[int, bool]] = {}
        self.twice: dict[str, int] = {}  # repetitions of what every partition has

    def take_batch(self, arrived: PartArrived, now: int | None) -> list[Addressed]:
        """What arrived here → what later stages are handed."""
        self.turn += 1
        heard = self.reading.watch
        heard.now = self._clock(arrived.packs, now)
        try:
            self._hear_links(arrived.packs)
            self._read(arrived)
            parts, heard.parts = tuple(heard.parts), []
            return self.asked_units(
                Sent(self.turn, self.now, self._newest(), parts, self._refused(), self._counted())
            )
        except Forbidden as why:
            raise error(
                "XSCU0005", f"the query cannot be partitioned any longer: {why}",
                hint="start it with --partitions 1 and an empty checkpoint",
            ) from None  # fmt: skip

    def _hear_links(self, packs: Iterable[Pack]) -> None:
        for one in packs:
            if one.links is not None and one.part == self.number and one.stream in self.known:
                self.known[one.stream].take(arrow().ipc.open_stream(one.links).read_all())

    def _read(self, arrived: PartArrived) -> None:
        """What all have first, because it has the structures; ends last."""
        pc, shared = arrow().compute, arrived.rows(shared=True)
        ends = pc.equal(shared["operation"], EOS)
        before = self._repeated()
        self.reading.watch.shared = True
        self.reading.take_rows(shared.filter(pc.invert(ends)))
        self.reading.watch.shared = False
        for name, count in self._repeated().items():
            self.twice[name] = self.twice.get(name, 0) + count - before.get(name, 0)
        self.reading.take_rows(arrived.rows(shared=False))
        self.reading.take_rows(shared.filter(ends))

    def _clock(self, packs: Iterable[Pack], wall: int | None) -> Moment:
        """What the clock has come to, by all that was read anywhere."""
        for one in packs:
            if one.newest == START:
                continue
            if one.newest >= self.newest.get(one.stream, (START, False))[0]:
                self.newest[one.stream] = one.newest, one.zoned
            if one.newest > self.now.instant and not self.request.wall:
                self.now = Moment(one.newest, one.zoned)
        if self.request.wall and wall is not None and wall > self.now.instant:
            self.now = Moment(wall, True)
        return self.now

    def _newest(self) -> dict[str, tuple[int, bool]]:
        return {
            str(name): self.newest.get(str(name), (START, False)) for name in self.request.kinds
        }

    def _refused(self) -> tuple[Any, ...]:
        """What was refused, each said by one partition: that of its id."""
        assert self.watch is not None
        refused, self.reading.refused = self.reading.refused, []
        first = self.number == 0
        mine = self.watch.mine
        return tuple(
            one for one in refused if (first if one.fragment is None else mine(one.fragment))
        )

    def _repeated(self) -> dict[str, int]:
        assert self.watch is not None
        return {str(name): self.watch.repeated(name) for name in self.request.kinds}

    def _counted(self) -> dict[str, int]:
        """What did not count; of what all partitions have, only one counts."""
        assert self.watch is not None
        if self.number == 0 or not self.watch.ended >= set(self.watch.kinds):
            return {}
        run = self.watch.pipeline
        spread = run.driven if run is not None else ()
        twice = {name: count for name, count in self.twice.items() if count and name in spread}
        return {f"{name}: repeated": -count for name, count in twice.items()}


class _Heard:
    """A watch, and what was said to it of structures and ends."""

    def __init__(self, watch: PartitionWatch, keyed: frozenset[str] = frozenset()) -> None:
        self._watch, self.parts = watch, list[Part]()
        self._keyed, self.shared = keyed, False
        self.now = watch.now

    @property
    def names(self) -> Names:
        """Those of the watch."""
        return self._watch.names

    def on_arrivals(self, name: str, found: Iterable[Arrival], ids: Ids | None = None) -> None:
        """Something has come on a stream."""
        for one in found:
            match one:
                case NewStructure(structure):
                    self._watch.reach(self.now)
                    self.parts.append(("described", name, structure, self.now))
                case Ended() if name not in self._watch.ended:
                    self.parts.append(("ended", name))
                case FragmentBatch():
                    self._check(name, one, ids)
                case _:
                    pass
            self._watch.on_arrivals(name, [one], ids)
            if isinstance(one, NewStructure):
                self._check_circuit()

    def _check_circuit(self) -> None:
        """Another structure may make another circuit: one that is partitioned, too."""
        run = self._watch.pipeline
        nodes = () if run is None else in_order(run.circuit.root)
        if run is None or not any(isinstance(node, c.Units) for node in nodes):
            return  # no units have come: a feed says the tags of units when the first of them do
        why = why_one_partition(run.circuit, self._watch.policy == "strict")
        if why is not None:
            raise Forbidden(why)

    def on_end(self, name: str | None) -> None:
        """A stream is over."""
        self.on_arrivals(str(name), [Ended()])

    def _check(self, name: str, batch: FragmentBatch, ids: Ids | None) -> None:
        """What is held must be sent here, too: where it names its unit, or there is none."""
        feed = self._watch._feeds.get(name)
        if not len(batch.hole_fragment) or not isinstance(feed, FragmentFeed) or ids is None:
            return
        if name in self._keyed and not self.shared:
            return
        owners = batch.tsid[batch.hole_fragment] != feed.history.structure.root
        if owners.any():
            at = int(batch.hole_fragment[owners.argmax()])
            place = DataPlace(name, ids.text(int(batch.id[at])), int(batch.offset[at]))
            said = _NO_UNIT if name in self._keyed else _HOLDS
            raise error("XSCU0005", said, at=place, hint=HINT)


_HOLDS: Final = "a fragment holds others, and by the tag structure it holds none"
_NO_UNIT: Final = (
    "a fragment inside of a unit holds others, and does not name its unit as other fragments of "
    "the stream do (attribute unit)"
)
