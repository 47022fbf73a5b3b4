"""Constants, variables, sequences, arithmetic and comparisons of one row."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.evaluate import compare, values
from xstreamcast.evaluate.single.codes import Code, code_of, located
from xstreamcast.functions.call import CODEPOINT
from xstreamcast.model.atomic import BOOLEAN, DOUBLE, INTEGER, PRIMITIVE, STRING, UNTYPED
from xstreamcast.model.column import Column, concat_rows
from xstreamcast.model.row import FALSE, NOTHING, SHORT, TRUE, SingleRow, row_of

if TYPE_CHECKING:
    from xstreamcast.evaluate.context import Context
    from xstreamcast.evaluate.frame import Frame

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_EXACT: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "idiv": lambda a, b: a // b if (a < 0) == (b < 0) else -(-a // b),
    "mod": lambda a, b: a % b if a >= 0 < b else (abs(a) % abs(b)) * (-1 if a < 0 else 1),
}
_FLOATING: Final = frozenset("+-*")
_DIVIDES: Final = frozenset({"idiv", "mod"})
_WIDE: Final = 1 << 256  # beyond it the rule for columns counts digits


def const(plan: p.Const, context: Context) -> Code:
    """The same atoms each time."""
    tags = {atom.tag for atom in plan.atoms}
    if len(tags) > 1 or len(plan.atoms) > SHORT:
        return lambda frame: values.const(plan, frame)
    tag = tags.pop() if tags else NOTHING.tag
    row = SingleRow(tag, tuple(atom.value for atom in plan.atoms))
    return lambda frame: row


def var(plan: p.Var, context: Context) -> Code:
    """The variable; what is not in the frame itself is found by the frame."""
    number = plan.variable.number

    def run(frame: Frame) -> Column:
        value = frame.values.get(number)
        if value.__class__ is SingleRow or value.__class__ is Column:
            return value
        return frame.variable(number)

    return run


def comma(plan: p.Comma, context: Context) -> Code:
    """The parts after each other."""
    parts = [code_of(part, context) for part in plan.parts]

    def run(frame: Frame) -> Column:
        found = [part(frame) for part in parts]
        live = [one for one in found if one.__class__ is not SingleRow or one.cells]
        if len(live) <= 1:
            return live[0] if live else NOTHING
        rows = [one for one in live if isinstance(one, SingleRow)]
        if len(rows) == len(live):
            tag = rows[0].tag
            cells = tuple(cell for one in rows for cell in one.cells)
            if len(cells) <= SHORT and all(one.tag == tag for one in rows):
                return SingleRow(tag, cells)
        return concat_rows(live)

    return run


def range_(plan: p.Range, context: Context) -> Code:
    """low to high, where both are integers and near each other."""
    low, high = code_of(plan.low, context), code_of(plan.high, context)

    def run(frame: Frame) -> Column:
        try:
            first, last = low(frame), high(frame)
            a, b = row_of(first), row_of(last)
            if (
                a is not None and b is not None and a.tag == b.tag == INTEGER
                and len(a.cells) == len(b.cells) == 1
                and b.cells[0] - a.cells[0] < SHORT
            ):  # fmt: skip
                cells = tuple(range(a.cells[0], b.cells[0] + 1))
                return SingleRow(INTEGER, cells) if cells else NOTHING
            return values.range_of(first, last, frame)
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run


def arithmetic(plan: p.Arithmetic, context: Context) -> Code:
    """Integers and doubles here, all else as for columns."""
    left, right, op = code_of(plan.left, context), code_of(plan.right, context), plan.op
    exact = _EXACT.get(op)
    floating, divides = op in _FLOATING, op in _DIVIDES

    def run(frame: Frame) -> Column:
        try:
            one = left(frame)
            a = one if one.__class__ is SingleRow else row_of(one)
            if a is not None and not a.cells:
                return NOTHING
            if a is None or len(a.cells) != 1:
                return values.combined(plan, one, right, frame)
            other = right(frame)
            b = other if other.__class__ is SingleRow else row_of(other)
            if b is not None and len(b.cells) == 1:
                x, y, kind, like = a.cells[0], b.cells[0], a.tag, b.tag
                if kind != INTEGER or like != INTEGER:
                    kind, like = PRIMITIVE.get(kind, kind), PRIMITIVE.get(like, like)
                if kind == INTEGER == like:
                    if exact is not None and not (divides and y == 0) and -_WIDE < x < _WIDE:
                        return SingleRow(INTEGER, (exact(x, y),))
                elif kind == DOUBLE == like and floating:
                    return SingleRow(DOUBLE, (exact(x, y),))  # type: ignore[misc]
            return values.combined(plan, one, lambda _: other, frame)
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run


def value_compare(plan: p.ValueCompare, context: Context) -> Code:
    """Two integers, two doubles or two strings here, all else as for columns."""
    left, right = code_of(plan.left, context), code_of(plan.right, context)
    holds = _COMPARE[plan.op]

    def run(frame: Frame) -> Column:
        try:
            one = left(frame)
            a = row_of(one)
            if a is None or len(a.cells) != 1:
                return compare.value_of(plan, one, right, frame)
            other = right(frame)
            b = row_of(other)
            if b is not None and len(b.cells) == 1 and _alike(a.tag, b.tag, frame):
                return TRUE if holds(a.cells[0], b.cells[0]) else FALSE
            return compare.value_of(plan, one, lambda _: other, frame)
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run


def general_compare(plan: p.GeneralCompare, context: Context) -> Code:
    """A few integers, doubles or strings on both sides here, all else as for columns."""
    left, right = code_of(plan.left, context), code_of(plan.right, context)
    holds = _COMPARE[plan.op]

    def run(frame: Frame) -> Column:
        try:
            one, other = left(frame), right(frame)
            if (
                one.__class__ is SingleRow and other.__class__ is SingleRow
                and one.tag == INTEGER == other.tag
                and len(one.cells) == 1 == len(other.cells)
            ):  # fmt: skip
                return TRUE if holds(one.cells[0], other.cells[0]) else FALSE
            a, b = row_of(one), row_of(other)
            if a is not None and b is not None:
                if not a.cells or not b.cells:
                    return (
                        FALSE if _comparable(a, b) else compare.general_of(plan, one, other, frame)
                    )
                if _alike(a.tag, b.tag, frame) and len(a.cells) * len(b.cells) <= 2 * SHORT:
                    found = any(holds(x, y) for x in a.cells for y in b.cells)
                    return TRUE if found else FALSE
            return compare.general_of(plan, one, other, frame)
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run


def _comparable(a: SingleRow, b: SingleRow) -> bool:
    """Whether no item needs atomisation, as nodes would."""
    return (not a.cells or a.tag in PRIMITIVE) and (not b.cells or b.tag in PRIMITIVE)


def _alike(one: int, other: int, frame: Frame) -> bool:
    """Whether Python compares values of the two types as XQuery does."""
    kind = PRIMITIVE.get(one)
    if kind != PRIMITIVE.get(other) or one == UNTYPED:
        return False
    if kind == STRING:
        return frame.context.static.collation == CODEPOINT
    return kind in (INTEGER, DOUBLE, BOOLEAN)
