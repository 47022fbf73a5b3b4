"""The operators of a divided query, and what a tick makes of what has moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra.cut import TagCut
from xstreamcast.algebra.division import Division, Grouped, Listed, Part, Sorted
from xstreamcast.algebra.windowed import Windowed
from xstreamcast.operators.around import CountingAround
from xstreamcast.operators.concatenation import Concatenation
from xstreamcast.operators.folds import Counting, Folding
from xstreamcast.operators.grouping import Grouping
from xstreamcast.operators.joining import Joining
from xstreamcast.operators.keeping import Keeping
from xstreamcast.operators.kept_items import Unwritten
from xstreamcast.operators.leading import Leading
from xstreamcast.operators.numbering import Numbering
from xstreamcast.operators.rewriting import Rewriting
from xstreamcast.operators.sorting import Sorting
from xstreamcast.operators.timers import Timers
from xstreamcast.operators.windowing.windowing import Windowing, WindowValues
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.model.change import Change
    from xstreamcast.model.items import Items
    from xstreamcast.operators.asking import Asking
    from xstreamcast.operators.units import Moved

Teller = Concatenation | Sorting | Grouping | Windowing
Valued = Counting | Folding | Keeping | Leading | CountingAround | WindowValues


@dataclass(frozen=True, slots=True)
class Tick:
    """What happened since the last one: moves by input, inputs that said anything, the clock."""

    moves: Mapping[str | None, list[Moved]]
    touched: frozenset[str | None]
    clock_moved: bool
    everything: Callable[[str | None], Moved]
    again: Callable[[Sequence[str], str | None], list[Moved]]  # some units, to be asked again
    item: Callable[[Store], Items | None]  # the context item; None where there is none yet
    decided: bool = True  # nothing is missing that an answer may have to wait for
    ended: frozenset[str | None] = frozenset()
    passing: frozenset[str | None] = frozenset()  # inputs whose units are not kept

    def keeps(self, name: str | None) -> bool:
        """Whether units of an input can be read again."""
        return name not in self.passing


class Pipeline:
    """One operator that tells the answer, or operators with values and what follows from them."""

    def __init__(self, division: Division, snapshot: Any = None) -> None:
        self.division = division
        parts = division.parts
        self.teller: Teller | None = None
        self.valued: list[tuple[Part, Valued]] = []
        self.rest: Rewriting | None = None
        nothing = [None] * len(parts)
        told, values, rest, joined, fresh = snapshot or (None, nothing, None, nothing, True)
        if division.plain and parts[0].fold == "items":
            self.teller = _teller(parts[0], told)
        else:
            self.valued = [(p, _valued(p, v)) for p, v in zip(parts, values, strict=True)]
            self.rest = Rewriting(division.rest, rest)
        self._timers = {
            part.variable.number: Timers(part.timing)
            for part in parts
            if part.timing is not None and isinstance(division.cuts[part.input], TagCut)
        }
        self.joinings = {
            part.variable.number: Joining(part, held)
            for part, held in zip(parts, joined, strict=True)
            if part.probes
        }
        self.numberings = {
            part.variable.number: Numbering(part, held)
            for part, held in zip(parts, joined, strict=True)
            if part.numbered is not None
        }
        self.asked = 0  # units that operators were asked about so far
        self._upset = False  # an error broke a tick off
        self._unsaid: list[Change] = []  # what had been made of it by then
        self._fresh = bool(fresh)  # the value has not been told yet
        self._held = False  # the value has changed, and waits to be told

    def is_timed(self, name: str | None) -> bool:
        """Whether somebody asks when units of an input may change by themselves."""
        return any(p.input == name and p.timing is not None for p in self.division.parts)

    @property
    def driven(self) -> frozenset[str | None]:
        """The inputs that are read unit by unit."""
        return frozenset(one for part in self.division.parts for one in part.inputs)

    def waits(self, undecided: frozenset[str | None]) -> bool:
        """Whether the teller must not go on while something of these inputs may be missing."""
        if self.teller is None:
            return False
        part = self.division.parts[0]
        if isinstance(self.teller, Windowing):  # windows over a document close for good
            return isinstance(self.division.cuts[part.input], TagCut) and bool(undecided)
        if not isinstance(self.teller, Concatenation):
            return bool(undecided)
        if part.numbered is not None and isinstance(self.division.cuts[part.input], TagCut):
            return bool(undecided)
        waited = part.others | {one.input for one in part.probes if not one.additive}
        return bool(waited & undecided)

    def on_tick(self, tick: Tick, asking: Asking, instant: int) -> list[Change]:
        """The changes of the answer."""
        upset, self._upset = self._upset, True
        if self.teller is not None:
            part = self.division.parts[0]
            moves = self._moves(part, tick, asking, upset)
            if isinstance(self.teller, Windowing):
                out = self.teller.on_tick(_bare(moves), asking, *_state(part, tick), instant)
            elif isinstance(self.teller, Grouping):
                for one, how in moves:
                    self._unsaid += self.teller.on_batch(one, how, instant)
                out, self._unsaid = self._unsaid, []
            else:  # all are asked before anything counts as told: an error may break it off
                teller = self.teller
                found = [teller.ask(one, how) for one, how in moves]
                out = [change for one in found for change in teller.take(one, instant)]
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
        changed = changed or bool(self.division.whole & tick.touched)
        self._upset = False
        if not changed and not (self.division.clock and tick.clock_moved):
            return []
        self._held = not tick.decided
        return [] if self._held else self.rewritten(asking, instant, tick.item)

    def _moves(
        self, part: Part, tick: Tick, asking: Asking, upset: bool
    ) -> Iterator[tuple[Moved, Asking]]:
        """What this part must take in, and how its units are asked."""
        joining = self.joinings.get(part.variable.number)
        timers = self._timers.get(part.variable.number)
        moves = self._moved(part, tick, asking, upset)
        numbering = self.numberings.get(part.variable.number)
        if joining is not None:
            asking = replace(asking, beside=joining.frame)
        if numbering is not None:
            moves = [*moves, *self._renumbered(numbering, moves, tick, asking)]
            asking = replace(asking, beside=numbering.frame)
        for moved in moves:
            if joining is not None:
                joining.leave(moved)
            if moved.asked is not None:
                self.asked += len(moved.asked)
                if timers is not None and moved.asked.instants:
                    timers.asked(moved.asked, asking.now.instant)
            yield moved, asking
        if joining is not None and joining.gave_up:
            yield tick.everything(part.input), asking

    def _renumbered(
        self, numbering: Numbering, moves: list[Moved], tick: Tick, asking: Asking
    ) -> list[Moved]:
        """Units whose items have other positions, because those before give more or fewer."""
        asked = {key for one in moves if one.asked is not None for key in one.asked.keys}
        again = [u for u in numbering.on_moves(moves, asking) if u not in asked] if moves else []
        return tick.again(again, numbering.part.input) if again else []

    def _moved(self, part: Part, tick: Tick, asking: Asking, upset: bool) -> list[Moved]:
        """The moves of the input, and units again where something else that they read moved."""
        moves = list(tick.moves.get(part.input, ()))
        joining = self.joinings.get(part.variable.number)
        timers = self._timers.get(part.variable.number)
        met: set[str] | None = set()
        if joining is not None:
            met = joining.on_others(tick.moves, tick.again, tick.everything, asking)
        if part.others & tick.touched or met is None or upset:
            return [*moves, tick.everything(part.input)]
        if part.clock and tick.clock_moved:
            if timers is None:
                return [*moves, tick.everything(part.input)]
            moves += tick.again(timers.due(asking.now.instant), part.input)
        asked = {key for one in moves if one.asked is not None for key in one.asked.keys}
        gone = {key for one in moves for key in one.gone}
        again = met - asked - gone
        return moves + (tick.again(sorted(again), part.input) if again else [])

    def rewritten(
        self, asking: Asking, instant: int, context: Callable[[Store], Items | None] | None = None
    ) -> list[Change]:
        """What follows from the values, computed again."""
        assert self.rest is not None
        store = Store(asking.names)
        item = None
        if None in self.division.whole:
            assert context is not None
            item = context(store)
            if item is None:
                return []
        values = {p.variable.number: op.value(asking, store) for p, op in self.valued}
        changes = self.rest.on_batch(asking, store, values, item, instant)
        self._fresh = False
        return changes

    def settled(self, name: str | None, keys: Sequence[str], first: int) -> None:
        """Units of an input will not change; nor will there be others before the first place."""
        if self.teller is not None and isinstance(self.teller, Concatenation) and keys:
            self.teller.settle(keys, first)
        for part, operator in self.valued:
            if part.input == name and isinstance(operator, Counting):
                operator.settle(keys)

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of the answer back."""
        told = self.rest if self.teller is None else self.teller
        return self._unsaid + ([] if told is None else told.retracted(instant))

    def snapshot(self) -> Any:
        """What brings it back; None where an operator has no snapshot."""
        if self._unsaid or any(isinstance(op, WindowValues) for _, op in self.valued):
            return None
        parts = self.division.parts
        told = None if self.teller is None else self.teller.snapshot()
        try:
            values = [op.snapshot() for _, op in self.valued if not isinstance(op, WindowValues)]
        except Unwritten:
            return None
        beside: dict[int, Joining | Numbering] = {**self.joinings, **self.numberings}
        joined = [beside.get(part.variable.number) for part in parts]
        return (
            told,
            values or [None] * len(parts),
            None if self.rest is None else self.rest.snapshot(),
            [None if one is None else one.snapshot() for one in joined],
            self._fresh or self._held,
        )

    @property
    def state_bytes(self) -> int:
        """About what the operators keep."""
        tellers = [op for op in (self.teller, self.rest) if op is not None]
        held = sum(op.state_bytes for op in tellers) + sum(op.state_bytes for _, op in self.valued)
        held += sum(one.state_bytes for one in self.numberings.values())
        return held + sum(one.state_bytes for one in self.joinings.values())

    def __len__(self) -> int:
        told = self.rest if self.teller is None else self.teller
        return 0 if told is None else len(told)


def _teller(part: Part, snapshot: Any) -> Teller:
    match part.shape:
        case Listed():
            return Concatenation(part, snapshot)
        case Sorted():
            return Sorting(part, snapshot)
        case Grouped():
            return Grouping(part, snapshot)
        case Windowed():
            return Windowing(part, snapshot)


def _bare(moves: Iterator[tuple[Moved, Asking]]) -> list[Moved]:
    return [moved for moved, _ in moves]


def _state(part: Part, tick: Tick) -> tuple[bool, bool]:
    """Whether open windows may be told, and whether no item will come any more."""
    return tick.decided, part.input in tick.ended


def _valued(part: Part, snapshot: Any) -> Valued:
    if part.around is not None:
        return CountingAround(part, snapshot)
    if isinstance(part.shape, Windowed):
        return WindowValues(part)
    match part.fold:
        case "items" if part.limit is not None:
            return Leading(part, snapshot)
        case "items":
            return Keeping(part, snapshot)
        case "count" | "exists" | "empty":
            return Counting(part, snapshot)
        case _:
            return Folding(part, snapshot)
