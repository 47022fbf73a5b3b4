"""Where the answer of a query is emitted whose units are partitioned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from xstreamcast.errors import Error
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.moments import Moment
from xstreamcast.model.fragment import Described
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.relational.staged import AnswerStage
from xstreamcast.operators.watch import Watch
from xstreamcast.spark.watching.messages import Back, Part

if TYPE_CHECKING:
    from xstreamcast.model.change import Change
    from xstreamcast.model.fragment import Refused
    from xstreamcast.operators.relational.staged import Exchanged
    from xstreamcast.spark.watching.host import Asked


class Answering:
    """The answer of one query; it takes in what all buckets found in a batch at once.

    changes  →  those of one watch over all that the buckets have
    """

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.refused: list[Refused] = []
        self.said: dict[str, int] = {}
        self.ended = False
        self._watch = self._plan()
        self._stage: AnswerStage | None = None
        self._ticked_at: Moment | None = None
        self._held: list[Exchanged] = []  # found while an error elsewhere kept the answer back
        self._broken: set[int] = set()  # buckets whose units fail; they speak when that may change
        self._owed: list[Change] = []  # what takes back an answer of another circuit

    def _plan(self) -> Watch | None:
        if len(self.asked.programs) > 1:
            return None
        (program,) = self.asked.programs.values()
        return Watch(
            program, self.asked.kinds, variables=self.asked.variables, policy=self.asked.policy,
            shallow=True,
        )  # fmt: skip

    def take(self, backs: Iterable[Back]) -> list[Change]:
        """What buckets say in a batch → the changes."""
        turns: defaultdict[int, list[Back]] = defaultdict(list)
        for one in backs:
            turns[one.turn].append(one)
        return [change for turn in sorted(turns) for change in self._turn(turns[turn])]

    def _turn(self, backs: list[Back]) -> list[Change]:
        for one in backs:
            self.refused += one.refused
            for what, count in (pair for said in one.said for pair in said.items()):
                self.said[what] = self.said.get(what, 0) + count
            self.ended = self.ended or one.ended
        whole = next((one for one in backs if one.changes is not None), None)
        return self._partitioned(backs) if whole is None else self._in_one_place(whole)

    def _in_one_place(self, back: Back) -> list[Change]:
        """Changes as they were made; what was emitted before that is taken back."""
        retracted: list[Change] = []
        if back.anew and self._stage is not None:
            retracted = self._owed + self._stage.retracted(back.now.instant)
        self._watch, self._stage, self._held, self._owed = None, None, [], []
        return [*retracted, *(back.changes or ())]

    def _partitioned(self, backs: list[Back]) -> list[Change]:
        assert self._watch is not None
        for part in (part for one in backs for part in one.parts):
            self._hear(part)
        watch = self._watch
        watch.now = max((back.now for back in backs), key=lambda now: now.instant)
        if self._stage is None:
            return []
        self._broken -= {back.bucket for back in backs if back.found is not None}
        self._broken |= {back.bucket for back in backs if back.found is None}
        self._held += [back.found for back in backs if back.found is not None]
        return [] if self._broken else self._emitted(watch, self._stage)

    def _emitted(self, watch: Watch, stage: AnswerStage) -> list[Change]:
        clock_moved, asking = watch.now != self._ticked_at, watch._asking()
        held, self._held = self._held, []
        try:
            changes = deep(partial(stage.take, held, asking, watch.now.instant, clock_moved))
        except Error:
            if not set(watch.kinds) - watch.ended:
                raise
            return []
        finally:
            asking.release()
        self._ticked_at = watch.now
        owed, self._owed = self._owed, []
        return owed + changes

    def _hear(self, part: Part) -> None:
        assert self._watch is not None
        match part:
            case ("described", str(name), structure, Moment() as now):
                before = self._watch.pipeline
                self._watch.reach(now)
                self._watch.on_arrivals(name, [Described(structure)])
                if self._watch.pipeline is not before:
                    self._begin(now)
            case ("ended", str(name)):
                self._watch.on_end(name)
            case _:
                raise AssertionError(part)

    def _begin(self, now: Moment) -> None:
        """Another circuit: what was emitted is taken back."""
        assert self._watch is not None
        if self._stage is not None:
            self._owed += self._stage.retracted(now.instant)
        assert isinstance(self._watch.pipeline, CircuitRun)
        self._stage = AnswerStage(self._watch.pipeline.circuit)
        self._held, self._broken = [], set()
