"""Predicate move-around: windows that a condition would drop are never made."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.rewrite.fold_constants import TRUE
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.safety import Safety
from xstreamcast.rewrite.window_uses import is_first, is_last, replaced, with_current


def bound_windows_by_conditions(plan: p.Where, known: Known) -> p.Tuples:
    """A condition on the first or last item of a window is one on where it starts or ends.

    where t($w[1])      (window start when s)       →  window start $s when s and t($s)
    where t($w[last()]) (landmark, end when true()) →  window only end $e when t($e)
    """
    match plan.source:
        case (
            p.ForWindow(kind="sliding" | "landmark", start=p.Boundary(), end=p.Boundary()) as window
        ):
            return _started(plan, window, known) or _ended(plan, window, known) or plan
        case _:
            return plan


def _started(plan: p.Where, window: p.ForWindow, known: Known) -> p.Tuples | None:
    assert window.start is not None
    assert window.end is not None
    if not _quiet(window.end, known):
        return None
    start = with_current(window.start, "first", window.items, known)
    assert start.current is not None
    first = p.Var(start.current)
    test = replaced(
        plan.test, window.variable, lambda one: first if is_first(one, window.variable) else None
    )
    if not _reads_only(test, window, start):
        return None
    # The condition is never evaluated for a window that never ends, so it must not fail there.
    if window.only_end and not Safety(known).truth(test):
        return None
    return replace(window, start=replace(start, test=_both(start.test, test)))


def _ended(plan: p.Where, window: p.ForWindow, known: Known) -> p.Tuples | None:
    assert window.end is not None
    if window.kind != "landmark" or window.end.test is None:
        return None
    if not (window.only_end or window.end.test == TRUE):
        return None  # the last item ends windows unconditionally
    end = with_current(window.end, "final", window.items, known)
    assert end.current is not None
    final = p.Var(end.current)
    test = replaced(
        plan.test, window.variable, lambda one: final if is_last(one, window.variable) else None
    )
    if not _reads_only(test, window, end):
        return None
    made = replace(end, test=_both(end.test, test))
    return replace(window, end=made, only_end=True, index=None)


def _quiet(end: p.Boundary, known: Known) -> bool:
    """Whether the end condition can be left out for some windows without anyone noticing."""
    return end.test is None or Safety(known).truth(end.test)


def _reads_only(test: p.Expression, window: p.ForWindow, boundary: p.Boundary) -> bool:
    """Whether a condition reads, of what the window binds, variables of this boundary alone."""
    bound = {window.variable}
    for one in (window.start, window.end):
        bound |= set() if one is None else set(one.variables())
    own, free = set(boundary.variables()), facts(test).free
    return bool(free & own) and not free & (bound - own)


def _both(first: p.Expression | None, second: p.Expression) -> p.Expression:
    return second if first is None or first == TRUE else p.And((first, second), span=second.span)
