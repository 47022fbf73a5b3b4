"""A circuit that runs: one operator for each node, and what a tick makes of what has arrived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.inputs.deciding import waited_for
from xstreamcast.circuit.inputs.grown import looked_up_by_value
from xstreamcast.circuit.inputs.transient import by_columns, transient
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.show.operators import operator_names
from xstreamcast.errors import Error
from xstreamcast.model.change import Change
from xstreamcast.operators.relational.advance import Operators
from xstreamcast.operators.relational.emit import Emit
from xstreamcast.operators.relational.reading import UnitReader
from xstreamcast.operators.relational.tick import Round
from xstreamcast.operators.relational.tick_rows import TickRows

if TYPE_CHECKING:
    from xstreamcast.operators.feeds.arrived import Tick
    from xstreamcast.operators.relational.failing import Failing
    from xstreamcast.operators.units.evaluating import EvaluationContext


class CircuitRun:
    """on_tick  →  the changes that bring the answer to what the query gives now.

    An error ends a tick and leaves operators half way; the next tick makes them again, from
    all that has arrived, and emits the difference.
    """

    def __init__(
        self, circuit: c.Circuit, final: bool = False, once: frozenset[str | None] = frozenset()
    ) -> None:
        """`once`: inputs whose units are dropped after each tick."""
        self.circuit, self._final = circuit, final
        gone = transient(circuit, once) if once else None
        self._passing = gone if gone is not None and by_columns(circuit, gone) else frozenset[int]()
        self._order = in_order(circuit.root)
        self._waited = waited_for(circuit)
        self._emit = Emit(circuit, final)
        self._operators: Operators | None = None  # None: to be made again
        self.evaluated = 0
        self._once: tuple[frozenset[str | None], frozenset[int] | None] | None = None
        self._failing: Failing | None = None  # the rows of the last tick that failed

    def on_tick(self, tick: Tick, asking: EvaluationContext, instant: int) -> list[Change]:
        """The changes of the answer."""
        fresh = self._operators is None
        operators = self._operators or self.fresh_operators()
        self._operators = None
        try:
            out = self._advanced(operators, tick, asking, instant, fresh)
        except Error:
            if not operators.passing:
                raise
            # rows by themselves show which of them fails first
            operators = Operators(self._order, self.circuit.root, self._final)
            out = self._advanced(operators, tick, asking, instant, True)
        self._operators, self._failing = operators, None
        return out

    def fresh_operators(self) -> Operators:
        """Operators that have taken nothing in yet."""
        return Operators(self._order, self.circuit.root, self._final, passing=self._passing)

    def _advanced(
        self, operators: Operators, tick: Tick, asking: EvaluationContext, instant: int, fresh: bool
    ) -> list[Change]:
        reader = UnitReader(tick, self.circuit.sources)
        # where nothing is revised, windows that are open wait as if something were missing
        decided = tick.decided and (not self._final or tick.ended >= set(self.circuit.sources))
        turn = Round(
            asking,
            reader,
            tick.touched,
            tick.clock_moved,
            decided=decided,
            ended=tick.ended,
            spine=tick.spine,
        )
        try:
            deltas = operators.advance(turn, tick, {})
            self.evaluated += sum(len(deltas[id(n)]) for n in self._order if isinstance(n, c.Units))
            delta = deltas[id(self.circuit.root)]
            if isinstance(delta, TickRows):
                try:
                    return self._emit.append(delta, instant)
                except Error:
                    if delta.by_rows is None:
                        raise
                    delta = delta.by_rows()
            if tick.leaving:
                self._emit.leave(turn, delta)
                return []
            return self._emit.apply(turn, delta, instant, fresh)
        except Error:
            self._failing = turn.failing
            raise

    def let_go(self, once: frozenset[str | None]) -> bool:
        """Units of inputs that are read once go, all at once → whether that can be done so."""
        if self._once is None or self._once[0] != once:
            self._once = once, transient(self.circuit, once)
        gone = self._once[1]
        if gone is None or self._operators is None:
            return False
        self._operators.let_go(gone)
        if id(self.circuit.root) in gone:
            self._emit.let_go()
        return True

    def first_error(self, why: Error) -> Error:
        """Of all rows that failed in the last tick, the error of the first."""
        found = None if self._failing is None else self._failing.first()
        return why if found is None else found[1]

    def take_over(self, before: CircuitRun) -> None:
        """Continue the answer of another circuit."""
        self._emit.take_over(before._emit)

    @property
    def emitted(self) -> Emit:
        """The answer as it was emitted."""
        return self._emit

    @property
    def driven(self) -> frozenset[str | None]:
        """The inputs that are read unit by unit."""
        return frozenset(n.input for n in self._order if isinstance(n, c.Units | c.Spine))

    @property
    def looked_up(self) -> frozenset[str | None]:
        """The inputs of which rows keep values and no nodes."""
        return looked_up_by_value(self.circuit, self._passing)

    def units_of(self, name: str | None) -> c.Units | None:
        """The node that reads an input unit by unit."""
        found = (node for node in self._order if isinstance(node, c.Units) and node.input == name)
        return next(found, None)

    def is_timed(self, name: str | None) -> bool:
        """Whether an operator needs to know when units of an input change by themselves."""
        units = (node for node in self._order if isinstance(node, c.Units))
        return any(node.input == name and node.timing is not None for node in units)

    def waits(self, undecided: frozenset[str | None]) -> bool:
        """Whether nothing may be emitted while something of these inputs may be missing."""
        return bool(undecided & self._waited)

    def settles(self, name: str | None) -> bool:
        """Whether no unit of an input is read again once its answer is emitted."""
        root = self.circuit.root
        return isinstance(root, c.Units) and root.input == name and not (root.inner or root.clock)

    def settled(self, name: str | None, keys: Sequence[str], first: int) -> None:
        """Units of an input will not change; nor will there be others before the first place."""
        if keys and isinstance(self.circuit.root, c.Units):
            self._emit.settle([(key,) for key in keys], (first,))

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of the answer back."""
        return self._emit.retracted(instant)

    def __len__(self) -> int:
        return len(self._emit)

    def held(self) -> dict[str, int]:
        """About what each operator keeps, by its number and kind in `explain --stage circuit`."""
        names = operator_names(self.circuit)
        each = {} if self._operators is None else self._operators.held()
        return {"emit": self._emit.state_bytes} | {names[at]: size for at, size in each.items()}

    @property
    def state_bytes(self) -> int:
        """About what is kept."""
        held = 0 if self._operators is None else self._operators.state_bytes
        return held + self._emit.state_bytes
