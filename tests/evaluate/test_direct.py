"""Declared functions as Python functions: the same answers, errors and places as by columns."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from tests.evaluate.typed_programs import programs
from xstreamcast import QueryLimits, query
from xstreamcast.errors import Error
from xstreamcast.evaluate import context
from xstreamcast.evaluate.direct import entry
from xstreamcast.evaluate.direct.compiling import CompiledFunctions

NEVER = 1 << 60
WAYS = {"direct": (True, 0), "rows": (True, NEVER), "columns": (False, NEVER)}


def answer(text: str, way: str, **limits: float) -> tuple[str, ...]:
    """The lines of the answer; or the code, the message and the place of its error."""
    single, calls = WAYS[way]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context, "SINGLE_ROWS", single)
        patch.setattr(entry, "CALLS", calls)
        try:
            return tuple(query(text).run(limits=QueryLimits(**limits)).lines())  # type: ignore[arg-type]
        except Error as caught:
            return caught.code, caught.message, str(caught.place)


def answers(text: str, **limits: float) -> list[tuple[str, ...]]:
    """By Python functions, by rules for one row, and by columns alone."""
    return [answer(text, way, **limits) for way in WAYS]


def texts() -> list[CompiledFunctions | None]:
    """What was written for the program that ran last."""
    return list(next(reversed(entry._texts.values()))._known.values())


@given(programs())
def test_programs_agree_in_three_ways(text: str) -> None:
    direct, rows, columns = answers(text)
    assert direct == rows
    assert direct == columns


@given(programs())
def test_programs_agree_with_saxon(text: str) -> None:
    pytest.importorskip("saxonche", reason="SaxonC-HE is not installed")
    from tests.evaluate.oracle import ours, theirs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry, "CALLS", 0)
        mine = ours(text, "")
    other = theirs(text, "")
    # It may leave out what nothing needs, errors included; so may we.
    if not (mine and mine[0].startswith("!")) and not (other and other[0].startswith("!")):
        assert mine == other


FUNCTIONS = {
    "integers": "declare function local:f($n as xs:integer) as xs:integer "
    "{ if ($n < 2) then $n else local:f($n - 1) + local:f($n - 2) }; local:f(12)",
    "nothing declared": "declare function local:f($n) "
    "{ if ($n < 2) then $n else local:f($n - 1) + local:f($n - 2) }; local:f(12)",
    "strings": "declare function local:f($s as xs:string) as xs:string { if ($s = '') then '' else "
    "concat(local:f(substring($s, 2)), substring($s, 1, 1)) }; local:f('a\"b\\n{0}')",
    "doubles": "declare function local:f($n as xs:integer, $x as xs:double) as xs:double "
    "{ if ($n = 0) then $x else local:f($n - 1, $x * 1.5e0 + $n) }; local:f(9, 1)",
    "sequences": "declare function local:f($s as xs:integer*) as xs:integer* { if (empty($s)) then "
    "() else (local:f(tail($s)[. lt $s[1]]), head($s), local:f(tail($s)[. ge $s[1]])) };"
    "local:f((5, 3, 9, 1, 1, 7))",
    "variables": "declare variable $t as xs:integer+ := (3, 1, 2); declare function local:f("
    "$n as xs:integer) as xs:integer { if ($n = 0) then $t[2] else $t[$n] + local:f($n - 1) };"
    "local:f(3)",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_become_python(name: str) -> None:
    text = FUNCTIONS[name]
    direct, rows, columns = answers(text)
    assert direct == rows == columns
    assert answer(text, "direct") == direct
    assert [one is not None for one in texts()] == [True] * len(texts())
    assert texts()


NOT_PYTHON = {
    "nodes": "declare function local:f($n as node()*) as xs:integer { count($n) }; local:f(<a/>)",
    "decimals": "declare function local:f($n as xs:integer) { $n div 3 }; local:f(2)",
    "dates": "declare function local:f($d) { $d + xs:dayTimeDuration('P1D') };"
    "local:f(xs:date('2024-02-28'))",
    "two types": "declare function local:f($n as xs:integer) { if ($n > 0) then 'a' else 1 };"
    "local:f(0), local:f(1)",
}


def _nested(loops: int) -> str:
    text = "$n"
    for number in range(loops):
        text = f"(for $x{number} in (1, $n) return {text})"
    return text


@pytest.mark.parametrize(
    "body",
    [
        "(1 + " * 250 + "$n" + ")" * 250,
        "sum(" + _nested(12) + ")",
        "abs(-" * 120 + "$n" + ")" * 120,
    ],
)
def test_deep_expressions_are_left_to_columns(body: str) -> None:
    text = f"declare function local:f($n as xs:integer) as xs:integer {{ {body} }}; local:f(2)"
    direct, rows, columns = answers(text)
    assert direct == rows == columns


@pytest.mark.parametrize("name", NOT_PYTHON)
def test_other_values_are_left_to_columns(name: str) -> None:
    direct, rows, columns = answers(NOT_PYTHON[name])
    assert direct == rows == columns


UNFIT = {
    "division": ("$n idiv ($n - 1)", "local:f(1)", "FOAR0001"),
    "several items": ("(1 to $n)[. > 0] + 1", "local:f(3)", "XPTY0004"),
    "a derived type": ("$n + 1", "local:f(xs:int(3)) instance of xs:integer", None),
    "untyped": ("$n + 1", "local:f(xs:untypedAtomic('3'))", None),
    "a wide number": ("$n * $n * $n", "local:f(" + "9" * 60 + ")", None),
    "a string that is none": ("xs:integer('1_0') + $n", "local:f(3)", "FORG0001"),
    "a long range": ("count(1 to $n)", "local:f(200000)", None),
    "a character": ("string-length(codepoints-to-string($n))", "local:f(0)", "FOCH0001"),
    "a variable that fails": ("$bad + $n", "local:f(3)", "FOAR0001"),
    "later items": ("if (every $i in (2, 1, 0) satisfies $n idiv $i > 9) then 1 else 0",
                    "local:f(3)", "FOAR0001"),
    "caught": ("try { $n idiv 0 } catch * { -1 }", "local:f(3)", None),
}  # fmt: skip


@pytest.mark.parametrize("name", UNFIT)
def test_what_does_not_fit_is_evaluated_again(name: str) -> None:
    body, call, code = UNFIT[name]
    text = (
        "declare variable $bad as xs:integer := 1 idiv 0;\n"
        f"declare function local:f($n as xs:integer) as xs:integer {{\n  {body}\n}};\n{call}, 1"
    )
    direct, rows, columns = answers(text)
    assert direct == rows == columns
    assert (direct[0] if re.fullmatch("[A-Z]{4}[0-9]{4}", direct[0]) else None) == code


DEEP = "declare function local:f($n as xs:integer) as xs:integer { 1 + local:f($n + 1) };"
DEEP += " local:f(1)"


@pytest.mark.parametrize("most", [1, 10, 500, 12_000])
def test_the_limit_of_recursion_is_the_same(most: int) -> None:
    direct, rows, columns = answers(DEEP, max_recursion=most)
    assert direct == rows == columns
    assert direct[0] == "XSCD0001"
    counted = DEEP.replace("1 + local:f($n + 1)", "if ($n = 0) then 0 else 1 + local:f($n - 1)")
    for last, fails in ((most - 1, False), (most, True)):
        found = answers(counted.replace("local:f(1)", f"local:f({last})"), max_recursion=most)
        assert found[0] == found[1] == found[2]
        assert (found[0][0] == "XSCD0001") is fails


def test_time_is_bounded() -> None:
    endless = (
        "declare function local:f($n as xs:integer) as xs:integer "
        "{ if ($n = 0) then 0 else local:f($n - 1) + local:f($n - 1) }; local:f(60)"
    )
    code, message, _ = answer(endless, "direct", query_timeout=0.3)
    assert code == "XSCD0003"
    assert "stopped after 0.3 seconds" in message


def test_no_text_of_a_query_is_python_text() -> None:
    text = FUNCTIONS["strings"]
    answer(text, "direct")
    for one in texts():
        assert one is not None
        assert re.fullmatch(r"[\w\s(){}\[\]:=<>+*/%!.,'\"-]*", one.text)
        assert "'" not in one.text
        assert not re.search(r'"[^"]+"', one.text)
