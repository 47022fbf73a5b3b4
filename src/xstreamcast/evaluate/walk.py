"""From a plan node to the rule that evaluates it: once per batch, for all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.evaluate.single.codes import code_of
from xstreamcast.functions.atomize import effective_boolean
from xstreamcast.model.column import Column

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Bools, Ints

Rule: TypeAlias = "Callable[[Any, Frame], Column]"

_rules: Final[dict[type, Rule]] = {}

# Cheaper to evaluate again than to look for an outer frame.
_TRIVIAL: Final = frozenset({p.Const, p.Var, p.Focus, p.Position, p.Last, p.Comma})

_POSITIONS: Final = frozenset({"position"})  # frame.POSITION
_SHORT: Final = 1024  # rows of a value that is kept, and how many are


def evaluate(plan: p.Expression, frame: Frame) -> Column:
    """The value of the expression for every row of the frame."""
    if frame.n == 1:
        context = frame.context
        if context.one_by_one:
            return (context.codes.get(id(plan)) or code_of(plan, context))(frame)
        return apply(plan, frame)
    if frame.n == 0:
        return Column.empty(0)
    if frame.n > 1 and frame.outer is not None and type(plan) not in _TRIVIAL:
        return _lifted(plan, frame)
    return apply(plan, frame)


def apply(plan: p.Expression, frame: Frame) -> Column:
    """The rule of the node, here and now; an error without a place gets that of the node."""
    if not _rules:
        _load()
    try:
        return _rules[type(plan)](plan, frame)
    except Error as caught:
        if caught.place is None:
            caught.located(frame.context.place(plan.span))
        raise


def truth(plan: p.Expression, frame: Frame) -> Bools:
    """The effective boolean value of the expression for every row."""
    return effective_boolean(frame.context.store, evaluate(plan, frame))


def on_rows(plan: p.Expression, frame: Frame, rows: Ints) -> Column:
    """The value for some rows; what concerns no row is not evaluated at all."""
    return evaluate(plan, frame if len(rows) == frame.n else frame.select(rows))


def true_on_rows(plan: p.Expression, frame: Frame, rows: Ints) -> Bools:
    """The effective boolean value for some rows."""
    return truth(plan, frame if len(rows) == frame.n else frame.select(rows))


# -- what a loop does not change ------------------------------------------------------------------


def _lifted(plan: p.Expression, frame: Frame) -> Column:
    column, origin = at_home(plan, frame)
    if origin is None:
        return column
    return Column.constant(column.items, frame.n) if column.n == 1 else column.take(origin)


def at_home(plan: p.Expression, frame: Frame) -> tuple[Column, Ints | None]:
    """The value in the outermost frame that suffices, with the row there of each row here.

    None: it was evaluated in this very frame. A value that concerns no row is never evaluated.
    """
    reads = frame.context.reads.of(plan)
    shared = reads.shared and not frame.context.sequential
    if shared and reads.keys == _POSITIONS:
        if frame.steady and frame.n <= _SHORT:
            return _by_position(plan, frame), None
        around = frame.outer
        chosen = around is not None and around.steady and frame.origin is not None
        if around is not None and chosen and frame.home(reads.keys) is around:
            known = _around(plan, around)
            if known is not None:
                return known, frame.origin
    home = frame.home(reads.keys) if shared else frame
    if home is frame or 2 * home.n > frame.n:
        return apply(plan, frame), None
    if id(plan) in home.kept:
        return home.kept[id(plan)], frame.origin_in(home)
    origin = frame.origin_in(home)
    used = np.zeros(home.n, np.bool_)
    used[origin] = True
    if used.all():
        column = home.kept[id(plan)] = apply(plan, home)
        return column, origin
    rows = np.flatnonzero(used)
    return apply(plan, home.select(rows)), (np.cumsum(used) - 1)[origin]


def _by_position(plan: p.Expression, frame: Frame) -> Column:
    """What positions alone decide is the same for all sequences of one length."""
    known = frame.context.by_position
    key = id(plan), frame.n
    column = known.get(key)
    if column is None:
        column = apply(plan, frame)
        if len(known) < _SHORT:
            known[key] = column
    return column


def _around(plan: p.Expression, around: Frame) -> Column | None:
    """The same for all positions, of which some are needed; None if it fails for another."""
    try:
        return _by_position(plan, around) if around.n <= _SHORT else None
    except Error:
        return None


def _load() -> None:
    from xstreamcast.evaluate.rules import RULES

    _rules.update(RULES)
