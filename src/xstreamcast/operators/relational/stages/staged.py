"""A circuit whose stages run in several partitions: what one of them does in a tick.

rows of units, made in any number of partitions, exchanged from stage to stage  →  what one place
would emit
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.stages import stages_of
from xstreamcast.errors import Error
from xstreamcast.model.delta import Delta, Row, RowDelta
from xstreamcast.operators.relational.advance import Operators
from xstreamcast.operators.relational.emit import Emit
from xstreamcast.operators.relational.failing import Failing, Order
from xstreamcast.operators.relational.groups.group import GroupOperator
from xstreamcast.operators.relational.groups.members import MembersOperator
from xstreamcast.operators.relational.joins.join import JoinOperator
from xstreamcast.operators.relational.passing import Deltas
from xstreamcast.operators.relational.reading import UnitReader
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.relational.stages.exchanged import Contents, Exchanged, To, Unit, merged
from xstreamcast.operators.relational.stages.routing import partitions_of_values
from xstreamcast.operators.relational.stages.sending import Sending
from xstreamcast.operators.relational.tick import Round

if TYPE_CHECKING:
    from xstreamcast.circuit.stages import Port, Stages
    from xstreamcast.model.change import Change
    from xstreamcast.model.update import Update
    from xstreamcast.operators.feeds.arrived import Tick
    from xstreamcast.operators.relational.joins.values import JoinValues
    from xstreamcast.operators.units.evaluating import EvaluationContext


@dataclass(slots=True)
class StageOutput:
    """What a partition made of a tick: for partitions of later stages, and changes of the answer"""

    sent: dict[To, Exchanged] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    updates: list[Update] = field(default_factory=list)  # where items are emitted as they are


class StagePart:
    """One partition of one stage: it reads what earlier stages sent to it."""

    def __init__(
        self, circuit: c.Circuit, stages: Stages, number: int, partition: int, partitions: int,
        emits: bool = False,
    ) -> None:  # fmt: skip
        self.circuit, self.stages, self.number, self.partition = circuit, stages, number, partition
        self._partitions = partitions
        self._nodes = stages.nodes[number]
        self._emit = Emit(circuit) if (number, partition) == (len(stages) - 1, 0) else None
        self._operators: Operators | None = None  # None: to be made again
        self._rows: dict[int, dict[Any, Any]] = {
            at: {} for at, port in enumerate(stages.ports) if port.last == number
        }
        self._marked: dict[int, set[int]] = {at: set() for at in self._rows}  # senders, by port
        self._contents = Contents()
        self._sending = Sending(circuit, stages, number, partition, partitions, emits)
        self._unsent: set[Unit] = set()  # units whose changes were not sent yet
        self._absorbed = False  # whether rows came that nothing was made of
        self.failed: Order = (-1, ())  # the place of the error that ended the last tick
        self._failing: Failing | None = None

    def take(
        self, found: Sequence[Exchanged], asking: EvaluationContext, instant: int, clock_moved: bool
    ) -> StageOutput:
        """What earlier stages made in a tick → what this one makes of it."""
        come, gone = self._contents.take(found)
        turn = Round(asking, self._contents.read, frozenset(), clock_moved, set(come))
        turn.places = self._contents.places()
        return self.advance(turn, None, found, come, gone, instant)

    def absorb(self, found: Sequence[Exchanged]) -> None:
        """Add what came, without evaluating it."""
        come, _ = self._contents.take(found)
        self._unsent |= come
        for at in self._rows:
            self._delta(at, found)
        self._take_marks(found)
        self._absorbed, self._operators = True, None

    def advance(
        self, turn: Round, tick: Tick | None, found: Sequence[Exchanged], come: set[Unit],
        gone: set[Unit], instant: int,
    ) -> StageOutput:  # fmt: skip
        """One tick; an error leaves operators half way, and the next one makes them again."""
        self._unsent |= come
        deltas = {-1 - at: self._delta(at, found) for at in self._rows}
        ports = self.stages.ports
        items = next((at for at in self._rows if ports[at].rendered), None)
        if items is not None and self._emit is not None:
            return StageOutput(changes=self._rendered(items, deltas[-1 - items], instant))
        anew, operators = self._operators is None, self._operators or self._made()
        self._operators = None
        if anew:
            deltas = {-1 - at: _all(rows) for at, rows in self._rows.items()}
        self._take_marks(found)
        self._mark(operators)
        self.failed, self._failing = (-1, ()), None
        try:
            deltas = operators.advance(turn, tick, deltas)
            return self._finished(operators, deltas, turn, tick, anew, gone, instant)
        except Error:
            self.failed, self._failing = (operators.failing, ()), turn.failing
            raise

    def first_error(self, why: Error) -> Error:
        """Of all rows that failed in the last tick, the error of the first."""
        found = None if self._failing is None else self._failing.first()
        if found is None:
            return why
        self.failed = self.failed[0], found[0]
        return found[1]

    def _finished(
        self, operators: Operators, deltas: Deltas, turn: Round, tick: Tick | None, anew: bool,
        gone: set[Unit], instant: int,
    ) -> StageOutput:  # fmt: skip
        changed = self._unsent | (_changed(self._nodes, deltas) if tick is not None else set())
        made = StageOutput(self._sending.send(deltas, turn, anew, changed, gone))
        emitting = self._sending.emitting
        if emitting is not None:
            made.updates = emitting.updates(deltas[id(self.circuit.root)], anew, turn)
        if self._emit is not None:
            root = deltas[id(self.circuit.root)]
            made.changes = self._emit.apply(turn, root, instant, anew)
        self._operators, self._unsent = operators, set()
        return made

    def _made(self) -> Operators:
        nodes, stages = self._nodes, self.stages
        made = Operators(nodes, self.circuit.root, inputs=stages.inputs, first=self.partition == 0)
        for node, operator in zip(nodes, made.all, strict=True):
            by_values = isinstance(node, c.Join) and any(
                port.reader is node and port.route == "values" for port in stages.ports
            )
            if by_values and isinstance(operator, JoinOperator) and self._partitions > 1:
                operator.owns = partial(_owns, self.partition, self._partitions)
        return made

    def _take_marks(self, found: Sequence[Exchanged]) -> None:
        for one in found:
            for at, is_marked in one.marks.items():
                (self._marked[at].add if is_marked else self._marked[at].discard)(one.sender)

    def _mark(self, operators: Operators) -> None:
        """Groups compare numbers in the same way in all partitions."""
        named = {id(port.reader): at for at, port in self._ports() if port.route == "name"}
        for node, operator in zip(self._nodes, operators.all, strict=True):
            if id(node) in named and isinstance(operator, GroupOperator | MembersOperator):
                operator.elsewhere = bool(self._marked[named[id(node)]])

    def _ports(self) -> list[tuple[int, Port]]:
        return [(at, self.stages.ports[at]) for at in self._rows]

    def _delta(self, at: int, found: Sequence[Exchanged]) -> Delta:
        known, out = self._rows[at], {}
        for key, new in merged(found, at).items():
            old = known.pop(key, None)
            if new is not None:
                known[key] = new
            if old is not None or new is not None:
                out[key] = RowDelta(old, new)  # type: ignore[arg-type]
        return out

    def _rendered(self, at: int, delta: Any, instant: int) -> list[Change]:
        assert self._emit is not None
        if self._absorbed:
            gone = {key: RowDelta(None, None) for key in self._emit.row_keys}
            delta, self._absorbed = gone | _all(self._rows[at]), False
        contents = {key: () if new is None else new[1] for key, (_, new) in delta.items()}
        ranks = {key: new[0] for key, (_, new) in delta.items() if new is not None}
        return self._emit.revise(contents, ranks, instant)

    def take_over(self, before: StagePart) -> None:
        """Continue from what another circuit of the same shape sent; all is evaluated again."""
        self._sending.take_over(before._sending)

    def take_over_answer(self, before: StagePart) -> bool:
        """Continue from what another circuit emitted; False if it is not emitted here now."""
        return self._sending.take_over_answer(before._sending)

    @property
    def emitted(self) -> Emit | None:
        """The answer as it was emitted, if this place emits it."""
        return self._emit

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of the answer back."""
        return [] if self._emit is None else self._emit.retracted(instant)

    def __len__(self) -> int:
        return 0 if self._emit is None else len(self._emit)

    @property
    def state_bytes(self) -> int:
        """About what is kept."""
        return 0 if self._emit is None else self._emit.state_bytes


def _all(rows: dict[Any, Row]) -> Delta:
    return {key: RowDelta(None, row) for key, row in rows.items()}


def _changed(nodes: Sequence[c.Node], deltas: Deltas) -> set[Unit]:
    """The units that are new, or in another place."""
    units = [node for node in nodes if isinstance(node, c.Units)]
    return {(node.source, str(key[0])) for node in units for key in deltas[id(node)]}


def _owns(partition: int, partitions: int, left: JoinValues, right: JoinValues) -> bool:
    """Whether a pair that several partitions have is made in this one: the first of them."""
    mine = set(partitions_of_values(left, partitions))
    both = mine.intersection(partitions_of_values(right, partitions))
    return min(both) == partition


class UnitStage(CircuitRun):
    """The first stage of a circuit, over the units of one partition."""

    def __init__(
        self, circuit: c.Circuit, partition: int = 0, partitions: int = 1,
        most: int | None = None, emits: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(circuit)
        self.part = StagePart(circuit, stages_of(circuit, most), 0, partition, partitions, emits)
        self.made: StageOutput | None = None  # of the last tick; None if an error broke it off

    def on_tick(self, tick: Tick, asking: EvaluationContext, instant: int) -> list[Change]:
        """No changes: what was made of units is in `made`."""
        self.made = None
        turn = Round(asking, UnitReader(tick, self.circuit.sources), tick.touched, tick.clock_moved)
        made = self.part.advance(turn, tick, (), set(), set(), instant)
        self.made = made
        return []

    def first_error(self, why: Error) -> Error:
        """Of all rows that failed in the last tick, the error of the first."""
        return self.part.first_error(why)
