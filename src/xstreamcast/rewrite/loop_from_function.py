"""Functions that call a function for each item, as the loops that they are."""

from __future__ import annotations

from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.nodes.static_type import ATOMIC, Kinds
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.functions.signature import FN
from xstreamcast.model.sequence_type import ANY
from xstreamcast.rewrite.known import Known


def loop_from_function(plan: p.Call | p.DynamicCall, known: Known) -> p.Expression:
    """A function that is written where it is called needs no function item.

    for-each(e, function($x) { b })  →  for $x in e return b
    filter(e, function($x) { b })    →  for $x in e where b return $x, if b is one boolean
    sort(e, (), function($x) { b })  →  for $x in e order by b return $x, if b is one value at most
    function($x) { b }(e)            →  let $x := e return b
    name#1(e)                        →  name(e)
    """
    match plan:
        case p.DynamicCall(p.Inline() as function, args):
            return _called(plan, function, args, known)
        case p.DynamicCall(p.FunctionRef(called, arity, names), args) if arity == len(args):
            return plan if called.focus else p.Call(called, args, names, span=plan.span)
        case p.Call(name, (items, function)) if name.uri == FN:
            return _each(plan, name.local, items, function, known)
        case p.Call(name, (items, p.Const(()), function)) if (name.uri, name.local) == (FN, "sort"):
            return _each(plan, "sort", items, function, known)
        case _:
            return plan


def _called(
    plan: p.DynamicCall, function: p.Inline, args: tuple[p.Expression, ...], known: Known
) -> p.Expression:
    if len(args) != len(function.parameters) or facts(function.body).reads_focus:
        return plan
    source, body = _bound(p.Unit(), function, args, known)
    return body if isinstance(source, p.Unit) else p.Return(source, body, span=plan.span)


def _bound(
    source: p.Tuples, function: p.Inline, args: tuple[p.Expression, ...], known: Known
) -> tuple[p.Tuples, p.Expression]:
    """Tuples with the arguments, and the body over their variables, whose types are known; what
    is a variable or a constant already needs none.
    """
    body = function.body
    for number, (one, value) in enumerate(zip(function.parameters, args, strict=True), start=1):
        if one.type == ANY and isinstance(value, p.Const | p.Var):
            body = _read_as(body, one.variable, value)
            continue
        if one.type != ANY:
            value = p.Convert(value, one.type, f"argument {number}", span=value.span)
        variable = known.fresh(one.variable.name, known.type_of(value))
        source = p.Let(source, variable, value, span=value.span)
        body = _read_as(body, one.variable, p.Var(variable))
    return source, body


def _read_as(body: p.Expression, variable: p.Variable, value: p.Var | p.Const) -> p.Expression:
    """Another variable or a constant in the place of a variable."""

    def put(node: Any) -> Any:
        return value if isinstance(node, p.Var) and node.variable == variable else node

    made: p.Expression = bottom_up(body, put)
    return made


def _each(
    plan: p.Call, local: str, items: p.Expression, function: p.Expression, known: Known
) -> p.Expression:
    if local not in ("for-each", "filter", "sort"):
        return plan
    item = p.Var(known.fresh("item", known.type_of(items).each()))
    loop: p.Tuples = p.ForEach(p.Unit(), item.variable, items, span=plan.span)
    match function:
        case p.Inline((parameter,), _, body) if not facts(body).reads_focus:
            if parameter.type == ANY:
                body = _read_as(body, parameter.variable, item)
            else:
                loop, body = _bound(loop, function, (item,), known)
        case p.FunctionRef(called, 1) if not called.focus:
            body = p.Call(called, (item,), function.namespaces, span=function.span)
        case _:
            return plan
    kind = known.type_of(body)
    match local:
        case "for-each":
            return p.Return(loop, body, span=plan.span)
        case "filter" if kind.one and kind.only(Kinds.BOOLEAN):
            return p.Return(p.Where(loop, body), item, span=plan.span)
        case "sort" if kind.at_most_one and kind.only(ATOMIC):
            return p.Return(p.OrderBy(loop, (p.OrderKey(body),)), item, span=plan.span)
        case _:
            return plan
