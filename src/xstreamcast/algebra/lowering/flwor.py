"""FLWOR: each clause is an operator over the tuples of the clauses before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.control import each_of
from xstreamcast.algebra.lowering.scope import Expanded, Scope
from xstreamcast.algebra.lowering.types import check, sequence_type
from xstreamcast.algebra.lowering.windows import window
from xstreamcast.errors import Span
from xstreamcast.functions import registry
from xstreamcast.functions.call import CODEPOINT
from xstreamcast.functions.signature import FN, XSC
from xstreamcast.model.atomic import STRING
from xstreamcast.model.sequence_type import ANY
from xstreamcast.syntax import tree as t

Operator = Callable[[p.Tuples], p.Tuples]


@dataclass(slots=True)
class Clauses:
    """The clauses read so far: where the next one is, and what they bind by name.

    The operators are put together at the end, when it is known which variables later clauses read:
    grouping carries only those.
    """

    scope: Scope
    bound: dict[Expanded, p.Variable] = field(default_factory=dict)
    operators: list[Operator] = field(default_factory=list)
    carried: list[tuple[p.Variable, p.Variable]] = field(default_factory=list)

    def reads(self, variable: p.Variable) -> bool:
        """Whether a later clause reads a variable, or carries it to one that does."""
        later = (after for before, after in self.carried if before == variable)
        return variable in self.scope.shared.used or any(map(self.reads, later))

    def bind(self, name: t.Name) -> p.Variable:
        """A new variable, visible from here on."""
        variable, self.scope = self.scope.bind(name)
        self.bound[self.scope.expand_variable(name)] = variable
        return variable


def flwor(expr: t.Flwor, scope: Scope) -> p.Expression:
    clauses = Clauses(scope)
    for clause in expr.clauses:
        _clause(clause, clauses)
    result = clauses.scope.lower(expr.result)
    tuples: p.Tuples = p.Unit()
    for operator in clauses.operators:
        tuples = operator(tuples)
    return p.Return(tuples, result, span=expr.span)


def _clause(clause: t.Clause, clauses: Clauses) -> None:
    match clause:
        case t.ForClause():
            _for(clause, clauses)
        case t.LetClause():
            _let(clause, clauses)
        case t.WindowClause():
            _window(clause, clauses)
        case t.WhereClause():
            test = clauses.scope.lower(clause.test)
            clauses.operators.append(lambda source: p.Where(source, test, span=clause.span))
        case t.GroupByClause():
            _group_by(clause, clauses)
        case t.OrderByClause():
            keys = tuple(_order_key(key, clauses.scope) for key in clause.keys)
            clauses.operators.append(lambda source: p.OrderBy(source, keys, span=clause.span))
        case t.CountClause():
            variable = clauses.bind(clause.name)
            clauses.operators.append(
                lambda source: p.CountTuples(source, variable, span=clause.span)
            )
        case _:
            assert_never(clause)


def _for(clause: t.ForClause, clauses: Clauses) -> None:
    scope = clauses.scope
    items = each_of(
        scope.lower(clause.source), clause.type, clause.name, scope, clause.allowing_empty
    )
    if clause.position is not None:
        _distinct(clause.name, clause.position, scope)
    variable = clauses.bind(clause.name)
    position = None if clause.position is None else clauses.bind(clause.position)
    clauses.operators.append(
        lambda source: p.ForEach(
            source, variable, items, position, clause.allowing_empty, span=clause.span
        )
    )


def _distinct(name: t.Name, position: t.Name, scope: Scope) -> None:
    if scope.expand_variable(name) == scope.expand_variable(position):
        sentence = f"the position variable must have another name than ${name}"
        raise scope.fail("XQST0089", sentence, position.span)


def _let(clause: t.LetClause, clauses: Clauses) -> None:
    kind = sequence_type(clause.type, clauses.scope)
    written = clause.type.span if clause.type else clause.span
    value = check(clauses.scope.lower(clause.value), kind, f"the value of ${clause.name}", written)
    variable = clauses.bind(clause.name)
    clauses.scope.shared.types[variable] = kind
    clauses.operators.append(lambda source: p.Let(source, variable, value, span=clause.span))


def _window(clause: t.WindowClause, clauses: Clauses) -> None:
    made = window(clause, clauses.scope)
    clauses.operators.append(made.operator)
    clauses.scope = made.scope
    clauses.bound.update(made.bound)


def _group_by(clause: t.GroupByClause, clauses: Clauses) -> None:
    """Keys become new variables; so does every other one that is read afterwards, as a sequence.

    A key with a value is a let before the grouping: later keys see it, and one of the same name
    takes its place. The let is left out where no later key reads it.
    """
    inside = clauses.scope
    lets: list[tuple[p.Variable, p.Expression]] = []
    chosen: dict[Expanded, tuple[t.GroupingSpec, p.Expression]] = {}
    for key in clause.keys:
        value = _group_value(key, inside, clauses.bound)
        if key.value is not None:
            variable, inside = inside.bind(key.name)
            clauses.bound[inside.expand_variable(key.name)] = variable
            lets.append((variable, value))
        chosen[inside.expand_variable(key.name)] = (key, value)
    before = {name: v for name, v in clauses.bound.items() if name not in chosen}
    clauses.scope = inside
    collations = [inside.collation(key.collation, key.span) for key, _ in chosen.values()]
    keys = [(clauses.bind(key.name), value) for key, value in chosen.values()]
    carried = [(variable, _carry(name, variable, clauses)) for name, variable in before.items()]
    clauses.carried += carried
    used = clauses.scope.shared.used

    def group(source: p.Tuples) -> p.Tuples:
        made = {v: value for v, value in lets if v in used}
        for variable, value in made.items():
            source = p.Let(source, variable, value, span=clause.span)
        known = {id(value): p.Var(v, span=value.span) for v, value in made.items()}
        grouped = tuple(p.GroupKey(v, known.get(id(value), value)) for v, value in keys)
        read = tuple(pair for pair in carried if clauses.reads(pair[1]))
        if all(collation == CODEPOINT for collation in collations):
            return p.GroupBy(source, grouped, read, span=clause.span)
        return _by_collations(source, grouped, collations, read, clauses.scope, clause.span)

    clauses.operators.append(group)


def _by_collations(
    source: p.Tuples,
    keys: tuple[p.GroupKey, ...],
    collations: list[str],
    carried: tuple[tuple[p.Variable, p.Variable], ...],
    scope: Scope,
    span: Span,
) -> p.Tuples:
    """Groups by the keys of collations; the variable has the value of the first of the group."""
    data, head = registry.lookup(FN, "data", 1), registry.lookup(FN, "head", 1)
    assert data is not None
    assert head is not None
    new, firsts = [], []
    for key, collation in zip(keys, collations, strict=True):
        raw, group, all_ = (scope.shared.variable(key.variable.name) for _ in range(3))
        source = p.Let(source, raw, p.Call(data, (key.value,)), span=span)
        new.append(p.GroupKey(group, _collated(p.Var(raw), collation)))
        carried = (*carried, (raw, all_))
        firsts.append((key.variable, p.Call(head, (p.Var(all_),))))
    made: p.Tuples = p.GroupBy(source, tuple(new), carried, span=span)
    for variable, value in firsts:
        made = p.Let(made, variable, value, span=span)
    return made


def _carry(name: Expanded, variable: p.Variable, clauses: Clauses) -> p.Variable:
    """The variable that holds all values of another after grouping, under the same name."""
    after = clauses.scope.shared.variable(variable.name)
    clauses.bound[name] = after
    clauses.scope = clauses.scope.with_variable(name, after)
    return after


def _group_value(
    key: t.GroupingSpec, scope: Scope, bound: Mapping[Expanded, p.Variable]
) -> p.Expression:
    if key.value is None:
        if scope.expand_variable(key.name) not in bound:
            sentence = f"${key.name} must be bound by a clause before group by"
            raise scope.fail("XQST0094", sentence, key.span, "or give it a value with :=")
        return p.Var(scope.variable(key.name, key.span), span=key.span)
    value, kind = scope.lower(key.value), sequence_type(key.type, scope)
    if kind == ANY:
        return value
    data = registry.lookup(FN, "data", 1)
    assert data is not None
    atomised = p.Call(data, (value,), span=value.span)
    return check(atomised, kind, f"the value of ${key.name}", key.span)


def _collated(value: p.Expression, collation: str) -> p.Expression:
    """What compares by codepoints as the value does by a collation."""
    if collation == CODEPOINT:
        return value
    row = registry.lookup(XSC, "collated", 2)
    assert row is not None
    return p.Call(row, (value, p.Const((p.Atom(STRING, collation),))), span=value.span)


def _order_key(key: t.OrderSpec, scope: Scope) -> p.OrderKey:
    collation = scope.collation(key.collation, key.span)
    greatest = scope.shared.empty_greatest if key.empty is None else key.empty == "greatest"
    return p.OrderKey(_collated(scope.lower(key.value), collation), key.descending, greatest)
