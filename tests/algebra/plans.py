"""Queries for the tests of the algebra: those of the golden files, and generated ones."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from xstreamcast.algebra.lowering import lower
from xstreamcast.algebra.program import Program
from xstreamcast.syntax import parse

CORPUS = Path(__file__).parents[1] / "corpus" / "plan"
NAMES = ("a", "b", "c")


def program(query: str) -> Program:
    return lower(parse(query))


def golden_queries() -> list[str]:
    return [
        path.read_text("utf-8").partition("----\n")[0] for path in sorted(CORPUS.glob("*.spec"))
    ]


@st.composite
def nested(draw, known: tuple[str, ...] = (), depth: int = 3) -> str:
    """An expression that binds names again and again, and reads only what is bound."""
    leaves = ["1", '"x"', "()", *(f"${name}" for name in known)]
    if depth == 0:
        return str(draw(st.sampled_from(leaves)))
    inner = nested(known, depth - 1)
    name = draw(st.sampled_from(NAMES))
    within = nested((*known, name), depth - 1)
    kind = draw(st.sampled_from(sorted(_SHAPES)))
    return _SHAPES[kind].format(n=name, x=draw(inner), y=draw(within), z=draw(inner))


_SHAPES = {
    "leaf": "({x})",
    "comma": "({x}, {z})",
    "let": "(let ${n} := {x} return {y})",
    "for": "(for ${n} at $p in {x} return ({y}, $p))",
    "where": "(for ${n} in {x} where exists({y}) return {y})",
    "order": "(for ${n} in {x} order by count({y}) return {y})",
    "group": "(for ${n} in {x} group by $k := count({y}) return ($k, {y}))",
    "window": "(for tumbling window ${n} in {x} start when true() return {y})",
    "bounded": "(for sliding window $w in {x} start ${n} when {y} = 1 end when 1 return $w)",
    "some": "(some ${n} in {x} satisfies exists({y}))",
    "switch": "(typeswitch ({x}) case ${n} as item() return {y} default return {z})",
    "inline": "(function(${n}) {{ {y} }}({x}))",
    "element": "<e>{{ {x} }}</e>",
    "filter": "({x})[exists({z})]",
    "map": "({x} ! {z})",
    "try": "(try {{ {x} }} catch * {{ {z} }})",
    "if": "(if ({x}) then {z} else {x})",
    "count": "(for ${n} in {x} count $q let ${n} := ({y}, $q) return {y})",
}
