"""A watch over some of the units of its streams: what it makes of them, answers are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.inner.inner import Unmaintained
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.relational.stages.routing import partition_of
from xstreamcast.operators.relational.stages.staged import StageOutput, UnitStage
from xstreamcast.operators.watching.watch import Watch

if TYPE_CHECKING:
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.model.structure import TagStructure


class PartitionWatch(Watch):
    """The roots of all streams, and the units of one partition."""

    partition: int = 0
    partitions: int = 1
    most: int | None = None  # stages at most
    emits: bool = False  # items of the answer are emitted here, if they are made here

    def __post_init__(self) -> None:
        self.shallow = True  # fragments are routed by the holes of the root
        super().__post_init__()

    def mine(self, unit: str) -> bool:
        """Whether a unit of this id belongs to the partition."""
        return partition_of(unit, self.partitions) == self.partition

    def _feed_of(self, name: str, structure: TagStructure, ids: Ids | None) -> ForgettingFeed:
        feed = super()._feed_of(name, structure, ids)
        feed.mine = self.mine
        return feed

    def _divide(self) -> None:
        before = self.pipeline
        super()._divide()
        if type(self.pipeline) is CircuitRun:
            circuit = self.pipeline.circuit
            made = UnitStage(circuit, self.partition, self.partitions, self.most, self.emits)
            self.pipeline = made
            if isinstance(before, UnitStage) and self._unkept:
                made.part.take_over(before.part)
            if isinstance(before, UnitStage) and not made.part.take_over_answer(before.part):
                raise Forbidden("its answer is made in another place now")

    def _give_up_cut(self, why: Forbidden) -> None:
        if not isinstance(why, Unmaintained):
            raise why
        super()._give_up_cut(why)

    def made(self) -> StageOutput | None:
        """What a tick made of the units; None if an error broke it off."""
        self.tick()
        return self.pipeline.made if isinstance(self.pipeline, UnitStage) else StageOutput()
