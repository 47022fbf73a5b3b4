"""Calls of function items for one row: one function, called once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.evaluate.function_items import invoke, one_each
from xstreamcast.evaluate.single.codes import Code, code_of, located

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
            function = one_each(called(frame), len(arguments))[0]
            return invoke(function, [argument(frame) for argument in arguments], frame)
        except Error as caught:
            raise located(caught, plan, frame)  # noqa: B904

    return run
