"""Frames of one row: the same answers, with rules of their own and without, and as SaxonC-HE."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.recursion import programs
from xstreamcast import query
from xstreamcast.errors import Error
from xstreamcast.evaluate import context
from xstreamcast.model.atomic import INTEGER, STRING
from xstreamcast.model.row import FALSE, NOTHING, SingleRow, row_of


def both_ways(text: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """(answer or code, place) with the rules and without."""
    out = []
    for single in (True, False):
        monkeypatch.setattr(context, "SINGLE_ROWS", single)
        try:
            out.append(tuple(query(text).run().lines()))
        except Error as caught:
            out.append((caught.code, caught.message, str(caught.place)))
    return out


@pytest.mark.parametrize("name", sorted(programs()))
def test_programs_agree_both_ways(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    saxon = pytest.importorskip("saxonche", reason="SaxonC-HE is not installed")
    del saxon
    from bench.peers import saxon_program

    text = programs()[name]
    one, other = both_ways(text, monkeypatch)
    assert one == other
    assert " ".join(one) == saxon_program(text)()


VALUES = st.sampled_from(
    ["()", "0", "1", "-7", "3", "9223372036854775807", "1.5", "2e0", "xs:double('NaN')", "'a'",
     "''", "'b'", "true()", "false()", "(1, 2)", "(1 to 40)", "('a', 'b')", "xs:untypedAtomic('3')",
     "<a>3</a>", "xs:date('2024-01-01')", "xs:int(5)", "xs:float(2)", "(1, 'a')"]
)  # fmt: skip
BINARY = st.sampled_from(
    ["+", "-", "*", "div", "idiv", "mod", "=", "!=", "<", ">=", "eq", "ne", "lt", "ge", "and", "or",
     "to", ",", "||"]
)  # fmt: skip
CALLS = st.sampled_from(
    ["count({})", "empty({})", "exists({})", "not({})", "boolean({})", "head({})", "tail({})",
     "abs({})", "sum({})", "string-length({})", "string({})", "concat({}, 'x')", "index-of({}, 1)",
     "subsequence({}, 2)", "subsequence((1, 2, 3), {})", "substring('motor', {})",
     "substring({}, 2, 1)", "({})[1]", "({})[2]", "({})[. = 1]", "({})[position() > 1]",
     "({})[last()]", "if ({}) then 1 else 2", "let $x := {} return ($x, $x)",
     "({}) instance of xs:integer", "({}) treat as xs:integer", "xs:string({})"]
)  # fmt: skip
EXPRESSIONS = st.recursive(
    VALUES,
    lambda inner: (
        st.builds("({} {} {})".format, inner, BINARY, inner)
        | st.builds(lambda call, one: call.format(one), CALLS, inner)
    ),
    max_leaves=5,
)


@given(
    EXPRESSIONS,
    st.sampled_from(["item()*", "xs:integer", "xs:double?", "xs:string*", "xs:integer+"]),
)
def test_expressions_agree_both_ways(text: str, kind: str) -> None:
    whole = f"declare function local:f($x as {kind}) as {kind} {{ $x }}; local:f({text})"
    with pytest.MonkeyPatch.context() as patch:
        one, other = both_ways(whole, patch)
    assert one == other


def test_a_row_is_a_column() -> None:
    row = SingleRow(INTEGER, (1, 2, 3))
    assert (row.n, row.items.values.tolist(), row.bounds().tolist()) == (1, [1, 2, 3], [0, 3])
    assert SingleRow(STRING, ("a",)).offsets is None
    assert NOTHING.lengths().tolist() == [0]
    assert FALSE.items.values.tolist() == [False]
    assert row_of(row) is row
