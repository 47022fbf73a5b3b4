"""Calls of function items and lookups for one row: one function or map, one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.evaluate.function_items import invoke, one_each
from xstreamcast.evaluate.single.codes import Code, code_of, located
from xstreamcast.evaluate.single.library import map_of, value_in
from xstreamcast.evaluate.structured import looked_up
from xstreamcast.model.atomic import FUNCTIONS
from xstreamcast.model.map_item import MapItem
from xstreamcast.model.row import SingleRow

if TYPE_CHECKING:
    from xstreamcast.evaluate.context import Context
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Column


def dynamic_call(plan: p.DynamicCall, context: Context) -> Code:
    """The function first: what is none has no arguments."""
    called = code_of(plan.function, context)
    arguments = [code_of(argument, context) for argument in plan.args]

    def run(frame: Frame) -> Column:
        try:
            function = _function(called(frame), len(arguments))
            given = [argument(frame) for argument in arguments]
            if function.__class__ is MapItem:
                found = value_in(function, given[0])
                if found is not None:
                    return found
            return invoke(function, given, frame)
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run


def _function(column: Column, arity: int) -> Any:
    """The called item; the rule for columns raises the error if it is wrong."""
    cells: Any
    if column.__class__ is SingleRow:
        tag, cells = column.tag, column.cells
    else:
        tag, cells = column.items.tag, column.items.values
    if tag in FUNCTIONS and len(cells) == 1 and cells[0].arity == arity:
        return cells[0]
    return one_each(column, arity)[0]


def lookup(plan: p.Lookup, context: Context) -> Code:
    """One key of one map here, all else as for columns."""
    operand = code_of(plan.operand, context)
    key = None if plan.key is None else code_of(plan.key, context)

    def run(frame: Frame) -> Column:
        try:
            column = operand(frame)
            wanted = None if key is None else key(frame)
            held = None if wanted is None else map_of(column)
            if held is not None and wanted is not None:
                found = value_in(held, wanted)
                if found is not None:
                    return found
            return looked_up(column, wanted, frame)
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run
