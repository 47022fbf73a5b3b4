"""Patterns that Python would retry without end: the machine finds what Python finds, in time."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast import query
from xstreamcast.functions.regex import regex
from xstreamcast.functions.regex.guarded import Pattern
from xstreamcast.functions.regex.linear import Machine

ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "^", "$", "(?:a|b)", "(a|ab)", "(b)"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "+?", "{1,3}", "{2}"])).map(
            lambda two: f"(?:{two[0]}){two[1]}"
        )
    ),
    max_leaves=6,
)


@given(PATTERNS, st.text("abc\n", max_size=8), st.sampled_from(["", "m", "s"]))
def test_the_machine_finds_what_python_finds(pattern: str, text: str, flags: str) -> None:
    translated = regex(pattern, flags).compiled.pattern
    expected = [found.span() for found in re.finditer(translated, text)]
    found = [found.span() for found in Machine(translated).finditer(text)]
    # An empty match right behind another counts for Python: what cuts a text never matches "".
    if re.search(translated, "") is None:
        assert found == expected
    elif expected:
        assert found[0] == expected[0]


@given(st.text("ab", max_size=12))
def test_groups_are_those_of_the_last_round(text: str) -> None:
    pattern = "(a|(b))+(a?)"
    expected = re.search(pattern, text)
    found = Machine(pattern).search(text)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert [found.span(g) for g in (0, 1, 3)] == [expected.span(g) for g in (0, 1, 3)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("matches(string-join((1 to 5000) ! 'a') || '!', '^(a+)+$')", "false"),
        ("matches(string-join((1 to 5000) ! 'a') || '!', '^(a|aa)+$')", "false"),
        ("matches(string-join((1 to 3000) ! 'x'), '(.*x)*y')", "false"),
        ("matches(string-join((1 to 3000) ! 'x'), '.*x.*x.*y')", "false"),
        ("string-length(replace(string-join((1 to 2000) ! 'ab') || '!', '(a|b|ab)+', 'x'))", "2"),
        ("count(tokenize(string-join((1 to 500) ! 'aaa,'), '((,)+)+'))", "501"),
    ],
)
def test_no_pattern_runs_without_end(text: str, expected: str) -> None:
    begin = time.process_time()
    assert list(query(text).run().lines()) == [expected]
    assert time.process_time() - begin < 20


def test_short_texts_and_plain_patterns_stay_with_python() -> None:
    assert isinstance(Pattern("(a+)+").search("aaa"), re.Match)
    assert isinstance(Pattern("a+b").search("a" * 5000 + "b"), re.Match)
    assert not isinstance(Pattern("(a+)+").search("a" * 50), re.Match)
