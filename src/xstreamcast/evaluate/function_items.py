"""Functions as values: references, closures, partial application, dynamic calls.

The closures one expression makes for many rows share a frame; calling them for many rows is one
evaluation, not one per closure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial as bound
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.calls import (
    NO_FOCUS,
    declared_call,
    focus_of,
    parameter_types,
)
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.single.library import quick_of
from xstreamcast.evaluate.typing.conversion import converted
from xstreamcast.evaluate.typing.fitting import fitting
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.call import FocusColumns
from xstreamcast.model.atomic import FUNCTION, FUNCTIONS
from xstreamcast.model.column import Column, scatter
from xstreamcast.model.function_item import Alike, Captured, FunctionItem, Remade, family_of
from xstreamcast.model.items import Items, objects
from xstreamcast.model.sequence_type import ANY, FunctionType

if TYPE_CHECKING:
    from xstreamcast.evaluate.context import Context
    from xstreamcast.functions.call import CallContext
    from xstreamcast.model.column import Ints


def inline(plan: p.Inline, frame: Frame) -> Column:
    """A closure for each row; one for all where nothing is captured."""
    if not frame.context.reads.of(plan).keys:
        return _same(_closure(plan, frame, 0), frame.n)
    return Column(_functions([_closure(plan, frame, row) for row in range(frame.n)]))


def _closure(plan: p.Inline, frame: Frame, row: int) -> FunctionItem:
    types = tuple(parameter.type for parameter in plan.parameters)

    def made(body: Callable[..., Column], captured: Captured | None) -> FunctionItem:
        alone = None if captured is None else _body_for_one(plan, frame, row)
        remade = Remade(_closure_again, plan, lambda: _captured(plan, frame, row))
        return FunctionItem(
            None, len(types), types, plan.result, body, captured, False, alone, remade
        )

    def together(rows: Ints) -> FunctionItem:
        return made(lambda _, *arguments: _run(plan, frame, rows, arguments), None)

    def body(call: CallContext, *arguments: Column) -> Column:
        return _run(plan, frame, np.full(call.n, row, np.int64), arguments)

    return made(body, Captured((id(plan), id(frame)), row, together))


def _own_keys(plan: p.Inline, context: Context) -> list[Key]:
    """The variables that a closure captures; those of the prolog are known in every evaluation."""
    return sorted(context.reads.of(plan).keys - context.root.bound, key=str)


def _captured(plan: p.Inline, frame: Frame, row: int) -> tuple[Column, ...]:
    at = np.array((row,), np.int64)
    return tuple(frame.variable(key).take(at) for key in _own_keys(plan, frame.context))


def _closure_again(context: Context, plan: p.Inline, captured: Sequence[Column]) -> FunctionItem:
    values = dict(zip(_own_keys(plan, context), captured, strict=True))
    return _closure(plan, Frame(context, 1, context.root, np.zeros(1, np.int64), values), 0)


def _body_for_one(plan: p.Inline, frame: Frame, row: int) -> Callable[..., Column]:
    rows = np.array((row,), np.int64)
    return lambda *arguments: _run(plan, frame, rows, arguments)


def _run(plan: p.Inline, frame: Frame, rows: Ints, arguments: Sequence[Column]) -> Column:
    """The body for many rows, each in the row of the frame its closure was made in."""
    values: dict[Key, Value] = NO_FOCUS.copy()
    for parameter, argument in zip(plan.parameters, arguments, strict=True):
        values[parameter.variable.number] = argument
    context = frame.context
    depth = context.deeper()
    depth.enter(len(rows))
    try:
        if len(rows) == frame.n == 1:
            return evaluate(plan.body, Frame.of_row(context, frame, values))
        return evaluate(plan.body, Frame(context, len(rows), frame, rows, values))
    finally:
        depth.leave(len(rows))


def function_ref(plan: p.FunctionRef, frame: Frame) -> Column:
    """A library function as an item; one that reads the focus keeps that of its row."""
    focus = focus_of(frame) if plan.function.focus else None
    if focus is None:
        return _same(_library_item(frame.context, plan), frame.n)
    rows = [np.array([row], np.int64) for row in range(frame.n)]
    each = ([c.take(r) for c in _parts(focus)] for r in rows)
    return Column(_functions([_library_item(frame.context, plan, own) for own in each]))


def _library_item(
    context: Context, plan: p.FunctionRef, focus: Sequence[Column] = ()
) -> FunctionItem:
    function, types = plan.function, parameter_types(plan.function, plan.arity)
    quick = quick_of(function, plan.arity) if context.one_by_one else None
    alone = None if quick is None else bound(quick, context.root)

    def body(call: CallContext, *arguments: Column) -> Column:
        lifted = FocusColumns(*(_repeated(c, call.n) for c in focus)) if focus else None
        result: Column = function.body(context.call(call.n, lifted, plan.namespaces), *arguments)
        return result

    name, remade = (function.uri, function.local), Remade(_library_item, plan, lambda: tuple(focus))
    return FunctionItem(name, plan.arity, types, function.result, body, alone=alone, remade=remade)


def _parts(focus: FocusColumns) -> tuple[Column, Column, Column]:
    return focus.item, focus.position, focus.last


def user_ref(plan: p.UserRef, frame: Frame) -> Column:
    """A declared function as an item, in every row."""
    return _same(declared_item(frame.context, plan.function), frame.n)


def declared_item(context: Context, index: int, _: Sequence[Column] = ()) -> FunctionItem:
    """A declared function as an item, by its index in the program."""
    function = context.program.functions[index]

    def body(call: CallContext, *arguments: Column) -> Column:
        inner = Frame(context, call.n, context.root, np.zeros(call.n, np.int64))
        return declared_call(index, arguments, inner)

    types = tuple(parameter.type for parameter in function.parameters)
    name, remade = (function.uri, function.local), Remade(declared_item, index, tuple)
    return FunctionItem(name, function.arity, types, function.result, body, remade=remade)


def partial(plan: p.Partial, frame: Frame) -> Column:
    """Functions with some arguments fixed, for each row its own."""
    functions = one_each(evaluate(plan.function, frame), len(plan.args))
    fixed = [None if a is None else evaluate(a, frame) for a in plan.args]
    made = []
    for row, function in enumerate(functions):
        alone = frame.select(np.array([row], np.int64))
        held = [
            None if c is None else _argument(alone, c.take(alone.origin), function, i)  # type: ignore[arg-type]
            for i, c in enumerate(fixed)
        ]
        made.append(_partial(function, held))
    return Column(_functions(made))


def _argument(frame: Frame, column: Column, function: FunctionItem, i: int) -> Column:
    return converted(frame, column, function.parameters[i], f"argument {i + 1} of the function")


def _partial(function: FunctionItem, held: list[Column | None]) -> FunctionItem:
    open_types = tuple(t for t, c in zip(function.parameters, held, strict=True) if c is None)

    def body(call: CallContext, *arguments: Column) -> Column:
        rest = iter(arguments)
        filled = [next(rest) if c is None else _repeated(c, call.n) for c in held]
        return function.body(call, *filled)

    def captured() -> tuple[Column, ...]:
        return Column(_functions([function])), *(one for one in held if one is not None)

    remade = Remade(_partial_again, tuple(one is not None for one in held), captured)
    return FunctionItem(None, len(open_types), open_types, function.result, body, remade=remade)


def _partial_again(_: Context, given: tuple[bool, ...], captured: Sequence[Column]) -> FunctionItem:
    (function,), held = one_each(captured[0], len(given)), iter(captured[1:])
    return _partial(function, [next(held) if one else None for one in given])


def dynamic_call(plan: p.DynamicCall, frame: Frame) -> Column:
    """One evaluation for each function that occurs, on its rows."""
    functions = one_each(evaluate(plan.function, frame), len(plan.args))
    arguments = [evaluate(argument, frame) for argument in plan.args]
    groups: dict[Any, list[int]] = {}
    for row, function in enumerate(functions):
        groups.setdefault(family_of(function), []).append(row)
    parts = []
    for rows in groups.values():
        index = np.array(rows, np.int64)
        inner = frame if len(rows) == frame.n else frame.select(index)
        some = arguments if inner is frame else [a.take(index) for a in arguments]
        parts.append((index, _call_alike([functions[row] for row in rows], some, inner)))
    return scatter(frame.n, parts)


def _call_alike(functions: list[FunctionItem], arguments: list[Column], frame: Frame) -> Column:
    return invoke(Alike.of(functions).at(np.arange(len(functions))), arguments, frame)


def invoke(function: FunctionItem, arguments: Sequence[Column], frame: Frame) -> Column:
    """A function item called for all rows of the frame: what library functions call back."""
    if function.arity != len(arguments):
        raise error(
            "XPTY0004",
            f"the function must take {len(arguments)} arguments; it takes {function.arity}",
        )
    ready = _converted(function, arguments, frame)
    if frame.n == 1 and function.alone is not None:
        found = function.alone(*ready)
        if found is not None:
            return found
    if not function.needs_call:
        captured = function.captured
        rows = None if captured is None else np.full(frame.n, captured.row, np.int64)
        alike = function if captured is None or rows is None else captured.together(rows)
        return alike.body(None, *ready)
    return function.body(frame.context.call(frame.n), *ready)


def _converted(function: FunctionItem, arguments: Sequence[Column], frame: Frame) -> list[Column]:
    if frame.n == 1:
        for argument, wanted in zip(arguments, function.parameters, strict=True):
            if not fitting(wanted)(argument):
                break
        else:
            return list(arguments)
    given = zip(arguments, function.parameters, strict=True)
    name = function.name[1] if function.name else "the function"
    return [
        converted(frame, argument, wanted, f"argument {i} of {name}")
        for i, (argument, wanted) in enumerate(given, start=1)
    ]


def coerced(context: Context, items: Items, wanted: FunctionType) -> Items:
    """Functions converted to a function type; a wrong arity is left unchanged."""
    made: dict[int, FunctionItem] = {}  # one for each function, so that its rows stay one group

    def fitted(tag: int, value: Any) -> Any:
        if tag not in FUNCTIONS or value.arity != _arity(wanted):
            return value
        return made.setdefault(id(value), _wrapped(context, value, wanted))

    changed = [fitted(tag, value) for tag, value in items.pairs()]
    tags = items.all_tags().tolist()
    pairs = zip(tags, items.values.tolist(), changed, strict=True)
    return Items.mixed([tag if new is old else FUNCTION for tag, old, new in pairs], changed)


def _arity(wanted: FunctionType) -> int:
    return len(wanted.parameters or ())


def _wrapped(context: Context, function: FunctionItem, wanted: FunctionType) -> FunctionItem:
    result, captured = wanted.result or ANY, function.captured
    fits = fitting(result)
    if captured is not None:  # those of one family stay one
        inner = captured.together
        captured = replace(
            captured,
            family=(captured.family, wanted),
            together=lambda rows: _wrapped(context, inner(rows), wanted),
        )

    def body(call: CallContext, *arguments: Column) -> Column:
        assert call.invoke is not None
        frame = call.invoke.__self__.frame(call.n)  # type: ignore[attr-defined]
        value = call.invoke(function, arguments)
        return converted(frame, value, result, "the result of the function")

    def alone(*arguments: Column) -> Column:
        value = invoke(function, arguments, context.root)
        if fits(value):
            return value
        return converted(context.root, value, result, "the result of the function")

    types = wanted.parameters or ()
    remade = Remade(_wrapped_again, wanted, lambda: (Column(_functions([function])),))
    return FunctionItem(
        function.name, function.arity, types, result, body, captured, alone=alone, remade=remade
    )


def _wrapped_again(
    context: Context, wanted: FunctionType, captured: Sequence[Column]
) -> FunctionItem:
    (function,) = one_each(captured[0], _arity(wanted))
    return _wrapped(context, function, wanted)


def one_each(column: Column, arity: int) -> list[FunctionItem]:
    """The function of every row: exactly one, of that arity."""
    if not column.single:
        raise error("XPTY0004", "the called item must be one function; got another number of items")
    found = []
    for tag, value in column.items.pairs():
        if tag not in FUNCTIONS:
            raise error("XPTY0004", "the called item must be a function; got another item")
        if value.arity != arity:
            raise error(
                "XPTY0004", f"the function takes {value.arity} arguments; the call has {arity}"
            )
        found.append(value)
    return found


def _functions(values: list[FunctionItem]) -> Items:
    return Items(FUNCTION, objects(values))


def _same(function: FunctionItem, n: int) -> Column:
    return Column.constant(_functions([function]), n)


def _repeated(column: Column, n: int) -> Column:
    """The single row of a column, n times."""
    return Column.constant(column.items, n)
