"""Conditions, quantifiers, switches and try, as text."""

from __future__ import annotations

from typing import assert_never

from xstreamcast.syntax.grammar import operators
from xstreamcast.syntax.printing import expressions
from xstreamcast.syntax.printing.literals import name
from xstreamcast.syntax.printing.types import declared, node_test, sequence_type
from xstreamcast.syntax.tree import (
    CatchClause,
    IfExpr,
    QuantifiedBinding,
    QuantifiedExpr,
    SwitchCaseClause,
    SwitchExpr,
    TryCatch,
    TypeCaseClause,
    TypeSwitchExpr,
)


def control(found: IfExpr | QuantifiedExpr | SwitchExpr | TypeSwitchExpr | TryCatch) -> str:
    """One of them; parts that are open to the right come last or are wrapped."""
    show = expressions.expression
    match found:
        case IfExpr(test, then, otherwise):
            return f"if ({show(test)}) then {show(then)} else {show(otherwise)}"
        case QuantifiedExpr(kind, bindings, test):
            bound = ", ".join(_binding(b) for b in bindings)
            return f"{kind} {bound} satisfies {show(test)}"
        case SwitchExpr(operand, cases, default):
            shown = " ".join(_switch_case(c) for c in cases)
            return f"switch ({show(operand)}) {shown} default return {show(default)}"
        case TypeSwitchExpr(operand, type_cases, bound_name, default):
            shown = " ".join(_type_case(c) for c in type_cases)
            last = f"default {f'${name(bound_name)} ' if bound_name else ''}return"
            return f"typeswitch ({show(operand)}) {shown} {last} {show(default)}"
        case TryCatch(body, catches):
            return f"try {expressions.enclosed(body)} {' '.join(_catch(c) for c in catches)}"
        case _:
            assert_never(found)


def _binding(found: QuantifiedBinding) -> str:
    source = expressions.at(found.source, operators.OR)
    return f"${name(found.name)}{declared(found.type)} in {source}"


def _switch_case(found: SwitchCaseClause) -> str:
    values = " ".join(f"case {expressions.at(v, operators.OR)}" for v in found.values)
    return f"{values} return {expressions.at(found.result, operators.OR)}"


def _type_case(found: TypeCaseClause) -> str:
    bound = f"${name(found.name)} as " if found.name else ""
    types = " | ".join(sequence_type(t) for t in found.types)
    return f"case {bound}{types} return {expressions.at(found.result, operators.OR)}"


def _catch(found: CatchClause) -> str:
    tests = " | ".join(node_test(t) for t in found.tests)
    return f"catch {tests} {expressions.enclosed(found.body)}"
