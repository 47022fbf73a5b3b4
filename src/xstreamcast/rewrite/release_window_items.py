"""Early release: windows keep no items if only their ends or length are used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.model.atomic import INTEGER
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.window_uses import (
    is_count,
    is_first,
    is_last,
    replaced,
    with_current,
    with_position,
)


def release_window_items(plan: p.Return, known: Known) -> p.Return:
    """First item, last item and length of a window, from the variables of its boundaries.

    $w[1]  →  $s        $w[last()]  →  $e        count($w)  →  $j - $i + 1
        for windows start $s at $i … end $e at $j
    """
    window = _window(plan.source)
    if window is None or window.start is None:
        return plan
    made = _Boundaries(window, known)
    source = made.above(plan.source)
    result = made.rewritten(plan.result)
    if not made.used:
        return plan
    return replace(plan, source=made.inside(source), result=result)


def _window(plan: p.Tuples) -> p.ForWindow | None:
    """The last window clause, if nothing gathers tuples after it."""
    while True:
        match plan:
            case p.ForWindow():
                return plan if plan.kind != "general" else None
            case p.ForEach(source) | p.Let(source) | p.Where(source) | p.OrderBy(source):
                plan = source
            case p.CountTuples(source):
                plan = source
            case _:
                return None


class _Boundaries:
    """The boundaries of a window as questions about it add variables to them."""

    def __init__(self, window: p.ForWindow, known: Known) -> None:
        self._window = window
        self._known = known
        self._start = window.start
        self._end = window.end
        self.used = False

    def rewritten(self, plan: Any) -> Any:
        """The plan with variables of the boundaries in place of expressions over the window."""
        return replaced(plan, self._window.variable, self._answer)

    def above(self, plan: Any) -> Any:
        """The clauses after the window, rewritten in the same way."""
        if plan is self._window:
            return plan
        made = replace(plan, source=p.Unit())
        made = self.rewritten(made)
        return replace(made, source=self.above(plan.source))

    def inside(self, plan: Any) -> Any:
        """The clauses with the new boundaries in the window."""
        if plan is self._window:
            return replace(plan, start=self._start, end=self._end)
        return replace(plan, source=self.inside(plan.source))

    def _answer(self, plan: p.Expression) -> p.Expression | None:
        window = self._window.variable
        assert self._start is not None
        if is_first(plan, window):
            self._start = with_current(self._start, "first", self._window.items, self._known)
            return self._var(self._start.current)
        if self._end is None:
            return None
        if is_last(plan, window):
            self._end = with_current(self._end, "final", self._window.items, self._known)
            return self._var(self._end.current)
        if is_count(plan, window):
            self._start = with_position(self._start, "from", self._known)
            self._end = with_position(self._end, "to", self._known)
            low, high = self._var(self._start.position), self._var(self._end.position)
            one = p.Const((p.Atom(INTEGER, 1),))
            return p.Arithmetic("+", p.Arithmetic("-", high, low), one, span=plan.span)
        return None

    def _var(self, variable: p.Variable | None) -> p.Var:
        assert variable is not None
        self.used = True
        return p.Var(variable)
