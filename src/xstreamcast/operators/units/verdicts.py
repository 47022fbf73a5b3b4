"""Whether each unit had an answer at its last evaluation; if that holds, it is skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.evaluate.flwor.tuples import gathered
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.walk import evaluate, truth
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import cast, castable
from xstreamcast.model.atomic import DOUBLE, UNTYPED
from xstreamcast.model.column import Column, offsets_of
from xstreamcast.model.items import Items
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.circuit.unit_folds.verdict import Verdict
    from xstreamcast.operators.units.evaluating import EvaluationContext
    from xstreamcast.tape.layout import I64, Bools

_UNKNOWN, _PASSED_OVER, _ANSWERED = -1, 0, 1


class Verdicts:
    """By the place of a unit: what it was, and the sides of the test that do not change by values.

    Known only of units of one element, whose sides are each one number.
    """

    def __init__(self, verdict: Verdict, units: int) -> None:
        self._verdict = verdict
        self._was = np.full(units, _UNKNOWN, np.int8)
        self._sides = np.zeros((len(verdict.steady), units))

    def forget(self, places: I64) -> None:
        """Units that are new but for what is kept of them."""
        self._was[places] = _UNKNOWN

    def known(self, places: I64) -> Bools:
        """Of which units anything is known."""
        found: Bools = self._was[places] != _UNKNOWN
        return found

    # -- judging ----------------------------------------------------------------------------------

    def stay(self, places: I64, values: dict[Key, Value], asking: EvaluationContext) -> Bools:
        """Which known units are answered as they were, now that these values are kept of them."""
        given: dict[Key, Value] = dict(values)
        for (variable, _), side in zip(self._verdict.steady, self._sides, strict=True):
            given[variable.number] = Column(Items(DOUBLE, side[places]))
        context = asking.context(Store(asking.names))
        frame = Frame(context, len(places), context.root, np.zeros(len(places), np.int64), given)
        try:
            holds = truth(self._verdict.alone, frame)
        except Error:  # evaluated together, they raise the right error
            return np.zeros(len(places), np.bool_)
        finally:
            asking.release()
        found: Bools = holds == (self._was[places] == _ANSWERED)
        return found

    # -- asking -----------------------------------------------------------------------------------

    def listed(self, frame: Frame, places: I64, roots: Column) -> Column:
        """The answer of every unit, as its plan would have it; what passed is noted."""
        plan, store = self._verdict, frame.context.store
        self.forget(places)
        tuples = gathered(plan.units, frame)
        sides = [atomize(store, evaluate(side, tuples)) for _, side in plan.steady]
        tuples = tuples.extend(
            {v.number: side for (v, _), side in zip(plan.steady, sides, strict=True)}
        )
        holds = truth(plan.whole, tuples) if tuples.n else np.zeros(0, np.bool_)
        chosen = tuples.select(np.flatnonzero(holds))
        value = evaluate(plan.result, chosen)
        unit = tuples.origin_in(frame)
        counts = np.bincount(unit[holds], value.lengths(), frame.n).astype(np.int64)
        self._note(places, unit, roots.lengths(), holds, sides)
        return Column(value.items, offsets_of(counts))

    def _note(self, places: I64, unit: I64, roots: I64, holds: Bools, sides: list[Column]) -> None:
        plain = (np.bincount(unit, minlength=len(places)) == 1) & (roots == 1)
        sure = plain[unit]
        numbers = np.zeros((len(sides), len(unit)))
        for i, side in enumerate(sides):
            single = side.lengths() == 1
            sure &= single
            items = side.items
            if items.tag == UNTYPED and self._verdict.general and castable(items, DOUBLE).all():
                items = cast(items, DOUBLE)
            if items.tag != DOUBLE:
                return
            numbers[i, single] = items.values[side.bounds()[:-1][single]]
        self._was[places[unit[sure]]] = np.where(holds[sure], _ANSWERED, _PASSED_OVER)
        self._sides[:, places[unit[sure]]] = numbers[:, sure]

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return self._was.nbytes + self._sides.nbytes
