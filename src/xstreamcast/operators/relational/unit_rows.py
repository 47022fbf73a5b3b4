"""The units of an input as rows: what arrived, what went, and what the clock makes due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.timing import content_instants
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.atomic import NODE
from xstreamcast.model.delta import Delta, NodeRef, Row, RowDelta
from xstreamcast.model.instant import parse_instant
from xstreamcast.operators.units.evaluating import rows_of_strings
from xstreamcast.operators.units.mini_cache import UnitSpans
from xstreamcast.operators.units.timers import Timers

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.operators.feeds.arrived import Tick
    from xstreamcast.operators.relational.tick import Round
    from xstreamcast.operators.units.units import Minis, UnitDelta


class UnitRows:
    """A row for each unit, ranked by its place in the input."""

    def __init__(self, node: c.Units, whole: bool = False) -> None:
        self._node = node
        self._whole = whole  # while anything is missing, only complete units have rows
        self._there: dict[str, Any] = {}  # the places of units that have rows
        self._timers = None if node.timing is None else Timers(node.timing)
        self._content: p.Expression | None = None  # the dateTimes in a unit that the clock meets
        if node.timing is not None and node.timing.content:
            number = node.document.number
            self._content = content_instants(node.document, p.Variable(-number - 1, "each"))

    def apply(self, turn: Round, tick: Tick, everything: bool) -> Delta:
        """The units that changed; all of them if everything is made again."""
        name = self._node.input
        everything = everything and name not in tick.dropped
        moves = [tick.everything(name)] if everything else list(tick.moves.get(name, ()))
        if self._node.clock and turn.clock_moved and not everything:
            moves += self._due(tick, moves, turn)
        out: Delta = {}
        for moved in moves:
            if self._node.append and moved.changed is not None and moved.changed.missing is None:
                self._append(moved.changed, moved.places, out)
            else:
                self._take(moved, out, turn, self._whole and not tick.decided)
        turn.places[self._node.source] = self._there
        return out

    def _due(self, tick: Tick, moves: Sequence[UnitDelta], turn: Round) -> list[UnitDelta]:
        name = self._node.input
        if self._timers is None:
            return [tick.everything(name)]
        changed = {key for one in moves if one.changed is not None for key in one.changed.keys}
        due = [u for u in self._timers.due(turn.asking.now.instant) if u not in changed]
        return tick.again(due, name) if due else []

    def _append(self, minis: Minis, places: Mapping[str, int], out: Delta) -> None:
        """Units that follow all others: none of them is known yet."""
        source, whole = self._node.source, self._whole
        for unit in minis.keys:
            cells = (((NODE, NodeRef(source, unit, 0)),),) if whole else ()
            out[str(unit),] = RowDelta(None, Row((places[unit],), cells))

    def _take(self, moved: UnitDelta, out: Delta, turn: Round, whole: bool) -> None:
        for unit in moved.leaving(list(self._there) if moved.complete else ()):
            if unit in self._there:
                self._note(unit, self._there.pop(unit), None, out)
        if moved.reordered:
            for unit, before in list(self._there.items()):
                place = moved.places.get(unit, before)
                if place != before:
                    self._note(unit, before, place, out)
                    self._there[unit] = place
                    turn.dirty.add((self._node.source, unit))  # the order of its nodes is new
        if moved.changed is None:
            return
        lacking = _lacking(moved.changed) if whole else set()
        for unit in lacking & self._there.keys():
            self._note(unit, self._there.pop(unit), None, out)
        keys: Sequence[str] = moved.changed.keys
        if lacking:
            keys = [unit for unit in keys if unit not in lacking]
        places = [moved.places[unit] for unit in keys]
        turn.dirty.update(zip(repeat(self._node.source), keys))
        if self._there or out:
            for unit, place in zip(keys, places, strict=True):
                self._note(unit, self._there.get(unit), place, out)
        else:  # none of them is known
            for unit, place in zip(keys, places, strict=True):
                out[str(unit),] = RowDelta(None, self._row(unit, place))
        if not self._node.append:
            self._there.update(zip(keys, places, strict=True))
        if self._timers is not None and moved.changed.instants:
            self._timers.evaluated(self._timed(moved.changed, turn), turn.asking.now.instant)

    def _timed(self, minis: Minis, turn: Round) -> Minis:
        """The units with the instants in their content that the clock is compared with."""
        if self._content is None:
            return minis
        assert minis.instants is not None
        frame = turn.asking.units(minis, self._node.document)
        texts = rows_of_strings(frame, evaluate(self._content, frame))
        found = [[one[0] for text in own if (one := parse_instant(text))] for own in texts]
        bounds = np.split(minis.instants.values, np.cumsum(minis.instants.counts)[:-1])
        both = [np.array([*own, *more], np.int64) for own, more in zip(bounds, found, strict=True)]
        instants = UnitSpans(np.concatenate(both), np.array([len(one) for one in both], np.int64))
        return replace(minis, instants=instants)

    def _note(self, unit: str, before: Any, now: Any, out: Delta) -> None:
        """A unit was at one place, and is at another; it may have been noted before."""
        key = (str(unit),)  # the unit's own name may hold it, see SplitFeed
        was = out.get(key)
        new = None if now is None else self._row(unit, now)
        if was is not None:
            old = was.old
        else:
            old = new if before == now else None if before is None else self._row(unit, before)
        if old is None and new is None:
            out.pop(key, None)
        else:
            out[key] = RowDelta(old, new)

    def _row(self, unit: str, place: Any) -> Row:
        if not self._whole:  # the answer reads units by their keys
            return Row((place,), ())
        return Row((place,), (((NODE, NodeRef(self._node.source, unit, 0)),),))


def _lacking(minis: Minis) -> set[str]:
    """The units of which something is missing."""
    if minis.missing is None:
        return set()
    return {key for key, lacks in zip(minis.keys, minis.missing.units, strict=True) if lacks}
