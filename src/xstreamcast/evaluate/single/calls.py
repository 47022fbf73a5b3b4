"""Calls of one row: declared functions, and library functions that need no array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.evaluate.calls import NO_FOCUS, focus_of, parameter_types
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.single.codes import Code, code_of, located
from xstreamcast.evaluate.single.library import quick_of
from xstreamcast.evaluate.typing.conversion import converted
from xstreamcast.evaluate.typing.fitting import fitting
from xstreamcast.model.atomic import DOUBLE, INTEGER, PRIMITIVE
from xstreamcast.model.row import SingleRow, row_of
from xstreamcast.model.sequence_type import AtomicItem

if TYPE_CHECKING:
    from xstreamcast.evaluate.context import Context
    from xstreamcast.functions.call import CallContext
    from xstreamcast.model.column import Column

_DOUBLE: Final = AtomicItem(DOUBLE)
_WHOLE: Final = 1 << 53


def user_call(plan: p.UserCall, context: Context) -> Code:
    """The body of a declared function, in a frame that sees parameters and global variables."""
    arguments = [code_of(argument, context) for argument in plan.args]
    function = context.program.functions[plan.function]
    numbers = [parameter.variable.number for parameter in function.parameters]
    depth = context.deeper()
    body: Code | None = None  # made when it is first called: a function may call itself

    direct, index = context.direct(), plan.function

    def run(frame: Frame) -> Column:
        nonlocal body
        inside = frame.context.of_module(function.module)
        values: dict[Key, Value] = NO_FOCUS.copy()
        try:
            given = [argument(frame) for argument in arguments]
            if direct is not None and direct.on[index]:
                found = direct.called(index, given)
                if found is not None:
                    return found
            values.update(zip(numbers, given, strict=True))
            if body is None:
                body = code_of(function.body, inside)
            depth.enter()
            try:
                return body(Frame.of_row(inside, inside.root, values))
            finally:
                depth.leave()
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run


def call(plan: p.Call, context: Context) -> Code:
    """The body of a library function, on arguments that are converted where they must be."""
    function = plan.function
    arguments = [code_of(argument, context) for argument in plan.args]
    types = parameter_types(function, len(arguments))
    ready = [(fitting(wanted), wanted) for wanted in types]
    doubles = [wanted.item == _DOUBLE for wanted in types]
    quick = quick_of(function, len(arguments))
    by_context: dict[int, CallContext] = {}  # by the context of a module

    def converted_argument(i: int, value: Column, frame: Frame) -> Column:
        fits, wanted = ready[i]
        if quick is not None and value.__class__ is not SingleRow:
            value = row_of(value) or value
        if fits(value):
            return value
        if doubles[i]:
            promoted = _as_double(value)
            if promoted is not None:
                return promoted
        return converted(frame, value, wanted, f"argument {i + 1} of {function.name}")

    def run(frame: Frame) -> Column:
        try:
            found = [argument(frame) for argument in arguments]  # all before any is converted
            given = [converted_argument(i, value, frame) for i, value in enumerate(found)]
            if quick is not None:
                quickly = quick(frame, *given)
                if quickly is not None:
                    return quickly
            if function.focus:
                call = frame.context.call(1, focus_of(frame), plan.namespaces)
            else:
                known = by_context.get(id(frame.context))
                if known is None:
                    known = frame.context.call(1, None, plan.namespaces)
                    by_context[id(frame.context)] = known
                call = known
            result: Column = function.body(call, *given)
            return result
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run


def _as_double(value: Column) -> SingleRow | None:
    """One integer that a double holds exactly, as one."""
    row = row_of(value)
    if row is None or PRIMITIVE.get(row.tag) != INTEGER or len(row.cells) != 1:
        return None
    return SingleRow(DOUBLE, (float(row.cells[0]),)) if abs(row.cells[0]) < _WHOLE else None
