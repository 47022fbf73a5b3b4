"""The window clause and forseq: both become one operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.scope import Expanded, Scope
from xstreamcast.algebra.lowering.types import check, sequence_type
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.sequence_type import ANY
from xstreamcast.syntax import tree as t


@dataclass(frozen=True, slots=True)
class LoweredWindow:
    """The operator of a window clause, the place after it and what it binds there."""

    operator: Callable[[p.Tuples], p.Tuples]
    scope: Scope
    bound: dict[Expanded, p.Variable]


def window(clause: t.WindowClause, scope: Scope) -> LoweredWindow:
    """A window clause at a place. Its conditions see the boundary variables, not the window."""
    _all_different(clause, scope)
    items = scope.lower(clause.source)
    inner = scope
    start = end = None
    if clause.start is not None:
        start, inner = _boundary(clause.start, inner)
    if clause.end is not None:
        end, inner = _boundary(clause.end, inner)
    elif clause.kind != "general":
        end = p.Boundary(None)  # tumbling without end: the next start ends a window
    variable, outer = inner.bind(clause.name)
    only = clause.end is not None and clause.end.only
    checks, outer = _checks(clause, outer)

    def operator(source: p.Tuples) -> p.Tuples:
        made: p.Tuples = p.ForWindow(
            source, variable, items, clause.kind, clause.order, start, end, only, span=clause.span
        )
        for checked, value in checks:
            made = p.Let(made, checked, value, span=clause.span)
        return made

    bound = {name: outer.variables[name] for name, _ in _named(clause, scope)}
    return LoweredWindow(operator, outer, bound)


def _boundary(written: t.WindowStart | t.WindowEnd, scope: Scope) -> tuple[p.Boundary, Scope]:
    given = (written.current, written.position, written.previous, written.next)
    bound: list[p.Variable | None] = []
    for one in given:
        if one is None:
            bound.append(None)
            continue
        variable, scope = scope.bind(one.name)
        bound.append(variable)
    test = None if isinstance(written.when, t.NewStart) else scope.lower(written.when)
    return p.Boundary(test, *bound), scope


def _written(clause: t.WindowClause) -> Iterator[tuple[t.Name, t.TypeExpr | None]]:
    yield clause.name, clause.type
    for boundary in (clause.start, clause.end):
        if boundary is not None:
            parts = (boundary.current, boundary.position, boundary.previous, boundary.next)
            yield from ((one.name, one.type) for one in parts if one is not None)


def _named(clause: t.WindowClause, scope: Scope) -> Iterator[tuple[Expanded, t.Name]]:
    return ((scope.expand_variable(name), name) for name, _ in _written(clause))


def _all_different(clause: t.WindowClause, scope: Scope) -> None:
    seen: set[Expanded] = set()
    for expanded, name in _named(clause, scope):
        if expanded in seen:
            sentence = f"two variables of the window clause are named ${name}"
            raise scope.fail("XQST0103", sentence, name.span if name.span[1] else clause.span)
        seen.add(expanded)


def _checks(
    clause: t.WindowClause, scope: Scope
) -> tuple[list[tuple[p.Variable, p.Expression]], Scope]:
    """Declared types are checked once the windows are cut: later clauses read what was checked."""
    checks: list[tuple[p.Variable, p.Expression]] = []
    for name, kind in _written(clause):
        wanted = sequence_type(kind, scope)
        if wanted != ANY and kind is not None:
            raw = p.Var(scope.variable(name, name.span), span=kind.span)
            value = check(raw, wanted, f"the value of ${name}", kind.span)
            variable, scope = scope.bind(name)
            checks.append((variable, value))
    return checks, scope
