"""From a plan node to a closure for one row, made once in an evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from xstreamcast.errors import Error

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.evaluate.context import Context
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Column

Code: TypeAlias = "Callable[[Frame], Column]"
Maker: TypeAlias = "Callable[[Any, Context], Code | None]"  # None: this one is for columns

_makers: Final[dict[type, Maker]] = {}


def code_of(plan: p.Expression, context: Context) -> Code:
    """What evaluates the node for a frame of one row."""
    codes = context.codes
    known = codes.get(id(plan))
    if known is None:
        if not _makers:
            _load()
        make = _makers.get(type(plan))
        known = (make(plan, context) if make is not None else None) or by_columns(plan)
        codes[id(plan)] = known
    return known


def by_columns(plan: p.Expression) -> Code:
    """The rule for columns."""
    from xstreamcast.evaluate.walk import apply

    return lambda frame: apply(plan, frame)


def located(caught: Error, plan: p.Expression, frame: Frame) -> Error:
    """The error with the place of the node, unless it has one."""
    if caught.place is None:
        caught.located(frame.context.place(plan.span))
    return caught


def _load() -> None:
    from xstreamcast.evaluate.single.rules import MAKERS

    _makers.update(MAKERS)
