"""Closures of one expression are called together: each still sees the values of its own row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("saxonche", reason="the oracle is not installed")

from tests.evaluate.asking import ask
from tests.evaluate.oracle import ours, theirs

# $n: a number of the row; $s: a sequence of the row; $f: a function that the row made
CALLS = [
    "for-each($s, $f(?, $n))",
    "filter($s, function($x) { $x mod ($n + 2) = 0 })",
    "for-each-pair($s, reverse($s), function($x, $y) { $x * $n - $y })",
    "fold-left($s, $n, function($sum, $x) { $sum * 2 + $x - $n })",
    "fold-right($s, (), function($x, $rest) { $x + $n, $rest })",
    "sort($s, (), function($x) { abs($x - $n) })",
    "array:flatten(array:for-each(array { $s }, function($x) { $x - $n }))",
    "array:flatten(array:filter(array { $s }, function($x) { $x gt $n }))",
    "array:fold-left(array { $s }, $n, function($sum, $x) { $sum * 3 + $x + $n })",
    "array:fold-right(array { $s }, $n, function($x, $sum) { $sum * 3 + $x + $n })",
    "array:flatten(array:sort(array { $s }, (), function($x) { -abs($x - $n) }))",
    "sum(map:for-each(map:merge($s ! map { . : $n }), function($k, $v) { $k * $v + $n }))",
    "fold-left($s, 0, if ($n mod 2 = 0) then $f else function($a, $b) { $a - $b - $n })",
    "$f($n, count($s))",
]
PROLOG = (
    'declare namespace map = "http://www.w3.org/2005/xpath-functions/map";'
    'declare namespace array = "http://www.w3.org/2005/xpath-functions/array";'
)


@pytest.mark.parametrize("call", CALLS)
@given(st.lists(st.tuples(st.integers(-3, 9), st.lists(st.integers(-9, 9), max_size=5))))
def test_a_closure_sees_the_values_of_its_row(call: str, rows: list[tuple[int, list[int]]]) -> None:
    given = ", ".join(f"[{n}, ({', '.join(map(str, s))})]" for n, s in rows)
    text = (
        f"{PROLOG} for $row in ({given}) let $n as xs:integer := $row(1), $s := $row(2)"
        f" let $f := function($a, $b) {{ $a + $b * $n }} return string-join(({call}), ' ')"
    )
    assert ours(text, "") == theirs(text, "")


def test_rows_whose_closures_are_converted_are_called_together() -> None:
    text = (
        "declare function local:twice($f as function(xs:double) as xs:double, $x) { $f($f($x)) };"
        "for $n in 1 to 3 return local:twice(function($x) { $x * $n }, 10)"
    )
    assert ask(text) == ["10", "40", "90"]
