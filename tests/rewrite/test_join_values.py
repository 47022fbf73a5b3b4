"""Joins of generated values: a comparison in a join is the comparison, errors included."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rewrite.ways import NONE, answer
from xstreamcast.rewrite.rules import RULES

DOCUMENT = b'<r><v>1</v><v>1.0</v><v>x</v><v/><v>10</v><v>2</v><w k="1"/><w k="x"/><w k="10"/></r>'
ATOMS = (
    "1", "2", "1.0", "1e0", "10", "2.5", '"x"', '"1"', '""', "xs:double('NaN')", "true()",
    "xs:float(2.5)", "9007199254740993", "9007199254740992e0", "xs:date('2020-01-01')",
    "xs:untypedAtomic('1')", "xs:untypedAtomic('x')", "xs:untypedAtomic('2020-01-01')",
    "xs:anyURI('x')", "xs:dayTimeDuration('PT1H')", "xs:yearMonthDuration('P1M')",
)  # fmt: skip
NUMBERS = ATOMS[:6]
GENERAL, VALUE = ("=", "<", "<=", ">", ">="), ("eq", "lt", "le", "gt", "ge")

alike = st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=5)
mixed = st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4)
sides = st.one_of(
    (alike | mixed).map(lambda values: f"({', '.join(values)})"),
    st.sampled_from(("//v", "//w/@k", "(//v, //w/@k)", "//v/text()")),
)
keys = st.sampled_from(("{}", "({}, 1)", "{}[. = .]", "data({})"))


@given(sides, sides, keys, keys, st.sampled_from(GENERAL + VALUE))
def test_a_join_pairs_what_compares(left: str, right: str, one: str, other: str, op: str) -> None:
    a, b = one.format("$a"), other.format("$b")
    pair = "concat(string($a), '/', string($b))"
    _same(f"for $a in {left}, $b in {right} where {a} {op} {b} return {pair}")


@given(sides, sides, st.sampled_from(GENERAL + VALUE))
def test_a_nested_loop_finds_what_compares(left: str, right: str, op: str) -> None:
    inner = f"for $b at $i in {right} where $b {op} $a return $i"
    _same(f"for $a in {left} return <a>{{{inner}}}</a>")
    _same(f"for $a in {left} where some $b in {right} satisfies $a {op} $b return string($a)")


@given(sides, st.sampled_from(GENERAL))
def test_a_predicate_finds_what_compares(left: str, op: str) -> None:
    _same(f"for $a in {left} return <a>{{ count(//w[@k {op} $a]), count(//v[$a {op} .]) }}</a>")


@given(sides, sides, st.sampled_from(GENERAL))
def test_a_join_inside_rows_of_an_outer_loop(left: str, right: str, op: str) -> None:
    inner = f"for $b in ($o, {right}) where $a {op} $b return string($b)"
    _same(f"for $o in (1, 2, 'x') for $a in {left} return <a>{{{inner}}}</a>")


windows = st.sampled_from(("tumbling", "sliding"))


@given(windows, sides, st.sampled_from(("eq", "=")), st.booleans())
def test_windows_end_where_values_are_equal(kind: str, items: str, op: str, only: bool) -> None:
    end = f"{'only ' if only else ''}end $e at $j next $n"
    head = f"for {kind} window $w in ({items}, {items}) start $s at $i when true()"
    _same(f"{head} {end} when $s {op} $n return <w>{{$w}}</w>")
    _same(f"{head} {end} when $j - $i {op} 2 return <w>{{$w}}</w>")


@pytest.mark.parametrize("force", ["", "force "])
@given(items=sides)
def test_landmarks_end_where_values_are_equal(force: str, items: str) -> None:
    head = f"forseq $w in ({items}, {items}) landmark window start curItem $s when true()"
    _same(f"{head} {force}end curItem $e when $s eq $e return <w>{{$w}}</w>")


def _same(query: str) -> None:
    assert answer(query, DOCUMENT, RULES) == answer(query, DOCUMENT, NONE), query
