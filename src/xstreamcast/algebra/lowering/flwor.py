"""FLWOR: each clause is an operator over the tuples of the clauses before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.control import each_of
from xstreamcast.algebra.lowering.scope import Expanded, Scope
from xstreamcast.algebra.lowering.types import check, sequence_type
from xstreamcast.algebra.lowering.windows import window
from xstreamcast.functions import registry
from xstreamcast.functions.signature import FN
from xstreamcast.model.sequence_type import ANY
from xstreamcast.syntax import tree as t

Operator = Callable[[p.Tuples], p.Tuples]


@dataclass(slots=True)
class Clauses:
    """The clauses read so far: where the next one stands, and what they bind by name.

    The operators are put together at the end, when it is known which variables later clauses read:
    grouping carries only those.
    """

    scope: Scope
    bound: dict[Expanded, p.Variable] = field(default_factory=dict)
    operators: list[Operator] = field(default_factory=list)

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
        case t.For():
            _for(clause, clauses)
        case t.Let():
            _let(clause, clauses)
        case t.Window():
            _window(clause, clauses)
        case t.Where():
            test = clauses.scope.lower(clause.test)
            clauses.operators.append(lambda source: p.Where(source, test, span=clause.span))
        case t.GroupBy():
            _group_by(clause, clauses)
        case t.OrderBy():
            keys = tuple(_order_key(key, clauses.scope) for key in clause.keys)
            clauses.operators.append(lambda source: p.OrderBy(source, keys, span=clause.span))
        case t.Count():
            variable = clauses.bind(clause.name)
            clauses.operators.append(
                lambda source: p.CountTuples(source, variable, span=clause.span)
            )
        case _:
            assert_never(clause)


def _for(clause: t.For, clauses: Clauses) -> None:
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


def _let(clause: t.Let, clauses: Clauses) -> None:
    kind = sequence_type(clause.type, clauses.scope)
    written = clause.type.span if clause.type else clause.span
    value = check(clauses.scope.lower(clause.value), kind, f"the value of ${clause.name}", written)
    variable = clauses.bind(clause.name)
    clauses.scope.shared.types[variable] = kind
    clauses.operators.append(lambda source: p.Let(source, variable, value, span=clause.span))


def _window(clause: t.Window, clauses: Clauses) -> None:
    made = window(clause, clauses.scope)
    clauses.operators.append(made.operator)
    clauses.scope = made.scope
    clauses.bound.update(made.bound)


def _group_by(clause: t.GroupBy, clauses: Clauses) -> None:
    """Keys become new variables; so does every other one that is read afterwards, as a sequence."""
    before = dict(clauses.bound)
    keys: list[p.GroupKey] = []
    for key in clause.keys:
        keys.append(_group_key(key, before, clauses))
    named = {clauses.scope.expand_variable(key.name) for key in clause.keys}
    carried = []
    for name, variable in before.items():
        if name not in named:
            after = clauses.scope.shared.variable(variable.name)
            carried.append((variable, after))
            clauses.bound[name] = after
            clauses.scope = clauses.scope.with_variable(name, after)
    used = clauses.scope.shared.used

    def group(source: p.Tuples) -> p.Tuples:
        read = tuple(pair for pair in carried if pair[1] in used)
        return p.GroupBy(source, tuple(keys), read, span=clause.span)

    clauses.operators.append(group)


def _group_key(key: t.GroupKey, before: dict[Expanded, p.Variable], clauses: Clauses) -> p.GroupKey:
    scope = clauses.scope
    scope.collation(key.collation, key.span)
    if key.value is None:
        old = before.get(scope.expand_variable(key.name))
        if old is None:
            sentence = f"${key.name} must be bound by a clause before group by"
            raise scope.fail("XQST0094", sentence, key.span, "or give it a value with :=")
        value: p.Expression = p.Var(old, span=key.span)
    else:
        value = scope.lower(key.value)
    kind = sequence_type(key.type, scope)
    if kind != ANY:
        data = registry.lookup(FN, "data", 1)
        assert data is not None
        atomised = p.Call(data, (value,), span=value.span)
        value = check(atomised, kind, f"the value of ${key.name}", key.span)
    return p.GroupKey(clauses.bind(key.name), value)


def _order_key(key: t.OrderKey, scope: Scope) -> p.OrderKey:
    scope.collation(key.collation, key.span)
    greatest = scope.shared.empty_greatest if key.empty is None else key.empty == "greatest"
    return p.OrderKey(scope.lower(key.value), key.descending, greatest)
