"""Expressions, as text that parses to the same tree."""

from __future__ import annotations

from typing import assert_never

from xstreamcast.model.xml_names import NCNAME
from xstreamcast.syntax.grammar import operators
from xstreamcast.syntax.printing import binding as bind
from xstreamcast.syntax.printing import constructors, control, flwor, paths
from xstreamcast.syntax.printing.literals import literal, name
from xstreamcast.syntax.printing.types import annotation_marks, declared, sequence_type, single_type
from xstreamcast.syntax.tree import (
    AndExpr,
    ArithmeticExpr,
    Assign,
    AxisStep,
    BlockExpr,
    CastableAs,
    CastAs,
    ComparisonExpr,
    ComputedAttribute,
    ComputedComment,
    ComputedDocument,
    ComputedElement,
    ComputedNamespace,
    ComputedPI,
    ComputedText,
    ConcatExpr,
    ContextItemExpr,
    CurlyArray,
    DecimalLiteral,
    DirectComment,
    DirectElement,
    DirectPI,
    DoubleLiteral,
    DynamicFunctionCall,
    Expr,
    Extension,
    FilterExpr,
    Flwor,
    FunctionCall,
    IfExpr,
    InlineFunction,
    InstanceOfExpr,
    IntegerLiteral,
    IntervalComparison,
    IntervalExpr,
    IntervalProjectionExpr,
    LookupExpr,
    MapConstructor,
    NamedFunctionRef,
    Ordering,
    OrExpr,
    Param,
    PathExpr,
    Placeholder,
    QuantifiedExpr,
    RangeExpr,
    Sequence,
    SetExpr,
    SimpleMapExpr,
    SquareArray,
    StringConstructor,
    StringLiteral,
    SwitchExpr,
    TimeConstant,
    TimeLiteral,
    TreatAs,
    TryCatch,
    TypeSwitchExpr,
    UnaryExpr,
    VarRef,
    VersionProjectionExpr,
)


def at(found: Expr, place: int) -> str:
    """The expression at a place of the grammar, in parentheses if it binds less tightly."""
    text = expression(found)
    return text if bind.binding(found) >= place else f"({text})"


def enclosed(found: Expr) -> str:
    """`{ e }`; the spaces keep braces apart."""
    return f"{{ {expression(found)} }}"


def expression(found: Expr) -> str:
    """Any expression, without parentheses of its own save a sequence's."""
    match found:
        case StringLiteral() | IntegerLiteral() | DecimalLiteral() | DoubleLiteral():
            return literal(found)
        case TimeLiteral(_, text) | TimeConstant(text):
            return text
        case VarRef(variable):
            return f"${name(variable)}"
        case ContextItemExpr():
            return "."
        case Sequence(items):
            return f"({', '.join(expression(i) for i in items)})"
        case (
            PathExpr()
            | AxisStep()
            | FilterExpr()
            | IntervalProjectionExpr()
            | VersionProjectionExpr()
        ):
            return paths.path(found)
        case FunctionCall() | DynamicFunctionCall() | NamedFunctionRef() | InlineFunction():
            return _call(found)
        case (
            OrExpr()
            | AndExpr()
            | ConcatExpr()
            | ComparisonExpr()
            | IntervalComparison()
            | RangeExpr()
        ):
            return _loose(found)
        case ArithmeticExpr() | SetExpr() | UnaryExpr() | SimpleMapExpr() | Extension():
            return _tight(found)
        case InstanceOfExpr() | TreatAs() | CastAs() | CastableAs():
            return _typed(found)
        case IfExpr() | QuantifiedExpr() | SwitchExpr() | TypeSwitchExpr() | TryCatch():
            return control.control(found)
        case Flwor():
            return flwor.flwor(found)
        case DirectElement() | DirectComment() | DirectPI() | StringConstructor():
            return constructors.direct(found)
        case ComputedElement() | ComputedAttribute() | ComputedDocument() | ComputedText():
            return constructors.computed(found)
        case ComputedComment() | ComputedPI() | ComputedNamespace():
            return constructors.computed(found)
        case MapConstructor() | SquareArray() | CurlyArray() | LookupExpr():
            return _structured(found)
        case Ordering(ordered, body):
            return f"{'ordered' if ordered else 'unordered'} {enclosed(body)}"
        case BlockExpr(statements, result):
            return f"{{ {'; '.join(_statement(s) for s in (*statements, result))} }}"
        case _:
            assert_never(found)


def _call(found: FunctionCall | DynamicFunctionCall | NamedFunctionRef | InlineFunction) -> str:
    match found:
        case FunctionCall(called, given):
            return name(called) + _arguments(given)
        case DynamicFunctionCall(function, given):
            return paths.base(function) + _arguments(given)
        case NamedFunctionRef(called, arity):
            return f"{name(called)}#{arity}"
        case InlineFunction(marks, given, result, body):
            head = f"{annotation_marks(marks)}function{parameters(given)}"
            return f"{head}{declared(result)} {enclosed(body)}"
        case _:
            assert_never(found)


def _structured(found: MapConstructor | SquareArray | CurlyArray | LookupExpr) -> str:
    match found:
        case MapConstructor(entries):
            shown = (f"{expression(e.key)} : {expression(e.value)}" for e in entries)
            return f"map {{ {', '.join(shown)} }}"
        case SquareArray(members):
            return f"[{', '.join(map(expression, members))}]"
        case CurlyArray(body):
            return f"array {enclosed(body)}"
        case LookupExpr(looked, key):
            return f"{paths.base(looked)}?{_key(key)}"
        case _:
            assert_never(found)


def _key(key: Expr | None) -> str:
    match key:
        case None:
            return "*"
        case StringLiteral(value) if NCNAME.fullmatch(value):
            return value
        case IntegerLiteral(value):
            return str(value)
        case Sequence():
            return expression(key)
        case _:
            return f"({expression(key)})"


def _arguments(given: tuple[Expr | Placeholder, ...]) -> str:
    shown = ("?" if isinstance(a, Placeholder) else expression(a) for a in given)
    return f"({', '.join(shown)})"


def parameters(given: tuple[Param, ...]) -> str:
    """`($a as T, $b)`."""
    return f"({', '.join(f'${name(p.name)}{declared(p.type)}' for p in given)})"


def _joined(items: tuple[Expr, ...], word: str, place: int) -> str:
    return f" {word} ".join(at(i, place) for i in items)


def _loose(
    found: OrExpr | AndExpr | ConcatExpr | ComparisonExpr | IntervalComparison | RangeExpr,
) -> str:
    match found:
        case OrExpr(items):
            return _joined(items, "or", operators.AND)
        case AndExpr(items):
            return _joined(items, "and", operators.COMPARE)
        case ConcatExpr(items):
            return _joined(items, "||", operators.TO)
        case ComparisonExpr(word, left, right):
            return _joined((left, right), word, operators.CONCAT)
        case IntervalComparison(word, begin, end):
            return f"{_interval(begin)} {word} {_interval(end)}"
        case RangeExpr(low, high):
            return _joined((low, high), "to", operators.ADD)
        case _:
            assert_never(found)


def _interval(found: Expr | IntervalExpr) -> str:
    if isinstance(found, IntervalExpr):
        return paths.bounds(found.begin, found.end)
    return at(found, operators.CONCAT)


def _tight(found: ArithmeticExpr | SetExpr | UnaryExpr | SimpleMapExpr | Extension) -> str:
    place = bind.binding(found)
    match found:
        case ArithmeticExpr(word, left, right) | SetExpr(word, left, right):
            return f"{at(left, place)} {word} {at(right, place + 1)}"
        case UnaryExpr(sign, operand):
            return sign + at(operand, bind.UNARY)
        case SimpleMapExpr(left, right):
            return f"{at(left, place)} ! {at(right, bind.PATH)}"
        case Extension(pragmas, body):
            marks = " ".join(f"(#{name(p.name)} {p.content}#)" for p in pragmas)
            return f"{marks} {enclosed(body) if body is not None else '{}'}"
        case _:
            assert_never(found)


def _typed(found: InstanceOfExpr | TreatAs | CastAs | CastableAs) -> str:
    match found:
        case InstanceOfExpr(operand, wanted):
            return f"{at(operand, operators.TREAT)} instance of {sequence_type(wanted)}"
        case TreatAs(operand, wanted):
            return f"{at(operand, operators.CASTABLE)} treat as {sequence_type(wanted)}"
        case CastableAs(operand, target):
            return f"{at(operand, operators.CAST)} castable as {single_type(target)}"
        case CastAs(operand, target):
            return f"{at(operand, operators.ARROW)} cast as {single_type(target)}"
        case _:
            assert_never(found)


def _statement(found: Assign | Expr) -> str:
    if isinstance(found, Assign):
        return f"set ${name(found.name)} := {expression(found.value)}"
    return expression(found)
