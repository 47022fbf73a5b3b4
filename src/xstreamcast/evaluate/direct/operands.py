"""Constants, variables, sequences, arithmetic and strings as Python text."""

from __future__ import annotations

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.direct.shapes import (
    EMPTY,
    KINDS,
    NO_KIND,
    NOTHING,
    TEXT,
    WHOLE,
    Unsupported,
    Value,
    ValueShape,
    joined,
)
from xstreamcast.evaluate.direct.writing import SMALL_LENGTH, SMALL_NUMBER, Writing
from xstreamcast.model.atomic import BOOLEAN, DOUBLE, INTEGER, STRING


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
        return Value(writing.around.constant(values), ValueShape(kind, "many"))
    if kind in (INTEGER, BOOLEAN):
        return Value(
            f"({values[0]!r})" if values[0] < 0 else repr(values[0]), ValueShape(kind, "one")
        )
    return Value(writing.around.constant(values[0]), ValueShape(kind, "one"))


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
        return Value(f"({', '.join(part.code for part in parts)})", ValueShape(shape.kind, "many"))
    shape = ValueShape(shape.kind, "many")
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
    return Value(f"tuple(span({low.code}, {high.code}))", ValueShape(INTEGER, "many"))


def arithmetic(writing: Writing, plan: p.Arithmetic) -> Value:
    """Integers, and doubles; nothing where an operand is."""
    left, right = writing.value(plan.left), writing.value(plan.right)
    kinds = {left.shape.kind, right.shape.kind}
    if not kinds <= {INTEGER, DOUBLE}:
        raise Unsupported

    def combined(a: str, b: str) -> Value:
        if kinds == {INTEGER}:
            return Value(_exact(writing, plan, a, b), WHOLE)
        return Value(_floating(plan.op, a, b), ValueShape(DOUBLE, "one"))

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
    one = ValueShape(operand.shape.kind, "one")
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
