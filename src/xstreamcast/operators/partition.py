"""A watch over some of the units of its streams: what it makes of them, answers are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xstreamcast.operators.document_feed import Forbidden
from xstreamcast.operators.fragment_feed import FragmentFeed
from xstreamcast.operators.inner import Unmaintained
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.relational.staged import Exchanged, UnitStage
from xstreamcast.operators.watch import Watch

if TYPE_CHECKING:
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.model.structure import TagStructure


class PartitionWatch(Watch):
    """The roots of all streams, and the units of one partition."""

    mine: Callable[[str], bool]  # whether a unit of this id belongs to the partition

    def __post_init__(self) -> None:
        self.shallow = True  # fragments are routed by the holes of the root
        super().__post_init__()

    def _describe(self, name: str, structure: TagStructure, ids: Ids | None) -> None:
        super()._describe(name, structure, ids)
        feed = self._feeds[name]
        assert isinstance(feed, FragmentFeed)
        feed.mine = self.mine

    def _divide(self) -> None:
        super()._divide()
        if type(self.pipeline) is CircuitRun:
            self.pipeline = UnitStage(self.pipeline.circuit)

    def _give_up_cut(self, why: Forbidden) -> None:
        if not isinstance(why, Unmaintained):
            raise why
        super()._give_up_cut(why)

    def exchanged(self) -> Exchanged | None:
        """What a tick made of the units; None if an error broke it off."""
        self.tick()
        if not isinstance(self.pipeline, UnitStage):
            return Exchanged()
        return self.pipeline.found
