"""Rows that compare as several tests say, found by the tests themselves: pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.delta import Cell, Key, Row
from xstreamcast.operators.relational.folds.folds import fold_state
from xstreamcast.operators.relational.joins.range_side import RangeSide

if TYPE_CHECKING:
    from xstreamcast.operators.relational.tick import Round

Test = tuple[p.JoinKey, RangeSide, RangeSide]  # how values of outer and inner rows compare
_LEFT: Final = p.Variable(-1, "left")
_RIGHT: Final = p.Variable(-2, "right")


def rows_that_compare(
    tests: Sequence[Test], keys: Sequence[Key], turn: Round
) -> dict[Key, list[Key]]:
    """By outer row: the inner rows for which all tests hold, one after the other."""
    return {key: _inner_rows(tests, key, turn) for key in keys}


def _inner_rows(tests: Sequence[Test], key: Key, turn: Round) -> list[Key]:
    found = list(tests[0][2].rows)
    for test, outer, inner in tests:
        if not found:
            return []
        outer.check_one(key, turn)
        for one in found:
            inner.check_one(one, turn)
        mine = outer.cells[key] or ()
        theirs = [inner.cells[one] or () for one in found]
        kind = p.GeneralCompare if test.general else p.ValueCompare
        space = turn.workspace()
        columns = {_LEFT.number: [mine] * len(found), _RIGHT.number: theirs}
        frame = space.frame(columns, len(found), {})
        holds = evaluate(kind(test.op, p.Var(_LEFT), p.Var(_RIGHT)), frame)
        found = [
            one for one, cell in zip(found, space.cells(holds), strict=True) if cell and cell[0][1]
        ]
    return found


def fold_of(
    fold: c.Fold, rows: Mapping[Key, Row], column: int, chosen: Iterable[Key], turn: Round
) -> Cell:
    """A fold over some rows, in the order of their ranks."""
    members = [(rows[key].rank, key, rows[key].cells[column]) for key in chosen]
    state = fold_state(fold)
    state.update([], sorted(members, key=lambda member: member[0]))
    return state.value(turn)
