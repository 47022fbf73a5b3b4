"""A circuit that runs: one operator for each node, and what a tick makes of what has arrived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xstreamcast.circuit import nodes as c
from xstreamcast.model.delta import Delta, Row, RowDelta
from xstreamcast.operators.relational.emit import Emit
from xstreamcast.operators.relational.group import GroupOperator
from xstreamcast.operators.relational.join import JoinOperator
from xstreamcast.operators.relational.nest import NestOperator
from xstreamcast.operators.relational.order import OrderOperator
from xstreamcast.operators.relational.positions import (
    NumberOperator,
    PickOperator,
    SliceOperator,
    UnionOperator,
)
from xstreamcast.operators.relational.rows import RowsOperator
from xstreamcast.operators.relational.tick import Round
from xstreamcast.operators.relational.unit_rows import UnitRows
from xstreamcast.operators.relational.window import WindowOperator

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Division
    from xstreamcast.model.change import Change
    from xstreamcast.operators.asking import Asking
    from xstreamcast.operators.pipeline import Tick
    from xstreamcast.operators.units import Minis


class CircuitRun:
    """on_tick  →  the changes that bring the answer to what the query gives now.

    An error breaks a tick off and leaves operators half way; the next tick makes them anew, from
    all that has arrived, and tells the difference.
    """

    def __init__(self, circuit: c.Circuit, division: Division) -> None:
        self.circuit = circuit
        self.division = division  # without parts: a circuit runs in one place
        self._order = c.in_order(circuit.root)
        self._emit = Emit(circuit)
        self._operators: list[Any] = []
        self._broken = True  # nothing has been made yet
        self.asked = 0

    def on_tick(self, tick: Tick, asking: Asking, instant: int) -> list[Change]:
        """The changes of the answer."""
        anew, self._broken = self._broken, True
        if anew:
            self._operators = [_operator(node) for node in self._order]
        turn = Round(asking, _Reading(tick, self.circuit.sources), tick.touched, tick.clock_moved)
        deltas: dict[int, Delta] = {}
        for node, operator in zip(self._order, self._operators, strict=True):
            match node:
                case c.One():
                    deltas[id(node)] = {(): RowDelta(None, Row((), ()))} if anew else {}
                case c.Units():
                    deltas[id(node)] = operator.apply(turn, tick, anew)
                    self.asked += len(deltas[id(node)])
                case _:
                    given = [deltas[id(one)] for one in c.inputs_of(node)]
                    deltas[id(node)] = operator.apply(turn, given)
        out = self._emit.apply(turn, deltas[id(self.circuit.root)], instant, anew)
        self._broken = False
        return out

    def take_over(self, before: object) -> bool:
        """Go on with the answer of another circuit."""
        if not isinstance(before, CircuitRun):
            return False
        self._emit.take_over(before._emit)
        return True

    @property
    def driven(self) -> frozenset[str | None]:
        """The inputs that are read unit by unit."""
        return frozenset(node.input for node in self._order if isinstance(node, c.Units))

    def is_timed(self, name: str | None) -> bool:
        """Whether somebody asks when units of an input may change by themselves."""
        units = (node for node in self._order if isinstance(node, c.Units))
        return any(node.input == name and node.timing is not None for node in units)

    def waits(self, undecided: frozenset[str | None]) -> bool:
        """Whether nothing may be told while something of these inputs may be missing."""
        return bool(undecided & frozenset(self.circuit.sources))

    def settled(self, name: str | None, keys: Sequence[str], first: int) -> None:
        """Units of an input will not change: nothing is dropped for that yet."""

    def snapshot(self) -> Any:
        """None: operators are made again from what has arrived."""
        return None

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of the answer back."""
        return self._emit.retracted(instant)

    def __len__(self) -> int:
        return len(self._emit)

    @property
    def state_bytes(self) -> int:
        """About what is kept."""
        return self._emit.state_bytes


class _Reading:
    """Units by key: those that arrived or were made in this tick as they are, others made now."""

    def __init__(self, tick: Tick, sources: tuple[str | None, ...]) -> None:
        self._tick, self._sources = tick, sources
        self._known: dict[int, list[tuple[frozenset[str], Minis]]] = {}
        for number, name in enumerate(sources):
            for one in tick.moves.get(name, ()):
                if one.asked is not None:
                    self._keep(number, one.asked)

    def _keep(self, source: int, minis: Minis) -> None:
        self._known.setdefault(source, []).append((frozenset(minis.keys), minis))

    def __call__(self, source: int, keys: set[str]) -> list[Minis]:
        for known, minis in self._known.get(source, ()):
            if keys <= known:
                return [minis]
        moves = self._tick.again(sorted(keys), self._sources[source])
        found = [one.asked for one in moves if one.asked is not None]
        if len(found) == 1:
            self._keep(source, found[0])
        return found


def _operator(node: c.Node) -> Any:
    match node:
        case c.One():
            return None
        case c.Units():
            return UnitRows(node)
        case c.Rows():
            return RowsOperator(node)
        case c.Join():
            return JoinOperator(node)
        case c.Nest():
            return NestOperator(node)
        case c.Group():
            return GroupOperator(node)
        case c.Order():
            return OrderOperator(node)
        case c.Slice():
            return SliceOperator(node)
        case c.Pick():
            return PickOperator(node)
        case c.Number():
            return NumberOperator(node)
        case c.Union():
            return UnionOperator(node)
        case c.Window():
            return WindowOperator(node)
