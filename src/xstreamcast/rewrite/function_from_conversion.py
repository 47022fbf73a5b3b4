"""Functions that are converted or given some arguments where they are written."""

from __future__ import annotations

from functools import partial
from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.nodes.static_type import of_sequence_type
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.model.sequence_type import ANY, FunctionType, SequenceType
from xstreamcast.rewrite.known import Known


def function_from_conversion(plan: p.Convert | p.Partial, known: Known) -> p.Expression:
    """A function with other types or fewer parameters is one that converts, or has the arguments.

    convert[function(*)](function($x) { b })  →  function($x) { b }
    convert[function(a) as r](function($x as t) { b })
        →  function($y as a) as r { convert[r](let $x := convert[t]($y) return b) }
    function($x, $y) { b }(e, ?)  →  function($y) { let $x := e return b }, if e is a value at hand
    """
    match plan:
        case p.Convert(p.Inline() as function, SequenceType(FunctionType(None, _))):
            return function
        case p.Convert(
            p.Inline() as function, SequenceType(FunctionType(tuple() as wanted, result))
        ) if len(wanted) == len(function.parameters):
            return _typed(function, wanted, result or ANY, known)
        case p.Partial(p.Inline(parameters) as function, args) if len(args) == len(parameters):
            return _filled(function, args) if all(map(_is_at_hand, args)) else plan
        case _:
            return plan


def _typed(
    function: p.Inline, wanted: tuple[SequenceType, ...], result: SequenceType, known: Known
) -> p.Expression:
    """The function behind parameters and a result of other types."""
    source: p.Tuples = p.Unit()
    outer = []
    for number, (own, kind) in enumerate(zip(function.parameters, wanted, strict=True), start=1):
        variable = known.fresh(own.variable.name, of_sequence_type(kind))
        outer.append(p.Parameter(variable, kind))
        value = _converted(p.Var(variable), own.type, f"argument {number}")
        source = p.Let(source, own.variable, value, span=function.span)
    inner = p.Return(source, function.body, span=function.span)
    body = _converted(inner, result, "the result of the function")
    return p.Inline(tuple(outer), result, body, span=function.span)


def _converted(value: p.Expression, kind: SequenceType, role: str) -> p.Expression:
    return value if kind == ANY else p.Convert(value, kind, role, span=value.span)


def _is_at_hand(argument: p.Expression | None) -> bool:
    """Whether it is open, or the same value wherever it is read, without work."""
    return argument is None or isinstance(argument, p.Const | p.Var | p.Inline)


def _filled(function: p.Inline, args: tuple[p.Expression | None, ...]) -> p.Expression:
    """The function with the values of the given arguments inside."""
    source: p.Tuples = p.Unit()
    rest, body = [], function.body
    for number, (own, value) in enumerate(zip(function.parameters, args, strict=True), start=1):
        if value is None:
            rest.append(own)
        elif own.type == ANY and isinstance(value, p.Const):
            body = bottom_up(body, partial(_put, own.variable, value))
        else:
            made = _converted(value, own.type, f"argument {number} of the function")
            source = p.Let(source, own.variable, made, span=function.span)
    if not isinstance(source, p.Unit):
        body = p.Return(source, body, span=function.span)
    return p.Inline(tuple(rest), function.result, body, span=function.span)


def _put(variable: p.Variable, value: p.Const, node: Any) -> Any:
    return value if isinstance(node, p.Var) and node.variable == variable else node
