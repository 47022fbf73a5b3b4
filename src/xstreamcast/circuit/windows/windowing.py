"""Which FLWORs cut the items of all units into windows, and by what their ends are found.

for … window $w in items … return r  →  items as they come, windows as they close, r of each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import ELSEWHERE, DepthCut, NotDivided
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.walk import descendants
from xstreamcast.circuit.analysis.locality import Locality
from xstreamcast.circuit.windows.folds import folded
from xstreamcast.circuit.windows.windowed import EndKey, Windowed
from xstreamcast.circuit.windows.windowed_by import ByKey, by_key
from xstreamcast.model.atomic import INTEGER

_SWAPPED: Final[dict[str, p.CompareOp]] = {
    "eq": "eq", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"
}  # fmt: skip
_DOWN: Final = frozenset({"child", "descendant", "attribute", "self", "descendant-or-self"})


def windowed(plan: p.Expression, walk: Locality) -> Windowed | None:
    """The windows that an expression makes of driven items; None if it is something else."""
    found = _taken_apart(plan)
    if found is None:
        return None
    before, window, result, by = found
    _check(before, window, result, walk, by)
    made = replace(_made(before, window, result), by=by)
    if by is not None and not made.alone:
        raise NotDivided("windows per key read nodes around their items", window.span)
    return made


_Found = tuple[p.Tuples, p.ForWindow, p.Expression, ByKey | None]


def _taken_apart(plan: p.Expression) -> _Found | None:
    """(constants before, the window clause, what follows, the key) of a FLWOR."""
    if not isinstance(plan, p.Return):
        return None
    clauses: list[p.Tuples] = []
    source = plan.source
    while not isinstance(source, p.Unit):
        if not isinstance(source, p.Let | p.Where | p.ForEach | p.ForWindow):
            return None
        clauses.append(source)
        source = source.source
    before: p.Tuples = p.Unit()
    while clauses and isinstance(clauses[-1], p.Let):
        before = replace(clauses.pop(), source=before)  # type: ignore[arg-type]
    loop = clauses.pop() if clauses and isinstance(clauses[-1], p.ForEach) else None
    if not clauses or not isinstance(clauses[-1], p.ForWindow):
        return None
    window = clauses.pop()
    assert isinstance(window, p.ForWindow)
    by = None
    if loop is not None:
        found = by_key(loop, window)
        if found is None:
            return None
        by, window = found
    tail: p.Tuples = p.Unit()
    for clause in reversed(clauses):
        tail = replace(clause, source=tail)  # type: ignore[arg-type]
    result = plan.result if isinstance(tail, p.Unit) else replace(plan, source=tail)
    return before, replace(window, source=p.Unit()), result, by


def _check(
    before: p.Tuples, window: p.ForWindow, result: p.Expression, walk: Locality, by: ByKey | None
) -> None:
    """NotDivided unless all but the items reads nothing of the input but items it is given."""
    focus = None if walk.input is not None else walk.cut.document()
    walk.look_tuples(before, None)
    before_clock = walk.clock
    place = walk.settle(walk.drive(window.items, focus), window.items)
    if by is not None:
        walk.settle(walk.drive(by.values, focus), by.values)
    items_clock, walk.clock = walk.clock, before_clock
    if not place.inside:
        raise NotDivided("it reads nothing inside units", window.span)
    walk.places[window.variable] = place
    for boundary in (window.start, window.end):
        if boundary is not None:
            for variable in boundary.variables():
                walk.places[variable] = ELSEWHERE if variable == boundary.position else place
            if boundary.test is not None:
                walk.value(boundary.test, None)
    walk.value(result, None)
    if walk.others:
        raise NotDivided("windows are compared with another input", window.span)
    if walk.clock:
        raise NotDivided("windows that read the clock are recomputed", window.span)
    if items_clock and isinstance(walk.cut, DepthCut):
        raise NotDivided("windows of a document that read the clock are recomputed", window.span)
    walk.clock = items_clock


def _made(before: p.Tuples, window: p.ForWindow, result: p.Expression) -> Windowed:
    tests = [b.test for b in (window.start, window.end) if b is not None and b.test is not None]
    read = frozenset().union(*(facts(one).used for one in (*tests, result)))
    start, end = _trimmed(window.start, read), _trimmed(window.end, read)
    reads_start = (
        start is not None
        and end is not None
        and end.test is not None
        and not facts(end.test).free.isdisjoint(start.variables())
    )
    window = replace(window, start=start, end=end)
    steps = (n for one in (*tests, result) for n in descendants(one) if isinstance(n, p.Step))
    folds, over = folded(window, result) or ((), None)
    return Windowed(
        before, window, result, _key(window), _ahead(start, end),
        window.variable in facts(result).used, reads_start, all(n.axis in _DOWN for n in steps),
        folds, over,
    )  # fmt: skip


def _trimmed(boundary: p.Boundary | None, read: frozenset[p.Variable]) -> p.Boundary | None:
    """The boundary without variables that are not read."""
    if boundary is None:
        return None
    given = (boundary.current, boundary.position, boundary.previous, boundary.next)
    return p.Boundary(boundary.test, *(one if one in read else None for one in given))


def _ahead(start: p.Boundary | None, end: p.Boundary | None) -> int:
    if start is None or end is None:
        return 0
    looks = start.next is not None or end.next is not None
    return int(looks) + (1 if end.test is None else 0)


# -- keys of ends ---------------------------------------------------------------------------------


def _key(window: p.ForWindow) -> EndKey | None:
    start, end = window.start, window.end
    if start is None or end is None or end.test is None or window.kind == "tumbling":
        return None
    if window.index is not None:
        index = window.index
        return EndKey(index.left, index.right, "eq", index.general)
    parts = end.test.operands if isinstance(end.test, p.And) else (end.test,)
    first, last = set(start.variables()), set(end.variables())
    parts = tuple(_sided(one, start, end) for one in parts)
    keys = [key for one in parts if (key := _compared(one, first, last)) is not None]
    if not keys:
        return None
    best = next((key for key in keys if key.op == "eq"), keys[0])
    return replace(best, decides=len(parts) == 1)


def _sided(test: p.Expression, start: p.Boundary, end: p.Boundary) -> p.Expression:
    """position - position eq n  →  position eq position + n"""
    match test:
        case p.ValueCompare("eq", p.Arithmetic("-", p.Var(a), p.Var(b)), p.Const((atom,)) as n) if (
            a,
            b,
        ) == (end.position, start.position) and atom.tag == INTEGER:
            return replace(test, left=p.Var(a), right=p.Arithmetic("+", p.Var(b), n))
        case _:
            return test


def _compared(test: p.Expression, first: set[p.Variable], last: set[p.Variable]) -> EndKey | None:
    match test:
        case p.ValueCompare(op, a, b) | p.GeneralCompare(op, a, b) if op in _SWAPPED:
            general = isinstance(test, p.GeneralCompare)
            if _reads(a, last, first) and _reads(b, first, last):
                return EndKey(b, a, op, general)
            if _reads(a, first, last) and _reads(b, last, first):
                return EndKey(a, b, _SWAPPED[op], general)
            return _distant(a, b, op, general, first, last) or _distant(
                b, a, _SWAPPED[op], general, first, last
            )
        case _:
            return None


def _distant(
    difference: p.Expression, bound: p.Expression, op: p.CompareOp, general: bool,
    first: set[p.Variable], last: set[p.Variable],
) -> EndKey | None:  # fmt: skip
    """end - start op bound."""
    match difference:
        case p.Arithmetic("-", a, b) if (
            op != "eq"
            and _reads(a, last, first)
            and _reads(b, first, last)
            and not facts(bound).free & (first | last)
        ):
            return EndKey(b, a, op, general, bound)
        case _:
            return None


def _reads(plan: p.Expression, own: set[p.Variable], other: set[p.Variable]) -> bool:
    known = facts(plan)
    return bool(known.free & own) and not known.free & other and known.pure
