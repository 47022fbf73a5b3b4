"""The operators of a divided query, and what a tick makes of what has moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xstreamcast.algebra.division import Division, Part
from xstreamcast.algebra.windowed import Windowed
from xstreamcast.operators.around import CountingAround
from xstreamcast.operators.concatenation import Concatenation
from xstreamcast.operators.joining import Joining
from xstreamcast.operators.rewriting import Rewriting
from xstreamcast.operators.windowing.windowing import Windowing, WindowValues
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.model.change import Change
    from xstreamcast.operators.asking import Asking
    from xstreamcast.operators.units import Moved

Teller = Concatenation | Windowing
Valued = CountingAround | WindowValues


@dataclass(frozen=True, slots=True)
class Tick:
    """What happened since the last one: moves by input, inputs that said anything, the clock."""

    moves: Mapping[str | None, list[Moved]]
    touched: frozenset[str | None]
    clock_moved: bool
    everything: Callable[[str | None], Moved]
    again: Callable[[Sequence[str], str | None], list[Moved]]  # some units, to be asked again
    decided: bool = True  # nothing is missing that an answer may have to wait for
    ended: frozenset[str | None] = frozenset()
    passing: frozenset[str | None] = frozenset()  # inputs whose units are not kept
    leaving: bool = False  # units go that are read once: what was emitted for them stays

    def keeps(self, name: str | None) -> bool:
        """Whether units of an input can be read again."""
        return name not in self.passing


class Pipeline:
    """Joins and windows over documents: one operator that emits the answer, or operators with
    values and what follows from them.
    """

    def __init__(self, division: Division) -> None:
        self.division = division
        parts = division.parts
        self.teller: Teller | None = None
        self.valued: list[tuple[Part, Valued]] = []
        self.rest: Rewriting | None = None
        if division.plain and parts[0].fold == "items":
            self.teller = _teller(parts[0])
        else:
            self.valued = [(part, _valued(part)) for part in parts]
            self.rest = Rewriting(division.rest)
        self.joinings = {part.variable.number: Joining(part) for part in parts if part.probes}
        self.asked = 0  # units that operators evaluated so far
        self._upset = False  # an error broke a tick off
        self._fresh = True  # the value has not been emitted yet
        self._held = False  # the value has changed, and waits to be emitted

    @property
    def driven(self) -> frozenset[str | None]:
        """The inputs that are read unit by unit."""
        return frozenset(one for part in self.division.parts for one in part.inputs)

    def waits(self, undecided: frozenset[str | None]) -> bool:
        """Whether nothing may be emitted while something of these inputs may be missing."""
        if self.teller is None or isinstance(self.teller, Windowing):  # windows close for good
            return False
        part = self.division.parts[0]
        waited = part.others | {one.input for one in part.probes if not one.additive}
        return bool(waited & undecided)

    def on_tick(self, tick: Tick, asking: Asking, instant: int) -> list[Change]:
        """The changes of the answer."""
        upset, self._upset = self._upset, True
        if self.teller is not None:
            out = self._told(self.teller, tick, asking, upset, instant)
            self._upset = False
            return out
        changed = self._fresh or self._held
        for part, operator in self.valued:
            moves = self._moves(part, tick, asking, upset)
            if isinstance(operator, WindowValues):
                moved_on = operator.on_tick(_bare(moves), asking, *_state(part, tick))
                changed = moved_on or changed
                continue
            for moved, how in moves:
                changed = operator.on_batch(moved, how) or changed
        self._upset = False
        if not changed and not (self.division.clock and tick.clock_moved):
            return []
        self._held = not tick.decided
        return [] if self._held else self.rewritten(asking, instant)

    def _told(
        self, teller: Teller, tick: Tick, asking: Asking, upset: bool, instant: int
    ) -> list[Change]:
        part = self.division.parts[0]
        moves = self._moves(part, tick, asking, upset)
        if isinstance(teller, Windowing):
            return teller.on_tick(_bare(moves), asking, *_state(part, tick), instant)
        # all are evaluated before anything counts as emitted: an error may break it off
        found = [teller.ask(one, how) for one, how in moves]
        return [change for one in found for change in teller.take(one, instant)]

    def _moves(
        self, part: Part, tick: Tick, asking: Asking, upset: bool
    ) -> Iterator[tuple[Moved, Asking]]:
        """What this part must take in, and how its units are evaluated."""
        joining = self.joinings.get(part.variable.number)
        moves = self._moved(part, tick, asking, upset)
        if joining is not None:
            asking = replace(asking, beside=joining.frame)
        for moved in moves:
            if joining is not None:
                joining.leave(moved)
            if moved.asked is not None:
                self.asked += len(moved.asked)
            yield moved, asking
        if joining is not None and joining.gave_up:
            yield tick.everything(part.input), asking

    def _moved(self, part: Part, tick: Tick, asking: Asking, upset: bool) -> list[Moved]:
        """The moves of the input, and units again where something else that they read moved."""
        moves = list(tick.moves.get(part.input, ()))
        joining = self.joinings.get(part.variable.number)
        met: set[str] | None = set()
        if joining is not None:
            met = joining.on_others(tick.moves, tick.again, tick.everything, asking)
        late = part.clock and tick.clock_moved
        if part.others & tick.touched or met is None or upset or late:
            return [*moves, tick.everything(part.input)]
        asked = {key for one in moves if one.asked is not None for key in one.asked.keys}
        gone = {key for one in moves for key in one.gone}
        again = met - asked - gone
        return moves + (tick.again(sorted(again), part.input) if again else [])

    def rewritten(self, asking: Asking, instant: int) -> list[Change]:
        """What follows from the values, computed again."""
        assert self.rest is not None
        store = Store(asking.names)
        values = {p.variable.number: op.value(asking, store) for p, op in self.valued}
        changes = self.rest.on_batch(asking, store, values, instant)
        self._fresh = False
        return changes

    def settled(self, name: str | None, keys: Sequence[str], first: int) -> None:
        """Units of documents are let go by other means."""

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of the answer back."""
        told = self.rest if self.teller is None else self.teller
        return [] if told is None else told.retracted(instant)

    @property
    def state_bytes(self) -> int:
        """About what the operators keep."""
        tellers = [op for op in (self.teller, self.rest) if op is not None]
        held = sum(op.state_bytes for op in tellers) + sum(op.state_bytes for _, op in self.valued)
        return held + sum(one.state_bytes for one in self.joinings.values())

    def __len__(self) -> int:
        told = self.rest if self.teller is None else self.teller
        return 0 if told is None else len(told)


def _teller(part: Part) -> Teller:
    return Windowing(part) if isinstance(part.shape, Windowed) else Concatenation(part)


def _valued(part: Part) -> Valued:
    return CountingAround(part) if part.around is not None else WindowValues(part)


def _bare(moves: Iterator[tuple[Moved, Asking]]) -> list[Moved]:
    return [moved for moved, _ in moves]


def _state(part: Part, tick: Tick) -> tuple[bool, bool]:
    """Whether open windows may be emitted, and whether no item will come any more."""
    return tick.decided, part.input in tick.ended
