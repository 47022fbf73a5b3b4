"""From a plan to Python text: expressions over values of known shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.direct.shapes import (
    EMPTY,
    KINDS,
    NO_KIND,
    NOTHING,
    TEXT,
    TRUTH,
    WHOLE,
    Pending,
    Shape,
    Unsupported,
    Value,
    declared,
    joined,
)
from xstreamcast.evaluate.direct.helpers import LONG
from xstreamcast.evaluate.direct.text import Text
from xstreamcast.model.atomic import BOOLEAN, DOUBLE, INTEGER, STRING

if TYPE_CHECKING:
    from xstreamcast.model.sequence_type import SequenceType

Rule: TypeAlias = "Callable[[Writing, Any], Value]"

_PYTHON: Final = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_TURNED: Final = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_RULES: Final[dict[type, Rule]] = {}


class Around(Protocol):
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

    def __init__(self, around: Around) -> None:
        self.around = around
        self.text = Text()
        self.variables: dict[int, Value] = {}
        self.item: Value | None = None
        self.position: Value | None = None
        self.last: Value | None = None
        self.errors = 0

    def value(self, plan: p.Expression) -> Value:
        """The expression as Python; statements that it needs are written before."""
        rule = rules().get(type(plan))
        if rule is None:
            raise Unsupported
        return rule(self, plan)

    def named(self, plan: p.Expression) -> Value:
        """The expression under a name."""
        return self.text.named(self.value(plan))

    def result(self, plan: p.Expression, shape: Shape) -> None:
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

    def fit(self, value: Value, shape: Shape) -> str:
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
        shape = Shape(value.shape.kind, "many")
        return Value(self.fit(value, shape), shape)

    def single(self, value: Value) -> Value:
        """A value of at most one item."""
        if value.shape.occurs != "many":
            return value
        self.errors += 1
        return Value(f"at_most({value.code})", Shape(value.shape.kind, "optional"))

    def converted(self, value: Value, type_: SequenceType) -> Value:
        """The value as a declared type wants it; what would be an error is unfit."""
        shape = declared(type_, value.shape)
        if shape.kind == DOUBLE and value.shape.kind == INTEGER:
            value = self._doubles(value)
        has, code = value.shape.occurs, value.code
        if type_.occurs == "some" and has != "one":
            self.errors += 1
            code = f"some({self.fit(value, Shape(shape.kind, 'many'))})"
            return Value(code, Shape(shape.kind, "many"))
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
        shape = Shape(DOUBLE, value.shape.occurs)
        match value.shape.occurs:
            case "one":
                return Value(f"float({value.code})", shape)
            case "optional":
                return self.each(value, lambda one: Value(f"float({one})", Shape(DOUBLE, "one")))
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
        shape = Shape(changed.shape.kind, "optional")
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
            return f"({some_pair(self, left, right, _PYTHON[plan.op])})"
        return self.boolean(self.value(plan))

    def boolean(self, value: Value) -> str:
        """The effective boolean value, as True or False."""
        code = self.truth(value)
        return code if value.shape in (TRUTH, EMPTY) or code.startswith("truth(") else f"bool({code})"

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


# -- rules ----------------------------------------------------------------------------------------


def const(writing: Writing, plan: p.Const) -> Value:
    """Numbers and truth are written, strings are handed in by a name."""
    if not plan.atoms:
        return NOTHING
    kinds = {atom.tag for atom in plan.atoms}
    if len(kinds) > 1 or not kinds <= KINDS:
        raise Unsupported
    kind = kinds.pop()
    values = tuple(atom.value for atom in plan.atoms)
    if len(values) > 1:
        return Value(writing.around.constant(values), Shape(kind, "many"))
    if kind in (INTEGER, BOOLEAN):
        return Value(f"({values[0]!r})" if values[0] < 0 else repr(values[0]), Shape(kind, "one"))
    return Value(writing.around.constant(values[0]), Shape(kind, "one"))


def var(writing: Writing, plan: p.Var) -> Value:
    """A variable of the function, or one of the prolog."""
    found = writing.variables.get(plan.variable.number)
    return found or writing.around.global_variable(plan.variable.number)


def focus(writing: Writing, plan: p.Focus | p.Position | p.Last) -> Value:
    """What a predicate or `!` looks at; the body of a function has no focus."""
    match plan:
        case p.Focus():
            found = writing.item
        case p.Position():
            found = writing.position
        case p.Last():
            found = writing.last
    if found is None:
        raise Unsupported
    return found


def comma(writing: Writing, plan: p.Comma) -> Value:
    """A tuple of all parts, which must be of one type."""
    parts = [part for part in map(writing.value, plan.parts) if part.shape != EMPTY]
    if len(parts) < 2:
        return parts[0] if parts else NOTHING
    shape = parts[0].shape
    for part in parts:
        shape = joined(shape, part.shape)
    if all(part.shape.occurs == "one" for part in parts):
        return Value(f"({', '.join(part.code for part in parts)})", Shape(shape.kind, "many"))
    shape = Shape(shape.kind, "many")
    codes = (
        part.code if part.shape.occurs == "one" else f"*{writing.fit(part, shape)}"
        for part in parts
    )
    return Value(writing.checked(f"({', '.join(codes)})", SMALL_LENGTH), shape)


def range_(writing: Writing, plan: p.Range) -> Value:
    """low to high, of two integers."""
    low, high = (writing.value(side) for side in (plan.low, plan.high))
    if low.shape != WHOLE or high.shape != WHOLE:
        raise Unsupported
    return Value(f"tuple(span({low.code}, {high.code}))", Shape(INTEGER, "many"))


def arithmetic(writing: Writing, plan: p.Arithmetic) -> Value:
    """Integers, and doubles; nothing where an operand is."""
    left, right = writing.value(plan.left), writing.value(plan.right)
    kinds = {left.shape.kind, right.shape.kind}
    if not kinds <= {INTEGER, DOUBLE}:
        raise Unsupported

    def combined(a: str, b: str) -> Value:
        if kinds == {INTEGER}:
            return Value(_exact(writing, plan, a, b), WHOLE)
        return Value(_floating(plan.op, a, b), Shape(DOUBLE, "one"))

    return writing.each(left, lambda a: writing.each(right, lambda b: combined(a, b)))


def _floating(op: str, a: str, b: str) -> str:
    if op == "div":
        return f"div({a}, {b})"
    if op not in "+-*":
        raise Unsupported
    return f"({a} {op} {b})"


def _exact(writing: Writing, plan: p.Arithmetic, a: str, b: str) -> str:
    match plan.op:
        case "+" | "-":
            code = f"({a} {plan.op} {b})"
            # A constant makes a number grow by so little that no program gets far.
            small = _is_number(plan.left) or _is_number(plan.right)
            return code if small else writing.checked(code, SMALL_NUMBER)
        case "*":
            return writing.checked(f"{a} * {b}", SMALL_NUMBER)
        case "idiv" | "mod":
            return _divided(writing, plan, a, b)
        case _:
            raise Unsupported  # the quotient is a decimal


def _divided(writing: Writing, plan: p.Arithmetic, a: str, b: str) -> str:
    if _is_number(plan.right) and b.isdigit() and b != "0":
        name, sign = writing.text.name(), "//" if plan.op == "idiv" else "%"
        return f"({name} {sign} {b} if ({name} := {a}) >= 0 else -(-{name} {sign} {b}))"
    writing.errors += 1
    return f"{plan.op}({a}, {b})"


def _is_number(plan: p.Expression) -> bool:
    match plan:
        case p.Const(atoms=(p.Atom(tag, value),)):
            return tag == INTEGER and abs(value) < 1 << 32
        case _:
            return False


def unary(writing: Writing, plan: p.Unary) -> Value:
    """The number, or its negative."""
    operand = writing.value(plan.operand)
    if operand.shape.kind not in (INTEGER, DOUBLE, NO_KIND):
        raise Unsupported
    sign = "-" if plan.op == "-" else ""
    one = Shape(operand.shape.kind, "one")
    return writing.each(operand, lambda code: Value(f"({sign}{code})", one))


def string_concat(writing: Writing, plan: p.StringConcat) -> Value:
    """Strings end to end."""
    return concatenated(writing, [writing.value(part) for part in plan.parts])


def concatenated(writing: Writing, parts: list[Value]) -> Value:
    """The strings of values end to end."""
    codes = [string(writing, part) for part in parts]
    return Value(writing.checked(" + ".join(codes), SMALL_LENGTH), TEXT)


def string(writing: Writing, value: Value) -> str:
    """The string of a value of at most one item; that of nothing is empty."""
    value = writing.single(value)
    if value.shape == EMPTY:
        return '""'
    match value.shape.kind:
        case kind if kind == STRING:
            return value.code if value.shape.occurs == "one" else f'({value.code} or "")'
        case kind if kind == INTEGER:
            made = "str({})"
        case kind if kind == BOOLEAN:
            made = '("true" if {} else "false")'
        case _:
            raise Unsupported
    if value.shape.occurs == "one":
        return made.format(value.code)
    name = writing.text.name()
    return f'("" if ({name} := {value.code}) is None else {made.format(name)})'


# -- comparisons and choices ------------------------------------------------------------------------


def value_compare(writing: Writing, plan: p.ValueCompare) -> Value:
    """Two values of one type; nothing where one is missing."""
    left, right = writing.value(plan.left), writing.value(plan.right)
    comparable(writing, left, right)
    return writing.each(
        left,
        lambda a: writing.each(right, lambda b: Value(f"({a} {_PYTHON[plan.op]} {b})", TRUTH)),
    )


def comparable(writing: Writing, left: Value, right: Value) -> None:
    kinds = {left.shape.kind, right.shape.kind}
    if len(kinds) > 1 or NO_KIND in kinds or (STRING in kinds and not writing.around.plain):
        raise Unsupported


def general_compare(writing: Writing, plan: p.GeneralCompare) -> Value:
    """Whether some pair of values of one type compares so."""
    left, right = writing.value(plan.left), writing.value(plan.right)
    comparable(writing, left, right)
    if "many" not in (left.shape.occurs, right.shape.occurs):
        return Value(f"({some_pair(writing, left, right, _PYTHON[plan.op])})", TRUTH)
    if left.shape.kind == DOUBLE:
        raise Unsupported  # NaN has no place in an order
    return Value(_any(writing, plan.op, left, right), TRUTH)


def some_pair(writing: Writing, left: Value, right: Value, sign: str) -> str:
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


def _any(writing: Writing, op: str, left: Value, right: Value) -> str:
    if left.shape.occurs == "one":
        left, right, op = right, left, _TURNED[op]
    if right.shape.occurs == "one":
        return _any_of(writing, op, left, right.code)
    shape = Shape(left.shape.kind, "many")
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
    return f"(bool({name} := {items.code}) and {most}({name}) {_PYTHON[op]} {one})"


def if_(writing: Writing, plan: p.If) -> Value:
    """One of two; as statements where a branch needs some."""
    test = writing.test(plan.test)
    branches = [branch for one in (plan.then, plan.otherwise) if (branch := _aside(writing, one))]
    if not branches:
        raise Pending
    if len(branches) == 1:  # the other gives what the function gives
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
    kind, shape = operand.shape.kind, Shape(target, "one")
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


def rules() -> dict[type, Rule]:
    """Which nodes have text."""
    if not _RULES:
        from xstreamcast.evaluate.direct import library, loops

        _RULES.update({
            p.Const: const, p.Var: var, p.Focus: focus, p.Position: focus, p.Last: focus,
            p.Comma: comma, p.Range: range_, p.Arithmetic: arithmetic, p.Unary: unary,
            p.StringConcat: string_concat, p.ValueCompare: value_compare,
            p.GeneralCompare: general_compare, p.If: if_, p.And: and_, p.Or: and_,
            p.Convert: convert, p.Treat: convert, p.Cast: cast_, p.UserCall: user_call,
            p.Call: library.call, p.Return: loops.return_, p.Quantified: loops.quantified,
            p.Filter: loops.filter_, p.SimpleMap: loops.simple_map,
        })  # fmt: skip
    return _RULES
