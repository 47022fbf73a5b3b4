"""A query in partitions, in one process: what a runner does between the stages of a circuit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from xstreamcast.algebra.program import Program
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.change import Change
from xstreamcast.operators.relational.stages.exchanged import Exchanged, To
from xstreamcast.operators.relational.stages.staged import StagePart, UnitStage
from xstreamcast.operators.watching.inputs import Kind
from xstreamcast.operators.watching.partition import PartitionWatch
from xstreamcast.tape.names import Names

Carry = Callable[[Exchanged, Names, Names], Exchanged]


class Partitioned:
    """A query over so many partitions, which all read everything and keep their own units."""

    def __init__(
        self, program: Program, inputs: Iterable[str], partitions: int, carry: Carry,
        most: int | None = None,
    ) -> None:  # fmt: skip
        kinds: dict[str | None, Kind] = dict.fromkeys(inputs, "fragments")
        self.partitions, self.carry = partitions, carry
        self.watches = [PartitionWatch(program, kinds) for _ in range(partitions)]
        for at, watch in enumerate(self.watches):
            watch.partition, watch.partitions, watch.most = at, partitions, most
        self.decoders = [
            {name: Decoder(name, names=watch.names) for name in inputs} for watch in self.watches
        ]
        self.parts: dict[To, StagePart] = {}
        self.moments: dict[To, Moment] = {}

    def feed(self, chunks: Mapping[str, bytes]) -> list[Change]:
        """What comes on some streams → the changes; [] where an error holds them back."""
        handed: dict[To, list[Exchanged]] = {}
        broken = False
        for watch, decoders in zip(self.watches, self.decoders, strict=True):
            for name, chunk in chunks.items():
                watch.on_arrivals(name, decoders[name].feed(chunk), decoders[name].ids)
            made = watch.made()
            broken = broken or made is None
            for to, one in (made.sent if made is not None else {}).items():
                carried = self.carry(one, watch.names, self.watches[0].names)
                handed.setdefault(to, []).append(carried)
        assert not broken
        return self._later(handed)

    def _later(self, handed: dict[To, list[Exchanged]]) -> list[Change]:
        first = self.watches[0]
        run = first.pipeline
        assert isinstance(run, UnitStage)
        changes: list[Change] = []
        for number in range(1, len(run.part.stages)):
            for partition in range(self.partitions):
                changes += self._part((number, partition), run, handed)
        return changes

    def _part(self, to: To, run: UnitStage, handed: dict[To, list[Exchanged]]) -> list[Change]:
        first = self.watches[0]
        part = self.parts.get(to)
        if part is None:
            part = self.parts[to] = StagePart(run.circuit, run.part.stages, *to, self.partitions)
        moved = first.now != self.moments.get(to)
        given = handed.get(to, [])
        if not given and not (part.stages.is_clocked(to[0]) and moved) and to[1] > 0:
            return []
        self.moments[to] = first.now
        made = part.take(given, first._asking(), first.now.instant, moved)
        for then, one in made.sent.items():
            carried = self.carry(one, first.names, first.names)
            handed.setdefault(then, []).append(carried)
        return made.changes
