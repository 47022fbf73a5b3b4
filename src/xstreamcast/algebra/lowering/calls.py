"""Function calls: which function a name means, and those that are plan nodes of their own."""

from __future__ import annotations

from difflib import get_close_matches

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.lowering.annotations import check_inline
from xstreamcast.algebra.lowering.literals import names_for
from xstreamcast.algebra.lowering.scope import Declared, Scope
from xstreamcast.algebra.lowering.types import constructible, sequence_type
from xstreamcast.errors import Error, Span
from xstreamcast.functions import registry
from xstreamcast.functions.signature import FN, XS
from xstreamcast.model.atomic import ATOMIC, BOOLEAN
from xstreamcast.model.sequence_type import ANY, AtomicItem, AtomicUnion, SequenceType
from xstreamcast.syntax import tree as t

_MOST_ARGUMENTS = 1 << 20
_ANY_ATOMIC = SequenceType(AtomicItem(ATOMIC["anyAtomicType"].tag), "optional")


def function_call(expr: t.FunctionCall, scope: Scope) -> p.Expression:
    """A call by name; with a ? among the arguments it is a function item."""
    uri, local = scope.expand_function(expr.name)
    if any(isinstance(arg, t.Placeholder) for arg in expr.arguments):
        reference = function_item(uri, local, len(expr.arguments), expr.name, expr.span, scope)
        return p.Partial(reference, _holes(expr.arguments, scope), span=expr.span)
    args = scope.lowered(expr.arguments)  # type: ignore[arg-type]
    declared = scope.shared.functions.get((uri, local, len(args)))
    if declared is not None:
        return _declared_call(declared, args, expr.span)
    own = _special(uri, local, args, expr.span, scope)
    if own is not None:
        return own
    row = registry.lookup(uri, local, len(args))
    if row is None:
        raise _not_found(uri, local, len(args), expr.name, expr.span, scope)
    return p.Call(row, args, scope.local_namespaces(), span=expr.span)


def _declared_call(declared: Declared, args: tuple[p.Expression, ...], span: Span) -> p.UserCall:
    converted = tuple(
        arg
        if kind == ANY
        else p.Convert(arg, kind, f"argument {i} of {declared.name}", span=arg.span)
        for i, (arg, kind) in enumerate(zip(args, declared.parameters, strict=True), start=1)
    )
    return p.UserCall(declared.index, converted, declared.name, span=span)


def _special(
    uri: str, local: str, args: tuple[p.Expression, ...], span: Span, scope: Scope
) -> p.Expression | None:
    """Functions that say something about the plan itself."""
    if uri == XS and len(args) == 1:
        return _construct(local, args[0], span, scope)
    if uri != FN:
        return None
    match local, args:
        case "position", ():
            return p.Position(span=span)
        case "last", ():
            return p.Last(span=span)
        case "true" | "false", ():
            return p.Const((p.Atom(BOOLEAN, local == "true"),), span=span)
        case "stream", (p.Const((p.Atom(_, str() as name),)),):
            return p.StreamInput(name, span=span)
        case "stream", (_,):
            raise scope.fail("XPST0017", "the name of a stream must be a string literal", span)
        case "vtFrom" | "vtTo", (operand,):
            return p.LifespanBound("vtFrom" if local == "vtFrom" else "vtTo", operand, span=span)
        case _:
            return None


def _construct(local: str, operand: p.Expression, span: Span, scope: Scope) -> p.Expression | None:
    """xs:name(value) is a cast that lets the empty sequence through."""
    target = constructible(local)
    if target is None:
        return None
    return p.Cast(operand, target, True, names_for(target, scope), span=span)


def dynamic_call(expr: t.DynamicFunctionCall, scope: Scope) -> p.Expression:
    function = scope.lower(expr.function)
    if any(isinstance(arg, t.Placeholder) for arg in expr.arguments):
        return p.Partial(function, _holes(expr.arguments, scope), span=expr.span)
    args = scope.lowered(expr.arguments)  # type: ignore[arg-type]
    return p.DynamicCall(function, args, span=expr.span)


def _holes(
    arguments: tuple[t.Expr | t.Placeholder, ...], scope: Scope
) -> tuple[p.Expression | None, ...]:
    return tuple(None if isinstance(arg, t.Placeholder) else scope.lower(arg) for arg in arguments)


def function_ref(expr: t.NamedFunctionRef, scope: Scope) -> p.Expression:
    uri, local = scope.expand_function(expr.name)
    if expr.arity > _MOST_ARGUMENTS:
        raise scope.fail("FOAR0002", f"no function takes {expr.arity} arguments", expr.span)
    return function_item(uri, local, expr.arity, expr.name, expr.span, scope)


def function_item(
    uri: str, local: str, arity: int, written: t.Name, span: Span, scope: Scope
) -> p.Expression:
    """The function item that name#arity means."""
    declared = scope.shared.functions.get((uri, local, arity))
    if declared is not None:
        return p.UserRef(declared.index, declared.name, arity, span=span)
    row = registry.lookup(uri, local, arity)
    if row is not None:
        return p.FunctionRef(row, arity, scope.local_namespaces(), span=span)
    if uri == XS and arity == 1 and constructible(local) is not None:
        return _constructor_item(local, span, scope)
    raise _not_found(uri, local, arity, written, span, scope)


def _constructor_item(local: str, span: Span, scope: Scope) -> p.Expression:
    value = scope.shared.variable("value")
    target = constructible(local)
    body = _construct(local, p.Var(value, span=span), span, scope)
    assert body is not None
    single = isinstance(target, AtomicItem | AtomicUnion)
    result = SequenceType(target, "optional") if single else ANY  # type: ignore[arg-type]
    return p.Inline((p.Parameter(value, _ANY_ATOMIC),), result, body, span=span)


def inline_function(expr: t.InlineFunction, scope: Scope) -> p.Expression:
    """A function item made here; its body has no focus, and converts its own result."""
    check_inline(expr.annotations, scope)
    parameters, inner = bind_parameters(expr.parameters, scope)
    result = sequence_type(expr.result, scope)
    body = converted(inner.lower(expr.body), result, "the result of the function")
    return p.Inline(parameters, result, body, span=expr.span)


def bind_parameters(
    written: tuple[t.Param, ...], scope: Scope
) -> tuple[tuple[p.Parameter, ...], Scope]:
    """Parameters as variables, and the place of the body; XQST0039 for two of one name."""
    seen: set[tuple[str, str]] = set()
    parameters = []
    inner = scope
    for one in written:
        expanded = scope.expand_variable(one.name)
        if expanded in seen:
            raise scope.fail("XQST0039", f"two parameters are named ${one.name}", one.span)
        seen.add(expanded)
        variable, inner = inner.bind(one.name)
        parameters.append(p.Parameter(variable, sequence_type(one.type, scope)))
    return tuple(parameters), inner


def converted(value: p.Expression, kind: SequenceType, role: str) -> p.Expression:
    """A value under the function conversion rules, where a type asks for any."""
    return value if kind == ANY else p.Convert(value, kind, role, span=value.span)


def _not_found(
    uri: str, local: str, arity: int, written: t.Name, span: Span, scope: Scope
) -> Error:
    known = [a for u, name, a in scope.shared.functions if (u, name) == (uri, local)]
    known += registry.arities(uri, local)
    if known:
        takes = " or ".join(map(str, sorted(set(known))))
        sentence = f"{written} takes {takes} arguments; got {arity}"
        return scope.fail("XPST0017", sentence, span)
    own = get_close_matches(local, [name for _, name, _ in scope.shared.functions], 1, 0.7)
    near = [scope.shared.functions[k].name for k in scope.shared.functions if k[1] in own]
    near += registry.near(uri, local)
    hint = f"did you mean {near[0]}?" if near else None
    return scope.fail("XPST0017", f"no function {written} is known", span, hint)
