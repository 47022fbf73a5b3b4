"""Predicates: positions without a focus where that suffices, masks otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.frame import FOCUS, ITEM, LAST, POSITION, positions
from xstreamcast.evaluate.nodes.siblings import nth_sibling
from xstreamcast.evaluate.walk import at_home, evaluate
from xstreamcast.functions.atomize import effective_boolean
from xstreamcast.model.atomic import BOOLEAN, DECIMAL, DOUBLE, FLOAT, INTEGER, MIXED, PRIMITIVE
from xstreamcast.model.column import Column, scatter
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Bools, Ints

_NUMBERS = frozenset({INTEGER, DECIMAL, FLOAT, DOUBLE})
_IS_NUMBER = np.zeros(256, np.bool_)  # by type
_IS_NUMBER[[tag for tag, kind in PRIMITIVE.items() if kind in _NUMBERS]] = True


def filter_(plan: p.Filter, frame: Frame) -> Column:
    """The items for which the predicate holds."""
    sibling = nth_sibling(plan, frame)
    if sibling is not None:
        return sibling
    match plan.predicate:
        case p.Const(atoms=(p.Atom(tag, value),)) if PRIMITIVE.get(tag) == INTEGER:
            return _nth(plan, frame, value)
        case p.Last():
            return picked(evaluate(plan.input, frame), None, None, plan.reverse)
        case _ if frame.context.reads.of(plan.predicate).keys.isdisjoint(FOCUS):
            column, origin = (
                at_home(plan.input, frame) if frame.n > 1 else (evaluate(plan.input, frame), None)
            )
            return _independent(plan, column, origin, frame)
        case _:
            return _masked(plan, evaluate(plan.input, frame), frame)


def filtered(plan: p.Filter, column: Column, frame: Frame) -> Column:
    """The items of an input that is there, for which the predicate holds."""
    if frame.context.reads.of(plan.predicate).keys.isdisjoint(FOCUS):
        return _independent(plan, column, None, frame)
    return _masked(plan, column, frame)


def _nth(plan: p.Filter, frame: Frame, value: int) -> Column:
    column, origin = (
        at_home(plan.input, frame) if frame.n > 1 else (evaluate(plan.input, frame), None)
    )
    return picked(column, origin, value, plan.reverse)


def picked(column: Column, origin: Ints | None, place: int | Ints | None, reverse: bool) -> Column:
    """One item of each row by its position from 1 (None: the last), from an outer row if so."""
    if column.n == 1 and origin is None and isinstance(place, int):
        return _one(column, place, reverse)
    bounds = column.bounds()
    start, end = bounds[:-1], bounds[1:]
    if origin is not None:
        start, end = start[origin], end[origin]
    lengths = end - start
    places = lengths if place is None else np.broadcast_to(place, lengths.shape)
    at = end - places if reverse else start + places - 1
    there = (places >= 1) & (places <= lengths)
    return Column.from_lengths(column.items.take(at[there]), there.astype(np.int64))


def _one(column: Column, place: int, reverse: bool) -> Column:
    """One item of the only row."""
    count = len(column.items)
    if not 1 <= place <= count:
        return Column.empty(1)
    at = count - place if reverse else place - 1
    return Column(column.items.slice(at, at + 1))


def _independent(plan: p.Filter, column: Column, origin: Ints | None, frame: Frame) -> Column:
    """A predicate that ignores the focus is evaluated once a row, if the row has any item."""
    lengths = column.lengths() if origin is None else column.lengths()[origin]
    rows = np.flatnonzero(lengths > 0)
    if not len(rows):
        return Column.empty(frame.n)
    value = evaluate(plan.predicate, frame.select(rows))
    if (
        value.single
        and PRIMITIVE.get(value.items.tag) == INTEGER
        and value.items.values.dtype != object
    ):
        places = np.zeros(frame.n, np.int64)
        places[rows] = np.maximum(value.items.values, 0)
        return picked(column, origin, places, plan.reverse)
    if origin is not None:
        column = column.take(origin)
    lifted = value.take(np.repeat(np.arange(len(rows)), lengths[rows]))
    return column.keep(_holds(lifted, column, frame, plan.reverse))


def _masked(plan: p.Filter, column: Column, frame: Frame) -> Column:
    if len(column.items) == 0:
        return column
    return column.keep(
        _holds(
            evaluate(plan.predicate, _focused(column, frame, plan.reverse)),
            column,
            frame,
            plan.reverse,
        )
    )


def _focused(column: Column, frame: Frame, reverse: bool) -> Frame:
    inner = frame.focused(column)
    if reverse:
        inner.steady = False
        inner.values[POSITION] = lambda: _places(column, True)
    return inner


def _places(column: Column, reverse: bool) -> Column:
    forward = positions(column)
    if not reverse:
        return forward
    lengths = column.lengths()
    return Column(Items(INTEGER, np.repeat(lengths, lengths) + 1 - forward.items.values))


def _holds(value: Column, column: Column, frame: Frame, reverse: bool) -> Bools:
    """For each item of the filtered column, whether its predicate value lets it through."""
    tag = PRIMITIVE.get(value.items.tag)
    if value.offsets is None and tag == BOOLEAN:
        return value.items.values
    if tag not in _NUMBERS and value.items.tag != MIXED:
        return effective_boolean(frame.context.store, value)
    return _positional(value, column, frame, reverse)


def _positional(value: Column, column: Column, frame: Frame, reverse: bool) -> Bools:
    lengths = value.lengths()
    tags = value.items.all_tags()
    first = np.minimum(value.bounds()[:-1], max(len(tags) - 1, 0))
    by_place: Bools = (lengths == 1) & _IS_NUMBER[tags][first]
    holds = np.zeros(value.n, np.bool_)
    rest = np.flatnonzero(~by_place)
    holds[rest] = effective_boolean(frame.context.store, value.take(rest))
    at = np.flatnonzero(by_place)
    places = _places(column, reverse).items.values[at]
    holds[at] = value.items.take(first[at]).as_objects() == places
    return holds


__all__ = ["FOCUS", "ITEM", "LAST", "filter_", "scatter"]
