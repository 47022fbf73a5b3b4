"""The units of an input as rows: what arrived, what went, and what the clock makes due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from xstreamcast.model.atomic import NODE
from xstreamcast.model.delta import Delta, NodeRef, Row, RowDelta
from xstreamcast.operators.answer import _longest_ascending
from xstreamcast.operators.timers import Timers

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.operators.pipeline import Tick
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.units import Moved

_GAP: Final = 1 << 24  # between the labels of neighbours


class UnitRows:
    """A row for each unit, ranked by a label that others' coming and going does not change."""

    def __init__(self, node: c.Units) -> None:
        self._node = node
        self._labels: dict[str, int] = {}  # of all units of the input, once it was reordered
        self._there: dict[str, int] = {}  # the labels of those that have rows
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
        for unit in moved.leaving(list(self._there)):
            if unit in self._there:
                self._note(unit, self._there.pop(unit), None, out)
        if moved.reordered:
            self._reorder(moved.places, out)
        if moved.asked is None:
            return
        for unit in moved.asked.keys:
            turn.dirty.add((self._node.source, unit))
            label = self._labels.get(unit)
            label = moved.places[unit] * _GAP if label is None else label
            self._note(unit, self._there.get(unit), label, out)
            self._there[unit] = label
        if self._timers is not None and moved.asked.instants:
            self._timers.asked(moved.asked, turn.asking.now.instant)

    def _note(self, unit: str, before: int | None, now: int | None, out: Delta) -> None:
        """A unit had one label, and has another; it may have been noted before in this round."""
        was = out.get((unit,))
        old = self._row(unit, before) if was is None else was.old
        new = self._row(unit, now)
        if old is None and new is None:
            out.pop((unit,), None)
        else:
            out[(unit,)] = RowDelta(old, new)

    def _row(self, unit: str, label: int | None) -> Row | None:
        if label is None:
            return None
        return Row((label,), (((NODE, NodeRef(self._node.source, unit, 0)),),))

    def _reorder(self, places: Mapping[str, int], out: Delta) -> None:
        """New labels for units that stand elsewhere, and for those between others."""
        known = self._labels or self._there
        there = sorted((unit for unit in known if unit in places), key=known.__getitem__)
        kept = _longest_ascending([places[unit] for unit in there])
        fixed = {unit: known[unit] for at, unit in enumerate(there) if at in kept}
        self._labels = _labelled(sorted(places, key=places.__getitem__), fixed)
        for unit, before in list(self._there.items()):
            label = self._labels.get(unit)
            if label is not None and label != before:
                self._note(unit, before, label, out)
                self._there[unit] = label


def _labelled(wanted: Sequence[str], fixed: Mapping[str, int]) -> dict[str, int]:
    """Ascending labels in the order wanted; those that are fixed stay if there is room."""
    out: dict[str, int] = {}
    run: list[str] = []
    last: int | None = None
    for unit in wanted:
        label = fixed.get(unit)
        if label is None:
            run.append(unit)
            continue
        if not _between(run, last, label, out):
            return {one: at * _GAP for at, one in enumerate(wanted)}
        run, last = [], label
        out[unit] = label
    begin = 0 if last is None else last + _GAP
    out |= {unit: begin + at * _GAP for at, unit in enumerate(run)}
    return out


def _between(run: list[str], low: int | None, high: int, out: dict[str, int]) -> bool:
    """Labels for a run between two others → whether there was room."""
    if not run:
        return True
    first = high - (len(run) + 1) * _GAP if low is None else low
    step = (high - first) // (len(run) + 1)
    if step == 0:
        return False
    out.update({unit: first + (at + 1) * step for at, unit in enumerate(run)})
    return True
