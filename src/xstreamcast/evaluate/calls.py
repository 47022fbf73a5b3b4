"""Calls of library functions and of declared ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.frame import FOCUS, ITEM, LAST, POSITION, Frame, Key, Value
from xstreamcast.evaluate.typing.conversion import converted
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.call import FocusColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xstreamcast.functions.registry import Function
    from xstreamcast.model.column import Column
    from xstreamcast.model.sequence_type import SequenceType

NO_FOCUS: dict[Key, Value] = dict.fromkeys(FOCUS)


def call(plan: p.Call, frame: Frame) -> Column:
    """The body of the function, once for all rows, on converted arguments."""
    function = plan.function
    arguments = [evaluate(argument, frame) for argument in plan.args]
    focus = focus_of(frame) if function.focus else None
    return library_call(function, arguments, frame, focus, plan.namespaces)


def library_call(
    function: Function,
    arguments: Sequence[Column],
    frame: Frame,
    focus: FocusColumns | None,
    namespaces: p.Namespaces | None = None,
) -> Column:
    """Arguments converted to the declared types, then the body."""
    types = parameter_types(function, len(arguments))
    ready = [
        converted(frame, argument, wanted, f"argument {i} of {function.name}")
        for i, (argument, wanted) in enumerate(zip(arguments, types, strict=True), start=1)
    ]
    caller = frame.context.call(frame.n, focus, namespaces)
    result: Column = function.body(caller, *ready)
    return result


def parameter_types(function: Function, count: int) -> tuple[SequenceType, ...]:
    """The types of so many arguments; a variadic function repeats its last one."""
    more = count - len(function.parameters)
    return (
        function.parameters + function.parameters[-1:] * more if more > 0 else function.parameters
    )


def focus_of(frame: Frame) -> FocusColumns | None:
    """The focus of a call; None where there is none."""
    item, position, last = (frame.get(key) for key in (ITEM, POSITION, LAST))
    if item is None or position is None or last is None:
        return None
    return FocusColumns(item, position, last)


def user_call(plan: p.UserCall, frame: Frame) -> Column:
    """The body of a declared function, for the rows that call it."""
    arguments = [evaluate(argument, frame) for argument in plan.args]
    return declared_call(plan.function, arguments, frame)


def declared_call(number: int, arguments: Sequence[Column], frame: Frame) -> Column:
    """A new frame that sees only parameters and global variables; ends where no row is left."""
    function = frame.context.program.functions[number]
    context = frame.context.of_module(function.module)
    direct = context.direct()
    if direct is not None and direct.on[number]:
        found = direct.of_rows(number, arguments, frame.n)
        if found is not None:
            return found
    values: dict[Key, Value] = dict(NO_FOCUS)
    for parameter, argument in zip(function.parameters, arguments, strict=True):
        values[parameter.variable.number] = argument
    origin = np.zeros(frame.n, np.int64)
    inner = Frame(context, frame.n, context.root, origin, values)
    depth = context.deeper()
    depth.enter(frame.n)
    try:
        return evaluate(function.body, inner)
    finally:
        depth.leave(frame.n)
