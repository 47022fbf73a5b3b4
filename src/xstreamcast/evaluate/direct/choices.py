"""Comparisons, choices, types and calls as Python text."""

from __future__ import annotations

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.direct.operands import string
from xstreamcast.evaluate.direct.shapes import (
    KINDS,
    NO_KIND,
    TRUTH,
    Pending,
    Unsupported,
    Value,
    ValueShape,
    declared,
    joined,
)
from xstreamcast.evaluate.direct.writing import SIGNS, Writing, comparable, some_pair
from xstreamcast.model.atomic import DOUBLE, INTEGER, STRING
from xstreamcast.rewrite.ask_existence_for_counts import SWAPPED


def value_compare(writing: Writing, plan: p.ValueCompare) -> Value:
    """Two values of one type; nothing where one is missing."""
    left, right = writing.value(plan.left), writing.value(plan.right)
    comparable(writing, left, right)
    return writing.each(
        left,
        lambda a: writing.each(right, lambda b: Value(f"({a} {SIGNS[plan.op]} {b})", TRUTH)),
    )


def general_compare(writing: Writing, plan: p.GeneralCompare) -> Value:
    """Whether some pair of values of one type compares so."""
    left, right = writing.value(plan.left), writing.value(plan.right)
    comparable(writing, left, right)
    if "many" not in (left.shape.occurs, right.shape.occurs):
        return Value(f"({some_pair(writing, left, right, SIGNS[plan.op])})", TRUTH)
    if left.shape.kind == DOUBLE:
        raise Unsupported  # NaN has no place in an order
    return Value(_any(writing, plan.op, left, right), TRUTH)


def _any(writing: Writing, op: str, left: Value, right: Value) -> str:
    if left.shape.occurs == "one":
        left, right, op = right, left, SWAPPED[op]
    if right.shape.occurs == "one":
        return _any_of(writing, op, left, right.code)
    shape = ValueShape(left.shape.kind, "many")
    a, b = writing.fit(left, shape), writing.fit(right, shape)
    if op == "eq":
        return f"(not set({a}).isdisjoint({b}))"
    raise Unsupported


def _any_of(writing: Writing, op: str, items: Value, one: str) -> str:
    """Whether some item of a tuple compares so with a value: the largest or smallest decides."""
    if op == "eq":
        return f"({one} in {items.code})"
    name = writing.text.name()
    if op == "ne":  # none does only if all are equal to it
        return f"(({name} := {items.code}).count({one}) < len({name}))"
    most = "min" if op in ("lt", "le") else "max"
    return f"(bool({name} := {items.code}) and {most}({name}) {SIGNS[op]} {one})"


def if_(writing: Writing, plan: p.If) -> Value:
    """One of two; as statements where a branch needs some."""
    test = writing.test(plan.test)
    branches = [branch for one in (plan.then, plan.otherwise) if (branch := _aside(writing, one))]
    if not branches:
        raise Pending
    if len(branches) == 1:  # the other returns the value of the function
        return branches[0][0]
    (then, before), (otherwise, between) = branches
    shape = joined(then.shape, otherwise.shape)
    with writing.text.aside() as fitted:
        codes = writing.fit(then, shape), writing.fit(otherwise, shape)
    assert not fitted
    if not before and not between:
        return Value(f"({codes[0]} if {test} else {codes[1]})", shape)
    name = writing.text.name()
    for line, lines, code in (("if " + test, before, codes[0]), ("else", between, codes[1])):
        with writing.text.inside(line + ":"):
            writing.text.indented(lines)
            writing.text.add(f"{name} = {code}")
    return Value(name, shape)


def _aside(writing: Writing, plan: p.Expression) -> tuple[Value, list[str]] | None:
    try:
        with writing.text.aside() as lines:
            return writing.value(plan), lines
    except Pending:
        return None


def and_(writing: Writing, plan: p.And | p.Or) -> Value:
    """Operands up to the first that decides; as statements where one needs some."""
    word = "and" if isinstance(plan, p.And) else "or"
    code = ""
    for operand in plan.operands:
        with writing.text.aside() as lines:
            test = writing.test(operand)
        if lines and code:
            name = writing.text.name()
            writing.text.add(f"{name} = {code}")
            with writing.text.inside(f"if {'' if word == 'and' else 'not '}{name}:"):
                writing.text.indented(lines)
                writing.text.add(f"{name} = {test}")
            code = name
        else:
            writing.text.lines += lines
            code = f"{code} {word} {test}" if code else test
    return Value(f"({code})", TRUTH)


def convert(writing: Writing, plan: p.Convert | p.Treat) -> Value:
    """The value, if it has the type or becomes it."""
    value = writing.value(plan.operand)
    if isinstance(plan, p.Treat) and declared(plan.type, value.shape).kind != value.shape.kind:
        raise Unsupported
    return writing.converted(value, plan.type)


def cast_(writing: Writing, plan: p.Cast) -> Value:
    """Integers, strings and booleans of each other, as far as Python agrees."""
    target = getattr(plan.target, "tag", NO_KIND)
    operand = writing.single(writing.value(plan.operand))
    if operand.shape.occurs != "one" or target not in KINDS:
        raise Unsupported
    kind, shape = operand.shape.kind, ValueShape(target, "one")
    if kind == target:
        return operand
    if target == STRING:
        return Value(string(writing, operand), shape)
    if (kind, target) == (INTEGER, DOUBLE):
        return Value(f"float({operand.code})", shape)
    if (kind, target) == (STRING, INTEGER):
        writing.errors += 1
        return Value(f"whole({operand.code})", shape)
    raise Unsupported


def user_call(writing: Writing, plan: p.UserCall) -> Value:
    """Another function of the program, or the same."""
    writing.errors += 1
    return writing.around.call(plan.function, [writing.value(one) for one in plan.args])
