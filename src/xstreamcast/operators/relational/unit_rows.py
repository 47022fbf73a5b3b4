"""The units of an input as rows: what arrived, what went, and what the clock makes due."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xstreamcast.model.atomic import NODE
from xstreamcast.model.delta import Delta, NodeRef, Row, RowDelta
from xstreamcast.operators.timers import Timers

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.operators.pipeline import Tick
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.units import Moved


class UnitRows:
    """A row for each unit, ranked by its place in the input."""

    def __init__(self, node: c.Units) -> None:
        self._node = node
        self._there: dict[str, Any] = {}  # the places of units that have rows
        self._timers = None if node.timing is None else Timers(node.timing)

    def apply(self, turn: Round, tick: Tick, everything: bool) -> Delta:
        """The units that changed; all of them if everything is to be made anew."""
        name = self._node.input
        moves = [tick.everything(name)] if everything else list(tick.moves.get(name, ()))
        if self._node.clock and turn.clock_moved and not everything:
            moves += self._due(tick, moves, turn)
        out: Delta = {}
        for moved in moves:
            self._take(moved, out, turn)
        return out

    def _due(self, tick: Tick, moves: Sequence[Moved], turn: Round) -> list[Moved]:
        name = self._node.input
        if self._timers is None:
            return [tick.everything(name)]
        asked = {key for one in moves if one.asked is not None for key in one.asked.keys}
        due = [u for u in self._timers.due(turn.asking.now.instant) if u not in asked]
        return tick.again(due, name) if due else []

    def _take(self, moved: Moved, out: Delta, turn: Round) -> None:
        for unit in moved.leaving(list(self._there) if moved.complete else ()):
            if unit in self._there:
                self._note(unit, self._there.pop(unit), None, out)
        if moved.reordered:
            for unit, before in list(self._there.items()):
                place = moved.places.get(unit, before)
                if place != before:
                    self._note(unit, before, place, out)
                    self._there[unit] = place
        if moved.asked is None:
            return
        for unit in moved.asked.keys:
            turn.dirty.add((self._node.source, unit))
            place = moved.places[unit]
            self._note(unit, self._there.get(unit), place, out)
            self._there[unit] = place
        if self._timers is not None and moved.asked.instants:
            self._timers.asked(moved.asked, turn.asking.now.instant)

    def _note(self, unit: str, before: Any, now: Any, out: Delta) -> None:
        """A unit was at one place, and is at another; it may have been noted before."""
        was = out.get((unit,))
        old = self._row(unit, before) if was is None else was.old
        new = self._row(unit, now)
        if old is None and new is None:
            out.pop((unit,), None)
        else:
            out[(unit,)] = RowDelta(old, new)

    def _row(self, unit: str, place: Any) -> Row | None:
        if place is None:
            return None
        return Row((place,), (((NODE, NodeRef(self._node.source, unit, 0)),),))
