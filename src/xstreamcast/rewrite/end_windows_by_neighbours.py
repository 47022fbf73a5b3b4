"""Tumbling windows of items with one value: they end where the next item has another one."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.nodes.static_type import Kinds
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.functions.signature import FN
from xstreamcast.rewrite.fold_constants import TRUE
from xstreamcast.rewrite.known import Known


def end_windows_by_neighbours(plan: p.ForWindow, known: Known) -> p.ForWindow:
    """All items of a window have the value of the first one, so that the last one has it, too.

    tumbling, start $s when true(), end $e next $n when f($n) ne f($s)  →  … when f($n) ne f($e)

    It holds for values of which there is always one, and whose equality is transitive: strings.
    """
    start, end = plan.start, plan.end
    if plan.kind != "tumbling" or start is None or end is None or start.test not in (None, TRUE):
        return plan
    if start.current is None or end.next is None or end.test is None:
        return plan
    first, after = p.Var(start.current), p.Var(end.next)
    of_first = _beside(end.test, first, after)
    if of_first is None or not _is_string(of_first, known):
        return plan
    last = end.current or known.fresh("last", known.type_of(first))
    test = bottom_up(end.test, lambda node: p.Var(last) if node == first else node)
    return replace(plan, end=replace(end, test=test, current=last))


def _beside(test: p.Expression, first: p.Var, after: p.Var) -> p.Expression | None:
    """The value of the first item, if the test says that the next item has another one."""
    match test:
        case p.GeneralCompare("ne", one, other) | p.ValueCompare("ne", one, other):
            pass
        case p.Call(function, (p.GeneralCompare("eq", one, other),)) | p.Call(
            function, (p.ValueCompare("eq", one, other),)
        ) if (function.uri, function.local) == (FN, "not"):
            pass
        case _:
            return None
    for value, another in ((one, other), (other, one)):
        moved = bottom_up(value, lambda node: after if node == first else node)
        if moved == another and moved != value and after.variable not in facts(value).free:
            return value
    return None


def _is_string(plan: p.Expression, known: Known) -> bool:
    found, about = known.type_of(plan), facts(plan)
    single = (found.low, found.high) == (1, 1)
    return single and found.only(Kinds.STRING) and about.pure and not about.reads_focus
