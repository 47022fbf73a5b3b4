"""Choices, bindings and checks of one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.single.codes import Code, code_of, located
from xstreamcast.evaluate.typing.conversion import checked, converted
from xstreamcast.evaluate.typing.fitting import fitting
from xstreamcast.functions.atomize import effective_boolean
from xstreamcast.model.atomic import BOOLEAN, NODE
from xstreamcast.model.row import FALSE, TRUE, SingleRow
from xstreamcast.model.sequence_type import AtomicItem

if TYPE_CHECKING:
    from xstreamcast.evaluate.context import Context
    from xstreamcast.model.column import Column


def holds(column: Column, frame: Frame) -> bool:
    """The effective boolean value of the only row."""
    if column.__class__ is SingleRow:
        row: SingleRow = column
        if row.tag == BOOLEAN and len(row.cells) == 1:
            return bool(row.cells[0])
        if row.tag == NODE or not row.cells:
            return bool(row.cells)
    return bool(effective_boolean(frame.context.store, column)[0])


def if_(plan: p.If, context: Context) -> Code:
    """One branch."""
    test = code_of(plan.test, context)
    then, otherwise = code_of(plan.then, context), code_of(plan.otherwise, context)

    def run(frame: Frame) -> Column:
        try:
            chosen = then if holds(test(frame), frame) else otherwise
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904
        return chosen(frame)

    return run


def and_(plan: p.And, context: Context) -> Code:
    """All operands, up to the first that is false."""
    return _until(plan, context, False)


def or_(plan: p.Or, context: Context) -> Code:
    """Any operand, up to the first that is true."""
    return _until(plan, context, True)


def _until(plan: p.And | p.Or, context: Context, decides: bool) -> Code:
    operands = [code_of(operand, context) for operand in plan.operands]
    decided, otherwise = (TRUE, FALSE) if decides else (FALSE, TRUE)

    def run(frame: Frame) -> Column:
        try:
            for operand in operands:
                if holds(operand(frame), frame) is decides:
                    return decided
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904
        return otherwise

    return run


def return_(plan: p.Return, context: Context) -> Code | None:
    """A FLWOR of `let` alone; one that loops is evaluated in columns."""
    bound: list[tuple[int, Code]] = []
    source: p.Tuples = plan.source
    while isinstance(source, p.Let):
        bound.append((source.variable.number, code_of(source.value, context)))
        source = source.source
    if not isinstance(source, p.Unit):
        return None
    bound.reverse()
    result = code_of(plan.result, context)

    def run(frame: Frame) -> Column:
        own: dict[Key, Value] = {}
        inner = Frame.of_row(frame.context, frame, own)
        for number, value in bound:
            inner.bind(number, value(inner))
        return result(inner)

    return run


def convert(plan: p.Convert, context: Context) -> Code:
    """The value as it is, where it has the type already."""
    operand, fits = code_of(plan.operand, context), fitting(plan.type)
    # One item of the very type is what most values are; `none` takes no item.
    exact = plan.type.item.tag if isinstance(plan.type.item, AtomicItem) else -1
    if plan.type.occurs == "none":
        exact = -1

    def run(frame: Frame) -> Column:
        value = operand(frame)
        if value.__class__ is SingleRow and value.tag == exact and len(value.cells) == 1:
            return value
        if fits(value):
            return value
        try:
            return converted(frame, value, plan.type, plan.role)
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run


def treat(plan: p.Treat, context: Context) -> Code:
    """The value, if it has the type."""
    operand, fits = code_of(plan.operand, context), fitting(plan.type)

    def run(frame: Frame) -> Column:
        value = operand(frame)
        if fits(value):
            return value
        try:
            return checked(frame, value, plan.type, plan.role, plan.code)
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run
