"""A partition of units: the root of a stream, and some of its units, evaluated here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from xstreamcast.edges.partitions.host import Host, WatchRequest
from xstreamcast.edges.partitions.later import Addressed, Turned, another_place, step_of
from xstreamcast.edges.partitions.messages import ArrivedPacks, Given, Handed, Part, Sent, Whole
from xstreamcast.edges.table.scanning import taken_rows
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.fragment import FragmentBatch, NewStructure
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.relational.stages.staged import UnitStage
from xstreamcast.operators.units.evaluating import BEFORE
from xstreamcast.operators.watching.partition import PartitionWatch

if TYPE_CHECKING:
    from xstreamcast.model.fragment import Refused
    from xstreamcast.operators.relational.failing import Order
    from xstreamcast.operators.relational.stages.exchanged import Exchanged, To
    from xstreamcast.operators.relational.stages.staged import StageOutput
    from xstreamcast.tape.names import Names


class UnitPartition:
    """The first stage of a query in one partition: messages of the router in, rows out."""

    def __init__(
        self, request: WatchRequest, number: int, partitions: int, steps: int, emits: bool = False
    ) -> None:
        self.request, self.number, self.partitions, self.steps = request, number, partitions, steps
        self.emits, self.updates = emits, list[Turned]()
        self.turn = 0
        self.refused: list[Refused] = []  # the router reports what is refused
        self.whole: Host | None = None  # of a query that is in one place
        self.watch = self._watch()
        self._decoders: dict[str, Decoder] = {}

    def _watch(self) -> PartitionWatch | None:
        if len(self.request.programs) > 1:
            return None
        (program,) = self.request.programs.values()
        made = PartitionWatch(
            program,
            self.request.kinds,
            variables=self.request.variables,
            policy=self.request.policy,
        )
        made.partition, made.partitions, made.most = self.number, self.partitions, self.steps
        made.emits, made.told_time = self.emits, not self.request.wall
        return made

    def take(self, given: Given) -> list[Addressed]:
        """What the router says → what later stages are handed."""
        if isinstance(given, Whole):
            found = self._in_one_place(given)
            return [] if found is None else [((self.steps - 1, 0), found)]
        assert self.watch is not None
        for part in given.parts:
            self._take(part)
        return self.asked_units(given)

    @property
    def names(self) -> Names | None:
        """Those of all nodes that are kept here."""
        return None if self.watch is None else self.watch.names

    @property
    def order(self) -> Order:
        """The place of the error that ended the last tick, in the order of all possible errors."""
        run = None if self.watch is None else self.watch.pipeline
        return run.part.failed if isinstance(run, UnitStage) else (-1, ())

    def asked_units(self, sent: Sent) -> list[Addressed]:
        """Evaluate what has been read → what is sent to later stages."""
        assert self.watch is not None
        self.watch.now = sent.now
        self._catch_up(sent)
        made = self.watch.made()
        self.updates += [(sent.turn, one) for one in (made.updates if made else ())]
        ended = self.watch.ended >= set(self.watch.kinds)
        counts = self._said() if ended else {}
        sender, last = (0, self.number), (self.steps - 1, 0)
        out = {to: Handed(sent.turn, sender, sent.now) for to in self._woken()}
        out[last] = Handed(
            sent.turn, sender, sent.now, broken=made is None, refused=sent.refused,
            said=(counts, sent.beside), ended=ended,
        )  # fmt: skip
        for to, found in self._found(made):
            out[to] = replace(out.get(to) or Handed(sent.turn, sender, sent.now), found=found)
        said = tuple(one for one in sent.parts if one[0] != "fragments")
        if self.number == 0 and said:
            for to in (*self._others(), last):
                out[to] = replace(out.get(to) or Handed(sent.turn, sender, sent.now), parts=said)
        return list(out.items())

    def _found(self, made: StageOutput | None) -> Iterator[tuple[To, Exchanged]]:
        """What was made for others, by step and partition."""
        run = None if self.watch is None else self.watch.pipeline
        if made is not None and isinstance(run, UnitStage):
            for (stage, partition), found in made.sent.items():
                yield (step_of(stage, len(run.part.stages), self.steps), partition), found

    def _others(self) -> list[To]:
        """All partitions of the steps between this and the last."""
        return [(s, p) for s in range(1, self.steps - 1) for p in range(self.partitions)]

    def _woken(self) -> list[To]:
        """Partitions in which something may change though nothing is handed to them."""
        run = None if self.watch is None else self.watch.pipeline
        if self.number != 0 or not isinstance(run, UnitStage):
            return []
        stages = run.part.stages
        clocked = {at for at in range(1, len(stages) - 1) if stages.is_clocked(at)}
        return [to for to in self._others() if to[0] in clocked]

    def _said(self) -> dict[str, int]:
        """What this bucket has to say at the end; streams that all read are the first one's."""
        assert self.watch is not None
        assert self.watch.pipeline is not None
        spread = self.watch.pipeline.driven
        mine = [name for name in self.watch.kinds if name in spread or self.number == 0]
        counts = {f"{name}: repeated": self.watch.repeated(name) for name in mine}
        return counts | {"bytes of state": self.watch.state_bytes}

    def _catch_up(self, sent: Sent) -> None:
        """The streams that are partitioned have come as far as they have anywhere."""
        assert self.watch is not None
        for name, newest in sent.newest.items():
            feed = self.watch._feeds.get(name)
            if isinstance(feed, FragmentFeed):
                feed.history.newest, feed.history.zoned = newest

    def _take(self, part: Part) -> None:
        assert self.watch is not None
        match part:
            case ("described", str(name), structure, Moment() as now):
                self.watch.reach(now)
                decoder = self._decoders.setdefault(name, Decoder(name, names=self.watch.names))
                decoder._set_structure(structure)
                self.watch.on_arrivals(name, [NewStructure(structure)], decoder.ids)
            case ("fragments", str(name), rows):
                decoder = self._decoders[name]
                found = taken_rows(rows, decoder)
                batches = [one for one in found if isinstance(one, FragmentBatch)]
                assert len(batches) == len(found), found
                self.watch.on_arrivals(name, batches, decoder.ids)
            case ("ended", str(name)):
                self.watch.on_end(name)
            case _:
                raise AssertionError(part)

    def _in_one_place(self, given: Whole) -> Handed | None:
        if self.emits:
            raise another_place()
        self.watch, self._decoders = None, {}
        if self.number != 0:
            return None
        if self.whole is None or given.anew:
            self.go_whole()
        assert self.whole is not None
        *before, (last, now) = given.tables
        for blob, _ in before:
            self.whole.take_rows(ArrivedPacks.of(blob).table)
        if given.anew:
            self.whole.refused.clear()  # it was reported on arrival
        changes = self.whole.take(ArrivedPacks.of(last).table, now)
        refused, self.whole.refused = tuple(self.whole.refused), []
        ended = self.whole.ended
        return Handed(
            given.turn, (0, 0), self._now(), refused=refused,
            said=(self.whole.said() if ended else {},), changes=tuple(changes), anew=given.anew,
            ended=ended,
        )  # fmt: skip

    def go_whole(self) -> None:
        """From now on all of the query is here, with the keys that partitions give."""
        self.watch, self._decoders, self.whole = None, {}, Host(self.request, shallow=True)

    def _now(self) -> Moment:
        assert self.whole is not None
        return getattr(self.whole.watch, "now", BEFORE)
