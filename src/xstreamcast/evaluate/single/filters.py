"""Predicates over one short sequence: item by item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.walk import descendants
from xstreamcast.errors import Error
from xstreamcast.evaluate.frame import FOCUS, ITEM, LAST, POSITION, Frame, Key, Value
from xstreamcast.evaluate.nodes import filters
from xstreamcast.evaluate.single.codes import Code, code_of, located
from xstreamcast.evaluate.single.control import holds
from xstreamcast.model.atomic import BOOLEAN, DECIMAL, DOUBLE, FLOAT, INTEGER, PRIMITIVE
from xstreamcast.model.row import NOTHING, SingleRow, row_of

if TYPE_CHECKING:
    from xstreamcast.evaluate.context import Context
    from xstreamcast.model.column import Column

_FEW: Final = 12  # items that are looked at one by one
_NUMBERS: Final = frozenset({INTEGER, DECIMAL, FLOAT, DOUBLE})


def filter_(plan: p.Filter, context: Context) -> Code | None:
    """One item by a constant position; few items by any predicate that calls no declared function.

    A declared function may call itself: all items together are its batch.
    """
    given = code_of(plan.input, context)
    match plan.predicate:
        case p.Const(atoms=(p.Atom(tag, value),)) if PRIMITIVE.get(tag) == INTEGER:
            return _nth(plan, given, value)
        case p.Last():
            return None
    if context.reads.of(plan.predicate).keys.isdisjoint(FOCUS):
        return _chosen(plan, given, code_of(plan.predicate, context))
    if any(isinstance(one, p.UserCall | p.DynamicCall) for one in descendants(plan.predicate)):
        return None
    return _each(plan, given, code_of(plan.predicate, context))


def _nth(plan: p.Filter, given: Code, value: int) -> Code:
    return lambda frame: _picked(given(frame), value, plan.reverse)


def _picked(column: Column, place: int, reverse: bool) -> Column:
    """The item at a position from 1, or from the end."""
    if column.__class__ is not SingleRow:
        return filters.picked(column, None, place, reverse)
    cells = column.cells
    if not 1 <= place <= len(cells):
        return NOTHING
    at = len(cells) - place if reverse else place - 1
    return SingleRow(column.tag, cells[at : at + 1])


def _chosen(plan: p.Filter, given: Code, predicate: Code) -> Code:
    """By a predicate that ignores the focus: one item, all of them or none."""

    def run(frame: Frame) -> Column:
        column = given(frame)
        try:
            if not (column.cells if column.__class__ is SingleRow else len(column.items)):
                return NOTHING
            value = predicate(frame)
            row = row_of(value)
            if row is None or len(row.cells) != 1 or PRIMITIVE.get(row.tag) not in _NUMBERS:
                return column if holds(value, frame) else NOTHING
            place = row.cells[0]
            return _picked(column, int(place), plan.reverse) if place % 1 == 0 else NOTHING
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run


def _each(plan: p.Filter, given: Code, predicate: Code) -> Code:
    def run(frame: Frame) -> Column:
        column = given(frame)
        row = row_of(column)
        try:
            if row is None or len(row.cells) > _FEW or plan.reverse:
                return filters.filtered(plan, column, frame)
            return _kept(row, predicate, frame)
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run


def _kept(row: SingleRow, predicate: Code, frame: Frame) -> Column:
    count, kept = len(row.cells), []
    last = SingleRow(INTEGER, (count,))
    for place, cell in enumerate(row.cells, start=1):
        focus: dict[Key, Value] = {
            ITEM: SingleRow(row.tag, (cell,)),
            POSITION: SingleRow(INTEGER, (place,)),
            LAST: last,
        }
        inner = Frame.of_row(frame.context, frame, focus)
        if _passes(predicate(inner), place, inner):
            kept.append(cell)
    if len(kept) == count:
        return row
    return SingleRow(row.tag, tuple(kept)) if kept else NOTHING


def _passes(value: Column, place: int, frame: Frame) -> bool:
    """A number lets the item at that place through, all else by its truth."""
    row = row_of(value)
    if row is not None and len(row.cells) == 1:
        if row.tag == BOOLEAN:
            return bool(row.cells[0])
        if PRIMITIVE.get(row.tag) in _NUMBERS:
            return bool(row.cells[0] == place)
    return holds(value, frame)
