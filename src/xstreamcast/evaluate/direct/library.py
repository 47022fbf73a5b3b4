"""Library functions as Python text: those that Python has, on values of the shapes here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.direct.operands import concatenated, string
from xstreamcast.evaluate.direct.shapes import (
    TEXT,
    TRUTH,
    WHOLE,
    Unsupported,
    Value,
    ValueShape,
)
from xstreamcast.evaluate.direct.writing import SMALL_LENGTH, SMALL_NUMBER, Writing
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import INTEGER, STRING

Written: TypeAlias = Callable[[Writing, list[Value]], Value]


def call(writing: Writing, plan: p.Call) -> Value:
    """A call of a function that is in the table."""
    written = _TABLE.get(plan.function.local) if plan.function.uri == FN else None
    if written is None or plan.function.focus:
        raise Unsupported
    least, most, write = written
    if not least <= len(plan.args) <= most:
        raise Unsupported
    return write(writing, [writing.value(one) for one in plan.args])


def _tuple(writing: Writing, value: Value) -> Value:
    shape = ValueShape(value.shape.kind, "many")
    return Value(writing.fit(value, shape), shape)


def _of_kind(value: Value, *kinds: int) -> Value:
    if value.shape.kind not in kinds:
        raise Unsupported
    return value


def _text(writing: Writing, value: Value) -> str:
    """A string, or the empty one for nothing."""
    return string(writing, _of_kind(value, STRING))


def _whole(value: Value) -> str:
    if value.shape != WHOLE:
        raise Unsupported
    return value.code


def _count(writing: Writing, args: list[Value]) -> Value:
    match args[0].shape.occurs:
        case "many":
            return Value(f"len({args[0].code})", WHOLE)
        case _:
            return Value(f"len({_tuple(writing, args[0]).code})", WHOLE)


def _empty(writing: Writing, args: list[Value]) -> Value:
    return Value(f"({_none(args[0])})", TRUTH)


def _exists(writing: Writing, args: list[Value]) -> Value:
    return Value(f"(not {_none(args[0])})", TRUTH)


def _none(value: Value) -> str:
    match value.shape.occurs:
        case "many":
            return f"(not {value.code})"
        case "optional":
            return f"({value.code} is None)"
        case "one" if value.code.isidentifier():
            return "False"
        case _:
            raise Unsupported  # an error of the value would be lost


def _not(writing: Writing, args: list[Value]) -> Value:
    return Value(f"(not {writing.truth(args[0])})", TRUTH)


def _boolean(writing: Writing, args: list[Value]) -> Value:
    return Value(f"({writing.boolean(args[0])})", TRUTH)


def _constant(code: str) -> Written:
    return lambda writing, args: Value(code, TRUTH)


def _head(writing: Writing, args: list[Value]) -> Value:
    if args[0].shape.occurs != "many":
        return args[0]
    items = writing.text.named(args[0])
    return Value(f"({items.code}[0] if {items.code} else None)", _at_most(items))


def _at_most(items: Value) -> ValueShape:
    return ValueShape(items.shape.kind, "optional")


def _tail(writing: Writing, args: list[Value]) -> Value:
    items = _tuple(writing, args[0])
    return Value(f"{items.code}[1:]", items.shape)


def _reverse(writing: Writing, args: list[Value]) -> Value:
    items = _tuple(writing, args[0])
    return Value(f"{items.code}[::-1]", items.shape)


def _abs(writing: Writing, args: list[Value]) -> Value:
    return writing.each(_of_kind(args[0], INTEGER), lambda one: Value(f"abs({one})", WHOLE))


def _sum(writing: Writing, args: list[Value]) -> Value:
    items = _tuple(writing, _of_kind(args[0], INTEGER))
    return Value(writing.checked(f"sum({items.code})", SMALL_NUMBER), WHOLE)


def _extreme(name: str) -> Written:
    def write(writing: Writing, args: list[Value]) -> Value:
        items = writing.text.named(_tuple(writing, _of_kind(args[0], INTEGER)))
        return Value(f"({name}({items.code}) if {items.code} else None)", _at_most(items))

    return write


def _index_of(writing: Writing, args: list[Value]) -> Value:
    items, wanted = _tuple(writing, args[0]), args[1]
    same = items.shape.kind == wanted.shape.kind in (INTEGER, STRING)
    if not same or wanted.shape.occurs != "one" or not _plain(writing, wanted):
        raise Unsupported
    return Value(f"index_of({items.code}, {wanted.code})", ValueShape(INTEGER, "many"))


def _plain(writing: Writing, value: Value) -> bool:
    return value.shape.kind != STRING or writing.around.plain


def _subsequence(writing: Writing, args: list[Value]) -> Value:
    items = _tuple(writing, args[0])
    return Value(_part(items.code, args[1:]), items.shape)


def _substring(writing: Writing, args: list[Value]) -> Value:
    return Value(_part(_text(writing, args[0]), args[1:]), TEXT)


def _part(code: str, places: list[Value]) -> str:
    start = _whole(places[0])
    if not start.isdigit() or int(start) < 1:
        return f"part({', '.join([code, start, *map(_whole, places[1:])])})"
    begin = int(start) - 1
    if len(places) == 1:
        return f"{code}[{begin}:]"
    length = _whole(places[1])
    end = str(begin + int(length)) if length.isdigit() else f"max({begin} + {length}, 0)"
    return f"{code}[{begin}:{end}]"


def _string_length(writing: Writing, args: list[Value]) -> Value:
    return Value(f"len({_text(writing, args[0])})", WHOLE)


def _string(writing: Writing, args: list[Value]) -> Value:
    return Value(string(writing, args[0]), TEXT)


def _string_join(writing: Writing, args: list[Value]) -> Value:
    items = _tuple(writing, _of_kind(args[0], STRING, INTEGER))
    glue = '""' if len(args) == 1 else _of_kind(args[1], STRING).code
    if len(args) > 1 and args[1].shape != TEXT:
        raise Unsupported
    texts = items.code if items.shape.kind == STRING else f"map(str, {items.code})"
    return Value(writing.checked(f"{glue}.join({texts})", SMALL_LENGTH), TEXT)


def _codepoints(writing: Writing, args: list[Value]) -> Value:
    return Value(f"tuple(map(ord, {_text(writing, args[0])}))", ValueShape(INTEGER, "many"))


def _from_codepoints(writing: Writing, args: list[Value]) -> Value:
    writing.errors += 1
    return Value(f"characters({_tuple(writing, _of_kind(args[0], INTEGER)).code})", TEXT)


def _search(template: str) -> Written:
    def write(writing: Writing, args: list[Value]) -> Value:
        if not writing.around.plain:
            raise Unsupported
        one, other = (_text(writing, arg) for arg in args)
        return Value(template.format(one, other), TRUTH)

    return write


def _distinct(writing: Writing, args: list[Value]) -> Value:
    items = _tuple(writing, _of_kind(args[0], INTEGER, STRING))
    if not _plain(writing, items):
        raise Unsupported
    return Value(f"tuple(dict.fromkeys({items.code}))", items.shape)


_TABLE: Final[dict[str, tuple[int, int, Written]]] = {
    "count": (1, 1, _count),
    "empty": (1, 1, _empty),
    "exists": (1, 1, _exists),
    "not": (1, 1, _not),
    "boolean": (1, 1, _boolean),
    "true": (0, 0, _constant("True")),
    "false": (0, 0, _constant("False")),
    "head": (1, 1, _head),
    "tail": (1, 1, _tail),
    "reverse": (1, 1, _reverse),
    "abs": (1, 1, _abs),
    "sum": (1, 1, _sum),
    "max": (1, 1, _extreme("max")),
    "min": (1, 1, _extreme("min")),
    "index-of": (2, 2, _index_of),
    "subsequence": (2, 3, _subsequence),
    "substring": (2, 3, _substring),
    "string-length": (1, 1, _string_length),
    "string": (1, 1, _string),
    "concat": (2, 64, concatenated),
    "string-join": (1, 2, _string_join),
    "string-to-codepoints": (1, 1, _codepoints),
    "codepoints-to-string": (1, 1, _from_codepoints),
    "contains": (2, 2, _search("({1} in {0})")),
    "starts-with": (2, 2, _search("{0}.startswith({1})")),
    "ends-with": (2, 2, _search("{0}.endswith({1})")),
    "distinct-values": (1, 1, _distinct),
}
