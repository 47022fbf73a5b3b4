"""From a plan to Python text: expressions over values of known shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.direct.primitives import LONG
from xstreamcast.evaluate.direct.shapes import (
    EMPTY,
    NO_KIND,
    NOTHING,
    TRUTH,
    Unsupported,
    Value,
    ValueShape,
    declared,
)
from xstreamcast.evaluate.direct.text import FunctionText
from xstreamcast.model.atomic import DOUBLE, INTEGER, STRING

if TYPE_CHECKING:
    from xstreamcast.model.sequence_type import SequenceType

Rule: TypeAlias = "Callable[[Writing, Any], Value]"

SIGNS: Final = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


class FunctionProgram(Protocol):
    """What the text of one function takes from its program."""

    plain: bool  # whether strings compare by code points

    def constant(self, value: Any) -> str: ...

    def global_variable(self, number: int) -> Value: ...

    def call(self, function: int, arguments: list[Value]) -> Value: ...


class Writing:
    """One function being written: its variables, its focus, and what may raise an error.

    `errors` counts expressions that an error can come from: a loop may end early only where no
    error is lost. What is merely too long or too wide for Python is not counted.
    """

    def __init__(self, around: FunctionProgram) -> None:
        self.around = around
        self.text = FunctionText()
        self.variables: dict[int, Value] = {}
        self.item: Value | None = None
        self.position: Value | None = None
        self.last: Value | None = None
        self.errors = 0

    def value(self, plan: p.Expression) -> Value:
        """The expression as Python; statements that it needs are written before."""
        from xstreamcast.evaluate.direct.rules import RULES  # its rules call this

        rule = RULES.get(type(plan))
        if rule is None:
            raise Unsupported
        return rule(self, plan)

    def named(self, plan: p.Expression) -> Value:
        """The expression under a name."""
        return self.text.named(self.value(plan))

    def result(self, plan: p.Expression, shape: ValueShape) -> None:
        """Statements that end with the return of the value, in this shape."""
        match plan:
            case p.If(test, then, otherwise):
                with self.text.inside(f"if {self.test(test)}:"):
                    self.result(then, shape)
                self.result(otherwise, shape)
            case p.Convert(p.If() as chosen, type_, role):
                branches = (
                    p.Convert(one, type_, role, span=plan.span)
                    for one in (chosen.then, chosen.otherwise)
                )
                then, otherwise = branches
                self.result(replace(chosen, then=then, otherwise=otherwise), shape)
            case p.Convert(p.Return() as flwor, type_, role) if only_lets(flwor.source):
                inner = p.Convert(flwor.result, type_, role, span=plan.span)
                self.result(replace(flwor, result=inner), shape)
            case p.Return(source, inner) if only_lets(source):
                self.lets(source)
                self.result(inner, shape)
            case _:
                self.text.add(f"return {self.fit(self.value(plan), shape)}")

    def lets(self, source: p.Tuples) -> None:
        """Variables, outermost first."""
        if isinstance(source, p.Let):
            self.lets(source.source)
            self.bind(source.variable, self.value(source.value))

    def bind(self, variable: p.Variable, value: Value) -> None:
        """A variable with its value, under a name."""
        name = f"v{variable.number}"
        self.text.add(f"{name} = {value.code}")
        self.variables[variable.number] = Value(name, value.shape)

    # -- shapes -----------------------------------------------------------------------------------

    def fit(self, value: Value, shape: ValueShape) -> str:
        """The value in a shape that holds it."""
        code, has = value.code, value.shape.occurs
        if has == shape.occurs or (has, shape.occurs) == ("one", "optional"):
            return code
        if shape.occurs != "many":
            raise Unsupported
        if has == "one":
            return f"({code},)"
        if value.shape == EMPTY:
            return "()"
        name = self.text.name()
        return f"(() if ({name} := {code}) is None else ({name},))"

    def many(self, plan: p.Expression) -> Value:
        """The expression as a tuple."""
        value = self.value(plan)
        shape = ValueShape(value.shape.kind, "many")
        return Value(self.fit(value, shape), shape)

    def single(self, value: Value) -> Value:
        """A value of at most one item."""
        if value.shape.occurs != "many":
            return value
        self.errors += 1
        return Value(f"at_most({value.code})", ValueShape(value.shape.kind, "optional"))

    def converted(self, value: Value, type_: SequenceType) -> Value:
        """The value as a declared type wants it; what would be an error is unfit."""
        shape = declared(type_, value.shape)
        if shape.kind == DOUBLE and value.shape.kind == INTEGER:
            value = self._doubles(value)
        has, code = value.shape.occurs, value.code
        if type_.occurs == "some" and has != "one":
            self.errors += 1
            code = f"some({self.fit(value, ValueShape(shape.kind, 'many'))})"
            return Value(code, ValueShape(shape.kind, "many"))
        if shape.occurs == "one" and has != "one":
            self.errors += 1
            if has == "many":
                return Value(f"only({code})", shape)
            name = self.text.name()
            return Value(f"({name} if ({name} := {code}) is not None else unfit())", shape)
        if shape.occurs == "optional" and has == "many":
            return Value(self.single(value).code, shape)
        return Value(self.fit(value, shape), shape)

    def _doubles(self, value: Value) -> Value:
        shape = ValueShape(DOUBLE, value.shape.occurs)
        match value.shape.occurs:
            case "one":
                return Value(f"float({value.code})", shape)
            case "optional":
                return self.each(
                    value, lambda one: Value(f"float({one})", ValueShape(DOUBLE, "one"))
                )
            case "many":
                return Value(f"tuple(map(float, {value.code}))", shape)

    def each(self, value: Value, change: Callable[[str], Value]) -> Value:
        """A change of the single item, or nothing where there is none."""
        value = self.single(value)
        if value.shape == EMPTY:
            return NOTHING
        if value.shape.occurs == "one":
            return change(value.code)
        name = self.text.name()
        changed = change(name)
        shape = ValueShape(changed.shape.kind, "optional")
        return Value(f"(None if ({name} := {value.code}) is None else {changed.code})", shape)

    def truth(self, value: Value) -> str:
        """The effective boolean value, as anything that Python finds true or false."""
        if value.shape == EMPTY:
            return "False"
        if value.shape.occurs == "many":
            self.errors += 1
            return f"truth({value.code})"
        if value.shape.kind == DOUBLE:
            raise Unsupported  # NaN is true for Python
        return value.code

    def test(self, plan: p.Expression) -> str:
        """The effective boolean value of an expression: of a comparison nothing but its truth."""
        if isinstance(plan, p.ValueCompare):
            left, right = (self.single(self.value(one)) for one in (plan.left, plan.right))
            comparable(self, left, right)
            return f"({some_pair(self, left, right, SIGNS[plan.op])})"
        return self.boolean(self.value(plan))

    def boolean(self, value: Value) -> str:
        """The effective boolean value, as True or False."""
        code = self.truth(value)
        return (
            code if value.shape in (TRUTH, EMPTY) or code.startswith("truth(") else f"bool({code})"
        )

    def checked(self, code: str, limit: str) -> str:
        """A number or a length that must stay small; it is bound to a name meanwhile."""
        name = self.text.name()
        return f"({name} if {limit.format(f'({name} := {code})')} else unfit())"


SMALL_NUMBER: Final = "-WIDE < {} < WIDE"
SMALL_LENGTH: Final = f"len({{}}) < {LONG}"


def only_lets(source: p.Tuples) -> bool:
    """Whether the clauses bind variables and do nothing else."""
    while isinstance(source, p.Let):
        source = source.source
    return isinstance(source, p.Unit)


def comparable(writing: Writing, left: Value, right: Value) -> None:
    """Unsupported, unless both are of one type that Python compares as XQuery does."""
    kinds = {left.shape.kind, right.shape.kind}
    if len(kinds) > 1 or NO_KIND in kinds or (STRING in kinds and not writing.around.plain):
        raise Unsupported


def some_pair(writing: Writing, left: Value, right: Value, sign: str) -> str:
    """Whether both are there and compare so."""
    tests = []
    codes = []
    for side in (left, right):
        code = side.code
        if side.shape.occurs == "optional":
            name = writing.text.name()
            tests.append(f"({name} := {code}) is not None")
            code = name
        codes.append(code)
    return " and ".join([*tests, f"{codes[0]} {sign} {codes[1]}"])
