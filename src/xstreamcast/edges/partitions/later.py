"""A partition of a later stage of a query, the last of which emits the answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from xstreamcast.circuit.stages import stages_of
from xstreamcast.edges.partitions.messages import Failed, Handed, Part
from xstreamcast.errors import Error, error
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.fragment import NewStructure
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.relational.stages.staged import StageOutput, StagePart
from xstreamcast.operators.watching.watch import Watch

if TYPE_CHECKING:
    from xstreamcast.edges.partitions.host import WatchRequest
    from xstreamcast.edges.partitions.messages import Message
    from xstreamcast.model.change import Change
    from xstreamcast.model.fragment import Refused
    from xstreamcast.model.update import RankedAnswer, Update
    from xstreamcast.operators.relational.failing import Order
    from xstreamcast.operators.relational.stages.exchanged import Exchanged, To
    from xstreamcast.tape.names import Names


Addressed = tuple["To", Handed]  # to a step and a partition
Turned = tuple[int, "Update"]  # the turn that made it


@dataclass(frozen=True, slots=True)
class StagePlace:
    """Which place of a query this is: a step of so many, and a partition of so many."""

    step: int
    steps: int
    partition: int
    partitions: int
    emits: bool = False  # items of the answer are emitted where they are made

    @property
    def is_last(self) -> bool:
        """Whether the answer is emitted here."""
        return self.step == self.steps - 1


def step_of(stage: int, stages: int, steps: int) -> int:
    """The step that runs a stage: the answer is emitted by the last, however few stages are."""
    return steps - 1 if stage == stages - 1 else stage


def another_place() -> Error:
    """What came shows that partitions cannot continue to emit as they did."""
    return error(
        "XSCU0005", "the answer is made in another place now, by what the stream has said",
        hint="start with an empty checkpoint and a new sink",
    )  # fmt: skip


class Later:
    """Reads what earlier stages made in a tick, all at once.

    changes  →  those of one watch over all that the partitions have
    """

    def __init__(self, request: WatchRequest, spot: StagePlace) -> None:
        self.request, self.spot, self.turn = request, spot, 0
        self.refused: list[Refused] = []
        self.said: dict[str, int] = {}
        self.ended = False
        self._watch = self._plan()
        self._part: StagePart | None = None
        self._ticked_at: Moment | None = None
        self._broken: set[To] = set()  # partitions that fail; they speak when that may change
        self._owed: list[Change] = []  # what takes back an answer of another circuit
        self.updates: list[Turned] = []
        self.ranked: RankedAnswer | None = None

    def _plan(self) -> Watch | None:
        if len(self.request.programs) > 1:
            return None
        (program,) = self.request.programs.values()
        return Watch(
            program, self.request.kinds, variables=self.request.variables,
            policy=self.request.policy, shallow=True,
        )  # fmt: skip

    @property
    def names(self) -> Names | None:
        """Those of all nodes that are kept here."""
        return None if self._watch is None else self._watch.names

    def take(self, given: Iterable[Message]) -> tuple[list[Change], list[Addressed]]:
        """What was sent here in a batch → changes, and what is sent on"""
        turns: defaultdict[int, list[Message]] = defaultdict(list)
        for one in given:
            turns[one.turn].append(one)
        changes: list[Change] = []
        handed: list[Addressed] = []
        for turn in sorted(turns):
            self.turn = turn
            made = self._turn(turns[turn])
            changes += [] if made is None else made.changes
            self.updates += [(turn, one) for one in (made.updates if made else ())]
            handed += self._handed(turn, made)
        return changes, handed

    def _turn(self, given: Sequence[Message]) -> StageOutput | None:
        failed = [one for one in given if isinstance(one, Failed)]
        if failed:
            raise min(failed, key=lambda one: one.order).why
        mine = [one for one in given if isinstance(one, Handed)]
        for one in mine:
            self.refused += one.refused
            for what, count in (pair for said in one.said for pair in said.items()):
                self.said[what] = self.said.get(what, 0) + count
            self.ended = self.ended or one.ended
        whole = next((one for one in mine if one.changes is not None), None)
        return (
            self._partitioned(mine)
            if whole is None
            else StageOutput(changes=self._in_one_place(whole))
        )

    def _in_one_place(self, one: Handed) -> list[Change]:
        """Changes as they were made; what was emitted before that is taken back."""
        retracted = self._owed
        if one.anew and self._part is not None:
            retracted = retracted + self._part.retracted(one.now.instant)
        self._watch, self._part, self._owed = None, None, []
        return [*retracted, *(one.changes or ())]

    def _partitioned(self, given: Sequence[Handed]) -> StageOutput | None:
        assert self._watch is not None
        for part in (part for one in given for part in one.parts):
            self._hear(part)
        self._watch.now = max((one.now for one in given), key=lambda now: now.instant)
        self._broken -= {one.sender for one in given if not one.broken}
        self._broken |= {one.sender for one in given if one.broken}
        if self._part is None:
            return StageOutput()
        found = [one.found for one in given if one.found is not None]
        if self._broken and self.spot.is_last:
            self._part.absorb(found)
            return StageOutput()
        return self._made(self._watch, self._part, found)

    def _made(self, watch: Watch, part: StagePart, found: list[Exchanged]) -> StageOutput | None:
        """None: an error breaks the tick off, and what is still to come may mend it."""
        clock_moved, asking = watch.now != self._ticked_at, watch._asking()
        try:
            made = deep(partial(part.take, found, asking, watch.now.instant, clock_moved))
        except Error as why:
            if not set(watch.kinds) - watch.ended:
                raise deep(partial(part.first_error, why)) from None
            return None
        finally:
            asking.release()
        self._ticked_at = watch.now
        owed, self._owed = self._owed, []
        made.changes = owed + made.changes
        return made

    def _handed(self, turn: int, made: StageOutput | None) -> list[Addressed]:
        """The output: rows, and the outcome."""
        if self.spot.is_last or self._watch is None or self._part is None:
            return []
        sender, now = (self.spot.step, self.spot.partition), self._watch.now
        handed_on = {(self.spot.steps - 1, 0): Handed(turn, sender, now, broken=made is None)}
        for (stage, partition), found in ({} if made is None else made.sent).items():
            to = step_of(stage, len(self._part.stages), self.spot.steps), partition
            handed_on[to] = Handed(turn, sender, now, found)
        return list(handed_on.items())

    @property
    def order(self) -> Order:
        """The place of the error that ended the last tick, in the order of all possible errors."""
        return (-1, ()) if self._part is None else self._part.failed

    def _hear(self, part: Part) -> None:
        assert self._watch is not None
        match part:
            case ("described", str(name), structure, Moment() as now):
                before = self._watch.pipeline
                self._watch.reach(now)
                self._watch.on_arrivals(name, [NewStructure(structure)])
                if self._watch.pipeline is not before:
                    self._begin(now)
            case ("ended", str(name)):
                self._watch.on_end(name)
            case _:
                raise AssertionError(part)

    def _begin(self, now: Moment) -> None:
        """Another circuit: what was emitted is taken back."""
        assert self._watch is not None
        if self._part is not None:
            self._owed += self._part.retracted(now.instant)
        assert isinstance(self._watch.pipeline, CircuitRun)
        circuit, spot = self._watch.pipeline.circuit, self.spot
        stages = stages_of(circuit, spot.steps)
        number = len(stages) - 1 if spot.is_last else spot.step
        before, self._part, self._broken = self._part, None, set()
        if spot.is_last or number < len(stages) - 1:
            self._part = StagePart(
                circuit, stages, number, spot.partition, spot.partitions, spot.emits
            )
        if spot.emits and before is not None:
            moved = self._part is None or not self._part.take_over_answer(before)
            if moved:
                raise another_place()
