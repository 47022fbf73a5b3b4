"""Calls of one row: declared functions, and library functions that need no array."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.evaluate.calls import NO_FOCUS, focus_of, parameter_types
from xstreamcast.evaluate.conversion import converted
from xstreamcast.evaluate.fitting import fitting
from xstreamcast.evaluate.frame import Frame, Key, Value
from xstreamcast.evaluate.single.codes import Code, code_of, located
from xstreamcast.evaluate.single.control import holds
from xstreamcast.functions.signature import FN
from xstreamcast.functions.strings import joined
from xstreamcast.model.atomic import DOUBLE, INTEGER, PRIMITIVE, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.row import FALSE, NOTHING, TRUE, Row, row_of
from xstreamcast.model.sequence_type import AtomicItem

if TYPE_CHECKING:
    from xstreamcast.evaluate.context import Context
    from xstreamcast.functions.call import Call

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
    ready = [(code, fitting(wanted), wanted) for code, wanted in zip(arguments, types, strict=True)]
    doubles = [wanted.item == _DOUBLE for wanted in types]
    quick = _QUICK.get((function.local, len(arguments))) if function.uri == FN else None
    told: dict[int, Call] = {}  # by the context of a module

    def converted_argument(i: int, frame: Frame) -> Column:
        code, fits, wanted = ready[i]
        value = code(frame)
        if quick is not None and value.__class__ is not Row:
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
            given = [converted_argument(i, frame) for i in range(len(ready))]
            if quick is not None:
                found = quick(frame, *given)
                if found is not None:
                    return found
            if function.focus:
                call = frame.context.call(1, focus_of(frame), plan.namespaces)
            else:
                known = told.get(id(frame.context))
                if known is None:
                    known = frame.context.call(1, None, plan.namespaces)
                    told[id(frame.context)] = known
                call = known
            result: Column = function.body(call, *given)
            return result
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run


# -- functions that need no array; None: this value is for the body -----------------------------


def _as_double(value: Column) -> Row | None:
    """One integer that a double holds exactly, as one."""
    row = row_of(value)
    if row is None or PRIMITIVE.get(row.tag) != INTEGER or len(row.cells) != 1:
        return None
    return Row(DOUBLE, (float(row.cells[0]),)) if abs(row.cells[0]) < _WHOLE else None


def _count(frame: Frame, items: Column) -> Column:
    cells = items.cells if items.__class__ is Row else items.items
    return Row(INTEGER, (len(cells),))


def _empty(frame: Frame, items: Column) -> Column:
    return FALSE if _length(items) else TRUE


def _exists(frame: Frame, items: Column) -> Column:
    return TRUE if _length(items) else FALSE


def _length(items: Column) -> int:
    return len(items.cells if items.__class__ is Row else items.items)


def _not(frame: Frame, items: Column) -> Column:
    return FALSE if holds(items, frame) else TRUE


def _boolean(frame: Frame, items: Column) -> Column:
    return TRUE if holds(items, frame) else FALSE


def _head(frame: Frame, items: Column) -> Column | None:
    if items.__class__ is not Row:
        return None
    row: Row = items
    return Row(row.tag, row.cells[:1]) if row.cells else NOTHING


def _tail(frame: Frame, items: Column) -> Column | None:
    if items.__class__ is not Row:
        return None
    row: Row = items
    return Row(row.tag, row.cells[1:]) if len(row.cells) > 1 else NOTHING


def _abs(frame: Frame, number: Column) -> Column | None:
    found = _cell(number)
    return Row(INTEGER, (abs(found[1]),)) if found and found[0] == INTEGER else None


def _string_length(frame: Frame, text: Column) -> Column | None:
    found = _text(text)
    return None if found is None else Row(INTEGER, (len(found),))


def _concat(frame: Frame, *parts: Column) -> Column | None:
    texts = [_text(part) for part in parts]
    if any(text is None for text in texts):
        return None
    return Row(STRING, (joined(texts),))  # type: ignore[arg-type]


def _string(frame: Frame, item: Column) -> Column | None:
    found = _cell(item)
    if found is None or PRIMITIVE.get(found[0]) not in (STRING, INTEGER):
        return None
    if PRIMITIVE[found[0]] == INTEGER and abs(found[1]) >= _WHOLE:
        return None
    return Row(STRING, (str(found[1]),))


def _cell(column: Column) -> tuple[int, Any] | None:
    if column.__class__ is Row and len(column.cells) == 1:
        return column.tag, column.cells[0]
    return None


def _text(column: Column) -> str | None:
    """A single string; None for all else, the empty sequence included."""
    found = _cell(column)
    return found[1] if found and PRIMITIVE.get(found[0]) == STRING else None


def _substring(frame: Frame, text: Column, start: Column, length: Column | None = None) -> Any:
    found, begin = _text(text), _whole(start)
    size = -1 if length is None else _whole(length)
    if found is None or begin is None or size is None:
        return None
    end = len(found) if length is None else max(begin - 1 + size, 0)
    return Row(STRING, (found[max(begin - 1, 0) : end],))


def _subsequence(frame: Frame, items: Column, start: Column, length: Column | None = None) -> Any:
    begin, size = _whole(start), -1 if length is None else _whole(length)
    if begin is None or size is None:
        return None
    count = _length(items)
    end = count if length is None else min(max(begin - 1 + size, 0), count)
    return _run(items, max(begin - 1, 0), end)


def _run(items: Column, begin: int, end: int) -> Column:
    """The items from one place to another."""
    if begin >= end:
        return NOTHING
    if items.__class__ is Row:
        return Row(items.tag, items.cells[begin:end])
    part = items.items.slice(begin, end)
    return Column(part) if end - begin == 1 else Column(part, np.array((0, end - begin), np.int64))


def _index_of(frame: Frame, items: Column, wanted: Column) -> Column | None:
    row, found = row_of(items), _cell(wanted)
    if row is None or found is None or not row.tag == found[0] == INTEGER:
        return None
    places = tuple(i for i, cell in enumerate(row.cells, start=1) if cell == found[1])
    return Row(INTEGER, places) if places else NOTHING


def _sum(frame: Frame, items: Column) -> Column | None:
    row = row_of(items)
    if row is None or row.tag != INTEGER:
        return None
    return Row(INTEGER, (sum(row.cells),))


def _whole(column: Column) -> int | None:
    """A double that is a whole number."""
    found = _cell(column)
    if found is None or found[0] != DOUBLE or not found[1].is_integer():
        return None
    return int(found[1])


_QUICK: Final[dict[tuple[str, int], Callable[..., Column | None]]] = {
    ("count", 1): _count,
    ("empty", 1): _empty,
    ("exists", 1): _exists,
    ("not", 1): _not,
    ("boolean", 1): _boolean,
    ("head", 1): _head,
    ("tail", 1): _tail,
    ("abs", 1): _abs,
    ("sum", 1): _sum,
    ("index-of", 2): _index_of,
    ("subsequence", 2): _subsequence,
    ("subsequence", 3): _subsequence,
    ("substring", 2): _substring,
    ("substring", 3): _substring,
    ("string-length", 1): _string_length,
    ("string", 1): _string,
    ("concat", 2): _concat,
    ("concat", 3): _concat,
}
