"""Generated programs of declared functions over atomic values that call each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st

Draw = Callable[..., Any]

SIGNATURES: Final = (
    ("local:f", ("xs:integer",), "xs:integer"),
    ("local:g", ("xs:integer*",), "xs:integer*"),
    ("local:h", ("xs:string", "xs:integer?"), "xs:string"),
    ("local:k", ("xs:integer*", "xs:integer"), "xs:boolean"),
    ("local:u", ("item()*",), "item()*"),
)

# Templates by what they give; {i} an integer, {o} an optional one, {m} integers, {s} a string,
# {b} a truth value, {v} a variable that is bound inside.
TEMPLATES: Final[dict[str, tuple[str, ...]]] = {
    "i": (
        "{i} + {i}", "{i} - {i}", "{i} * {i}", "{i} idiv 3", "{i} mod 2", "{i} idiv {i}",
        "{i} mod {i}", "-{i}", "abs({i})", "count({m})", "sum({m})", "string-length({s})",
        "if ({b}) then {i} else {i}", "let {v} := {i} return {v} + {i}", "xs:integer({s})",
        "local:f($n - 1, {i})", "({m})[1]", "{o}", "max(({m}, {i}))", "min(({i}, {m}))",
        "($globals)[{i}]",
    ),
    "o": (
        "({m})[{i}]", "({m})[1]", "({m})[last()]", "head({m})", "{i}", "()", "max({m})",
        "{o} + {i}", "({m})[last() - 1]", "if ({b}) then {i} else ()", "({m})[{o}]",
    ),
    "m": (
        "({m}, {i})", "({i}, {m})", "({m}, {m})", "tail({m})", "reverse({m})", "1 to {i}",
        "({m})[. > {i}]", "({m})[position() < {i}]", "({m})[. = {m}]", "({m})[. mod 2 = 0]",
        "for {v} in {m} return {v} + {i}", "for {v} in {m} where {v} > {i} return ({v}, {i})",
        "for {v} in 1 to 3 return {m}", "({m}) ! (. * {i})", "({m})[not(. = {m})]",
        "subsequence({m}, {i})", "subsequence({m}, 2, {i})", "index-of({m}, {i})", "{o}", "()",
        "let {v} := {m} return ({v}, count({v}))", "if ({b}) then {m} else {i}",
        "local:g($n - 1, {m})", "distinct-values({m})", "string-to-codepoints({s})",
        "for {v} in {m} return if ({v} > 1) then {v} else ()", "({m})[{b}]", "$globals",
        "local:u($n - 1, {m})",
    ),
    "s": (
        "{s} || {s}", "{s} || {i}", "concat({s}, {s}, {i})", "substring({s}, 2)",
        "substring({s}, {i}, 1)", "string({i})", "string({b})", "string-join({m} ! string(.), '-')",
        "if ({b}) then {s} else {s}", "let {v} := {s} return {v} || 'x'",
        "local:h($n - 1, {s}, {o})", "codepoints-to-string(({i}, 65))", "string-join({m}, ',')",
    ),
    "b": (
        "{i} = {i}", "{i} lt {i}", "{i} >= {m}", "{m} = {m}", "{i} != {m}", "{o} eq {i}",
        "{m} < {i}", "{b} and {b}", "{b} or {b}", "not({b})", "empty({m})", "exists({o})",
        "{s} = {s}", "{s} lt {s}", "contains({s}, {s})", "boolean({o})", "not({m})",
        "some {v} in {m} satisfies {v} = {i}", "every {v} in {m} satisfies {v} > {i}",
        "every {v} in {m} satisfies {i} idiv {v} > 1", "local:k($n - 1, {m}, {i})",
        "starts-with({s}, 'a')", "if ({m}) then {b} else {b}", "boolean({s})",
    ),
}  # fmt: skip
LEAVES: Final[dict[str, tuple[str, ...]]] = {
    "i": ("0", "1", "2", "-3", "7", "9007199254740993"), "o": ("()", "4"),
    "m": ("()", "(1, 2, 3)", "(5)", "(3, 3, -1)"), "s": ("''", "'a'", "'12'", "'abé'"),
    "b": ("true()", "false()"),
}  # fmt: skip
_HOLE: Final = {"xs:integer": "i", "xs:integer*": "m", "xs:integer?": "o", "xs:string": "s",
                "xs:boolean": "b", "item()*": "m"}  # fmt: skip


@st.composite
def programs(draw: Draw) -> str:
    """A program of five functions, each with a number that says how deep it may still go."""
    text = ["declare variable $globals as xs:integer+ := (4, 8, 15, 16);"]
    for name, kinds, result in SIGNATURES:
        names = [f"$p{i}" for i in range(len(kinds))]
        given = ", ".join(f"{one} as {kind}" for one, kind in zip(names, kinds, strict=True))
        scope = [(_HOLE[kind], one) for kind, one in zip(kinds, names, strict=True)]
        scope.append(("i", "$n"))
        base, more = (_expression(draw, _HOLE[result], scope, depth) for depth in (1, 3))
        text.append(
            f"declare function {name}($n as xs:integer, {given}) as {result} "
            f"{{ if ($n <= 0) then {base} else {more} }};"
        )
    name, kinds, _ = draw(st.sampled_from(SIGNATURES))
    values = [_expression(draw, _HOLE[kind], [], 1) for kind in kinds]
    text.append(f"{name}({', '.join(['3', *values])}), local:f(1, 5)")
    return "\n".join(text)


def _expression(draw: Draw, hole: str, scope: list[tuple[str, str]], depth: int) -> str:
    bound = [name for kind, name in scope if kind == hole]
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return str(draw(st.sampled_from([*LEAVES[hole], *bound * 2])))
    template = draw(st.sampled_from(TEMPLATES[hole]))
    if "local:" in template and not scope:
        return LEAVES[hole][0]
    variable = f"$v{len(scope)}"
    inner = scope
    out = []
    for number, part in enumerate(template.split("{")):
        if number == 0:
            out.append(part)
            continue
        key, rest = part.split("}", 1)
        if key == "v":
            kind = (
                "s" if "{s}" in template else "m" if template.startswith("let {v} := {m}") else "i"
            )
            out.append(variable)
            pending = (kind, variable)
            if not any(one == pending for one in inner) and ("return" in rest or "satisf" in rest):
                inner = [*scope, pending]
        else:
            sees = (
                inner if any(w in "".join(out) for w in ("return", "satisfies", "where")) else scope
            )
            out.append(f"({_expression(draw, key, sees, depth - 1)})")
        out.append(rest)
    return f"({''.join(out)})"
