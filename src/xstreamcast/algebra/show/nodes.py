"""The drawing of every expression."""

from __future__ import annotations

from typing import assert_never

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.show.layout import Drawing
from xstreamcast.algebra.show.names import cast_target, constant, node_name, quoted
from xstreamcast.algebra.show.streams import clauses
from xstreamcast.algebra.show.types import name_of, node_test, sequence_type
from xstreamcast.algebra.walk import STREAMS


def drawn(plan: p.Plan) -> Drawing:
    """The drawing of a plan."""
    if isinstance(plan, STREAMS):
        return Drawing("tuples", clauses(plan, drawn), tall=True)  # type: ignore[arg-type]
    return _expression(plan)  # type: ignore[arg-type]


def _call(head: str, *parts: p.Expression | None) -> Drawing:
    return Drawing(head, tuple(drawn(part) for part in parts if part is not None))


def _expression(plan: p.Expression) -> Drawing:
    match plan:
        case p.Const(atoms):
            return _constants(atoms)
        case p.Var(variable):
            return Drawing(str(variable))
        case p.Comma(parts):
            return _call("comma", *parts)
        case p.Range(low, high):
            return _call("to", low, high)
        case p.Arithmetic(op, left, right):
            return _call(op, left, right)
        case p.Unary(op, operand):
            return _call(f"unary{op}", operand)
        case p.StringConcat(parts):
            return _call("||", *parts)
        case p.GeneralCompare(op, left, right):
            return _call(f"any-{op}", left, right)
        case p.ValueCompare(op, left, right) | p.NodeCompare(op, left, right):
            return _call(op, left, right)
        case p.And(operands):
            return _call("and", *operands)
        case p.Or(operands):
            return _call("or", *operands)
        case p.If(test, then, otherwise):
            return _call("if", test, then, otherwise)
        case _:
            return _typed(plan)


def _typed(plan: p.Expression) -> Drawing:
    match plan:
        case p.Switch() | p.TypeSwitch() | p.Try():
            return _choice(plan)
        case p.Quantified(kind, source, test):
            return _flwor(kind, source, "satisfies", test)
        case p.Return(source, result):
            return _flwor("flwor", source, "return", result)
        case p.InstanceOf(operand, kind):
            return _call(f"instance-of[{sequence_type(kind)}]", operand)
        case p.Treat(operand, kind, code):
            word = "treat" if code == "XPDY0050" else "check"
            return _call(f"{word}[{sequence_type(kind)}]", operand)
        case p.Convert(operand, kind):
            return _call(f"convert[{sequence_type(kind)}]", operand)
        case p.Cast(operand, target, optional):
            return _call(f"cast[{cast_target(target)}{'?' if optional else ''}]", operand)
        case p.Castable(operand, target, optional):
            return _call(f"castable[{cast_target(target)}{'?' if optional else ''}]", operand)
        case _:
            return _navigation(plan)


def _navigation(plan: p.Expression) -> Drawing:
    match plan:
        case p.Focus():
            return Drawing(".")
        case p.Position():
            return Drawing("position()")
        case p.Last():
            return Drawing("last()")
        case p.TreeRoot(operand):
            return _call("root", operand)
        case p.Step(source, axis, test, settled):
            return _call(f"{axis}::{node_test(test, axis)}{' settled' * settled}", source)
        case p.Path(left, right):
            return _call("path", left, right)
        case p.SimpleMap(left, right):
            return _call("map", left, right)
        case p.Filter(source, predicate, reverse):
            return _call("filter-reverse" if reverse else "filter", source, predicate)
        case p.SetOperation(op, left, right):
            return _call(op, left, right)
        case p.StreamInput(name):
            return Drawing(f"stream {quoted(name)}")
        case _:
            return _application(plan)


def _application(plan: p.Expression) -> Drawing:
    match plan:
        case p.Call(function, args):
            return _call(function.name, *args) if args else Drawing(f"{function.name}()")
        case p.UserCall(_, args, name):
            return _call(name, *args) if args else Drawing(f"{name}()")
        case p.DynamicCall(function, args):
            return _call("call", function, *args)
        case p.Partial(function, args):
            holes = tuple(Drawing("?") if arg is None else drawn(arg) for arg in args)
            return Drawing("partial", (drawn(function), *holes))
        case p.FunctionRef(function, arity):
            return Drawing(f"{function.name}#{arity}")
        case p.UserRef(_, name, arity):
            return Drawing(f"{name}#{arity}")
        case p.Inline(parameters, result, body):
            shown = ", ".join(f"{q.variable} as {sequence_type(q.type)}" for q in parameters)
            return _call(f"function[({shown}) as {sequence_type(result)}]", body)
        case p.SetVariable(variable, value):
            return Drawing(f"set {variable} :=", (drawn(value),), clause=True)
        case p.Block(statements, result):
            return _call("block", *statements, result)
        case _:
            return _construction(plan)


def _construction(plan: p.Expression) -> Drawing:
    match plan:
        case p.MakeDocument(content):
            return _call("document", content)
        case p.MakeElement():
            return _element(plan)
        case p.MakeAttribute(name, parts):
            return Drawing(*_named("attribute", name, tuple(map(drawn, parts))))
        case p.MakeText(content):
            return _call("text", content)
        case p.MakeComment(content):
            return _call("comment", content)
        case p.MakePi(target, content):
            return _with_word("processing-instruction", target, content)
        case p.MakeNamespace(prefix, content):
            return _with_word("namespace", prefix, content)
        case p.MakeMap(keys, values):
            return _call("map", *(x for pair in zip(keys, values, strict=True) for x in pair))
        case p.MakeArray(members, each):
            return _call("array of each" if each else "array", *members)
        case p.Lookup(operand, None):
            return _call("?*", operand)
        case p.Lookup(operand, key):
            assert key is not None
            return _call("?", operand, key)
        case p.Instant(which):
            return Drawing(which)
        case p.LastVersion():
            return Drawing("last")
        case p.LifespanBound(which, operand):
            return _call(which, operand)
        case p.IntervalProjection(operand, first, last):
            return _call("?[]", operand, first, last)
        case p.VersionProjection(operand, first, last):
            return _call("#[]", operand, first, last)
        case p.Interval(first, last):
            return _call("interval", first, last)
        case p.AllenCompare(op, left, right):
            return _call(op, left, right)
        case _:
            # Every other node was drawn by a caller; the test of all nodes holds this to be true.
            raise AssertionError(plan)


def _constants(atoms: tuple[p.Atom, ...]) -> Drawing:
    if len(atoms) == 1:
        return Drawing(constant(atoms[0]))
    return Drawing("comma", tuple(Drawing(constant(a)) for a in atoms)) if atoms else Drawing("()")


def _flwor(head: str, source: p.Tuples, word: str, result: p.Expression) -> Drawing:
    last = Drawing(word, (drawn(result),), clause=True)
    return Drawing(head, (*clauses(source, drawn), last))


def _choice(plan: p.Switch | p.TypeSwitch | p.Try) -> Drawing:
    match plan:
        case p.Switch(operand, cases, default):
            drawings = [
                Drawing("case", (*map(drawn, case.operands), _result(case.result)), clause=True)
                for case in cases
            ]
            return Drawing("switch", (drawn(operand), *drawings, _result(default)), tall=True)
        case p.TypeSwitch(variable, operand, type_cases, default):
            drawings = [
                Drawing(
                    f"case {' | '.join(map(sequence_type, c.types))}",
                    (_result(c.result),),
                    clause=True,
                )
                for c in type_cases
            ]
            head = Drawing(f"{variable} :=", (drawn(operand),), clause=True)
            return Drawing("typeswitch", (head, *drawings, _result(default)))
        case p.Try(body, catches):
            return Drawing("try", (drawn(body), *map(_catch, catches)))
        case _:
            assert_never(plan)


def _result(result: p.Expression) -> Drawing:
    return Drawing("return", (drawn(result),), clause=True)


def _catch(catch: p.Catch) -> Drawing:
    tests = " | ".join(name_of(test.uri, test.local) for test in catch.tests)
    return Drawing(f"catch {tests}", (drawn(catch.result),))


def _element(plan: p.MakeElement) -> Drawing:
    parts = (*plan.attributes, *plan.content)
    head, drawings = _named("element", plan.name, tuple(map(drawn, parts)))
    shown = "".join(f" xmlns{':' if k else ''}{k}={quoted(u)}" for k, u in plan.namespaces)
    modes = "" if plan.copy.preserve else " no-preserve"
    modes += "" if plan.copy.inherit else " no-inherit"
    return Drawing(head + shown + modes, drawings)


def _named(
    kind: str, name: p.NodeName, parts: tuple[Drawing, ...]
) -> tuple[str, tuple[Drawing, ...]]:
    if isinstance(name, p.StaticName):
        return f"{kind} {node_name(name)}", parts
    return kind, (Drawing("name", (drawn(name.value),), clause=True), *parts)


def _with_word(kind: str, word: str | p.Expression, content: p.Expression) -> Drawing:
    if isinstance(word, str):
        return _call(f"{kind} {word}".rstrip(), content)
    return Drawing(kind, (Drawing("name", (drawn(word),), clause=True), drawn(content)))
