"""The operators of a divided query, and what a tick makes of what has moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from xstreamcast.algebra.cut import TagCut
from xstreamcast.algebra.division import Division, Grouped, Listed, Part, Sorted
from xstreamcast.operators.concatenation import Concatenation
from xstreamcast.operators.folds import Counting, Folding
from xstreamcast.operators.grouping import Grouping
from xstreamcast.operators.keeping import Keeping
from xstreamcast.operators.rewriting import Rewriting
from xstreamcast.operators.sorting import Sorting
from xstreamcast.operators.timers import Timers
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.model.change import Change
    from xstreamcast.model.items import Items
    from xstreamcast.operators.asking import Asking
    from xstreamcast.operators.units import Moved

Teller = Concatenation | Sorting | Grouping
Valued = Counting | Folding | Keeping


@dataclass(frozen=True, slots=True)
class Tick:
    """What happened since the last one: moves by input, inputs that said anything, the clock."""

    moves: Mapping[str | None, list[Moved]]
    touched: frozenset[str | None]
    clock_moved: bool
    everything: Callable[[str | None], Moved]
    again: Callable[[list[str], str | None], Moved]  # some units, to be asked again
    item: Callable[[Store], Items | None]  # the context item; None where there is none yet
    decided: bool = True  # nothing is missing that an answer may have to wait for


class Pipeline:
    """One operator that tells the answer, or operators with values and what follows from them."""

    def __init__(self, division: Division, snapshot: Any = None) -> None:
        self.division = division
        parts = division.parts
        self.teller: Teller | None = None
        self.valued: list[tuple[Part, Valued]] = []
        self.rest: Rewriting | None = None
        told, values, rest = (None, [None] * len(parts), None) if snapshot is None else snapshot
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
        self._fresh = snapshot is None
        self._held = False  # the value has changed, and waits to be told

    def is_timed(self, name: str | None) -> bool:
        """Whether somebody asks when units of an input may change by themselves."""
        return any(p.input == name and p.timing is not None for p in self.division.parts)

    @property
    def waits(self) -> bool:
        """Whether the teller must not begin before nothing is missing any more."""
        parts = self.division.parts
        return self.teller is not None and (
            not isinstance(self.teller, Concatenation) or bool(parts[0].others)
        )

    def on_tick(self, tick: Tick, asking: Asking, instant: int) -> list[Change]:
        """The changes of the answer."""
        if self.teller is not None:
            part = self.division.parts[0]
            moves = self._moves(part, tick, asking.now.instant)
            return [c for one in moves for c in self.teller.on_batch(one, asking, instant)]
        changed = self._fresh or self._held
        for part, operator in self.valued:
            for moved in self._moves(part, tick, asking.now.instant):
                changed = operator.on_batch(moved, asking) or changed
        changed = changed or bool(self.division.whole & tick.touched)
        if not changed and not (self.division.clock and tick.clock_moved):
            return []
        self._held = not tick.decided
        return [] if self._held else self._rewritten(tick, asking, instant)

    def _moves(self, part: Part, tick: Tick, now: int) -> list[Moved]:
        """What this part must take in: all units again where something else that it reads moved."""
        moves = tick.moves.get(part.input, [])
        timers = self._timers.get(part.variable.number)
        if part.others & tick.touched:
            moves = [*moves, tick.everything(part.input)]
        elif part.clock and tick.clock_moved:
            again = tick.everything if timers is None else partial(tick.again, timers.due(now))
            moves = [*moves, again(part.input)]
        if timers is not None:
            for moved in moves:
                if moved.asked is not None and moved.asked.instants:
                    timers.asked(moved.asked, now)
        return moves

    def _rewritten(self, tick: Tick, asking: Asking, instant: int) -> list[Change]:
        assert self.rest is not None
        store = Store(asking.names)
        item = None
        if None in self.division.whole:
            item = tick.item(store)
            if item is None:
                return []
        values = {p.variable.number: op.value(asking, store) for p, op in self.valued}
        changes = self.rest.on_batch(asking, store, values, item, instant)
        self._fresh = False
        return changes

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of the answer back."""
        told = self.rest if self.teller is None else self.teller
        return [] if told is None else told.retracted(instant)

    def snapshot(self) -> Any:
        """What brings it back; None where an operator keeps nodes and has no snapshot."""
        if any(isinstance(op, Keeping) for _, op in self.valued):
            return None
        told = None if self.teller is None else self.teller.snapshot()
        values = [op.snapshot() for _, op in self.valued if not isinstance(op, Keeping)]
        return told, values, None if self.rest is None else self.rest.snapshot()

    @property
    def state_bytes(self) -> int:
        """About what the operators keep."""
        tellers = [op for op in (self.teller, self.rest) if op is not None]
        return sum(op.state_bytes for op in tellers) + sum(op.state_bytes for _, op in self.valued)

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


def _valued(part: Part, snapshot: Any) -> Valued:
    match part.fold:
        case "items":
            return Keeping(part)
        case "count" | "exists" | "empty":
            return Counting(part, snapshot)
        case _:
            return Folding(part, snapshot)
