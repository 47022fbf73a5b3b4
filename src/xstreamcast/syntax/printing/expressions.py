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
    And,
    Arithmetic,
    Assign,
    Block,
    CastableAs,
    CastAs,
    Comparison,
    ComputedAttribute,
    ComputedComment,
    ComputedDocument,
    ComputedElement,
    ComputedNamespace,
    ComputedPI,
    ComputedText,
    Concat,
    ContextItem,
    CurlyArray,
    DecimalLiteral,
    DirectComment,
    DirectElement,
    DirectPI,
    DoubleLiteral,
    DynamicCall,
    Expr,
    Extension,
    Filter,
    Flwor,
    FunctionCall,
    FunctionRef,
    If,
    InlineFunction,
    InstanceOf,
    IntegerLiteral,
    Interval,
    IntervalComparison,
    IntervalProjection,
    Lookup,
    MapConstructor,
    Or,
    Ordering,
    Parameter,
    Path,
    Placeholder,
    Quantified,
    Range,
    Sequence,
    SetOperation,
    SimpleMap,
    SquareArray,
    Step,
    StringConstructor,
    StringLiteral,
    Switch,
    TimeConstant,
    TimeLiteral,
    TreatAs,
    TryCatch,
    TypeSwitch,
    Unary,
    VarRef,
    VersionProjection,
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
        case ContextItem():
            return "."
        case Sequence(items):
            return f"({', '.join(expression(i) for i in items)})"
        case Path() | Step() | Filter() | IntervalProjection() | VersionProjection():
            return paths.path(found)
        case FunctionCall() | DynamicCall() | FunctionRef() | InlineFunction():
            return _call(found)
        case Or() | And() | Concat() | Comparison() | IntervalComparison() | Range():
            return _loose(found)
        case Arithmetic() | SetOperation() | Unary() | SimpleMap() | Extension():
            return _tight(found)
        case InstanceOf() | TreatAs() | CastAs() | CastableAs():
            return _typed(found)
        case If() | Quantified() | Switch() | TypeSwitch() | TryCatch():
            return control.control(found)
        case Flwor():
            return flwor.flwor(found)
        case DirectElement() | DirectComment() | DirectPI() | StringConstructor():
            return constructors.direct(found)
        case ComputedElement() | ComputedAttribute() | ComputedDocument() | ComputedText():
            return constructors.computed(found)
        case ComputedComment() | ComputedPI() | ComputedNamespace():
            return constructors.computed(found)
        case MapConstructor() | SquareArray() | CurlyArray() | Lookup():
            return _structured(found)
        case Ordering(ordered, body):
            return f"{'ordered' if ordered else 'unordered'} {enclosed(body)}"
        case Block(statements, result):
            return f"{{ {'; '.join(_statement(s) for s in (*statements, result))} }}"
        case _:
            assert_never(found)


def _call(found: FunctionCall | DynamicCall | FunctionRef | InlineFunction) -> str:
    match found:
        case FunctionCall(called, given):
            return name(called) + _arguments(given)
        case DynamicCall(function, given):
            return paths.base(function) + _arguments(given)
        case FunctionRef(called, arity):
            return f"{name(called)}#{arity}"
        case InlineFunction(marks, given, result, body):
            head = f"{annotation_marks(marks)}function{parameters(given)}"
            return f"{head}{declared(result)} {enclosed(body)}"
        case _:
            assert_never(found)


def _structured(found: MapConstructor | SquareArray | CurlyArray | Lookup) -> str:
    match found:
        case MapConstructor(entries):
            shown = (f"{expression(e.key)} : {expression(e.value)}" for e in entries)
            return f"map {{ {', '.join(shown)} }}"
        case SquareArray(members):
            return f"[{', '.join(map(expression, members))}]"
        case CurlyArray(body):
            return f"array {enclosed(body)}"
        case Lookup(looked, key):
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


def parameters(given: tuple[Parameter, ...]) -> str:
    """`($a as T, $b)`."""
    return f"({', '.join(f'${name(p.name)}{declared(p.type)}' for p in given)})"


def _joined(items: tuple[Expr, ...], word: str, place: int) -> str:
    return f" {word} ".join(at(i, place) for i in items)


def _loose(found: Or | And | Concat | Comparison | IntervalComparison | Range) -> str:
    match found:
        case Or(items):
            return _joined(items, "or", operators.AND)
        case And(items):
            return _joined(items, "and", operators.COMPARE)
        case Concat(items):
            return _joined(items, "||", operators.TO)
        case Comparison(word, left, right):
            return _joined((left, right), word, operators.CONCAT)
        case IntervalComparison(word, begin, end):
            return f"{_interval(begin)} {word} {_interval(end)}"
        case Range(low, high):
            return _joined((low, high), "to", operators.ADD)
        case _:
            assert_never(found)


def _interval(found: Expr | Interval) -> str:
    if isinstance(found, Interval):
        return paths.bounds(found.begin, found.end)
    return at(found, operators.CONCAT)


def _tight(found: Arithmetic | SetOperation | Unary | SimpleMap | Extension) -> str:
    place = bind.binding(found)
    match found:
        case Arithmetic(word, left, right) | SetOperation(word, left, right):
            return f"{at(left, place)} {word} {at(right, place + 1)}"
        case Unary(sign, operand):
            return sign + at(operand, bind.UNARY)
        case SimpleMap(left, right):
            return f"{at(left, place)} ! {at(right, bind.PATH)}"
        case Extension(pragmas, body):
            marks = " ".join(f"(#{name(p.name)} {p.content}#)" for p in pragmas)
            return f"{marks} {enclosed(body) if body is not None else '{}'}"
        case _:
            assert_never(found)


def _typed(found: InstanceOf | TreatAs | CastAs | CastableAs) -> str:
    match found:
        case InstanceOf(operand, wanted):
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
