"""XCQL and forseq: what is read as a time, and what stays XQuery."""

from __future__ import annotations

import pytest

from xstreamcast.errors import Error
from xstreamcast.syntax import parse, print_expression, print_module
from xstreamcast.syntax import tree as t


def body(query: str) -> t.Expr:
    return parse(query).body


def child(name: str) -> t.AxisStep:
    return t.AxisStep("child", t.NameTest(t.Name(name)))


def var(name: str) -> t.VarRef:
    return t.VarRef(t.Name(name))


NOW, LAST = t.TimeConstant("now"), t.TimeConstant("last")
HOUR = t.TimeLiteral("dayTimeDuration", "PT1H")
DAY = t.TimeLiteral("date", "2003-11-01")


def test_a_projection_takes_the_whole_path_before_it() -> None:
    projected = t.IntervalProjectionExpr(t.PathExpr(False, (var("a"), child("x"))), NOW)
    assert body("$a/x?[now]") == projected
    assert body("($a/x)?[now]") == projected


def test_a_path_goes_on_after_a_projection() -> None:
    projected = t.IntervalProjectionExpr(t.PathExpr(False, (var("a"), child("x"))), NOW)
    assert body("$a/x?[now]/y") == t.PathExpr(False, (projected, child("y")))
    filtered = t.FilterExpr(projected, (child("p"),))
    assert body("$a/x?[now][p]/y") == t.PathExpr(False, (filtered, child("y")))


def test_a_projection_inside_a_step_needs_parentheses() -> None:
    inner = t.IntervalProjectionExpr(child("x"), NOW)
    assert body("$a/(x?[now])") == t.PathExpr(False, (var("a"), inner))
    assert print_expression(body("$a/(x?[now])")) == "$a/(x?[now])"


def test_projections_follow_each_other() -> None:
    first = t.IntervalProjectionExpr(var("a"), t.TimeConstant("start"), NOW)
    assert body("$a?[start, now]#[last]") == t.VersionProjectionExpr(first, LAST)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("$a?[now - PT1H]", t.ArithmeticExpr("-", NOW, HOUR)),
        ("$a?[now-PT1H]", t.ArithmeticExpr("-", NOW, HOUR)),
        ("$a?[last-1]", t.ArithmeticExpr("-", LAST, t.IntegerLiteral(1))),
        ("$a?[2003-11-01]", DAY),
        ("$a?[a/now]", t.PathExpr(False, (child("a"), child("now")))),
        ("$a?[b[now]]", t.AxisStep("child", t.NameTest(t.Name("b")), (child("now"),))),
        ("$a?[child::now]", child("now")),
        ("$a?[f(now)]", t.FunctionCall(t.Name("f"), (NOW,))),
        ("$a?[last()]", t.FunctionCall(t.Name("last"))),
        ("$a?[now-and-then]", child("now-and-then")),
        ("$a?[P1Y]", t.TimeLiteral("yearMonthDuration", "P1Y")),
        ("$a?[P1YT0.5S]", t.TimeLiteral("duration", "P1YT0.5S")),
    ],
)
def test_times_stand_bare_in_the_brackets(query: str, expected: t.Expr) -> None:
    found = body(query)
    assert isinstance(found, t.IntervalProjectionExpr)
    assert found.begin == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("now - PT1H", t.ArithmeticExpr("-", NOW, HOUR)),
        ("now-PT1H", t.ArithmeticExpr("-", NOW, HOUR)),
        ("$x + PT1H", t.ArithmeticExpr("+", var("x"), HOUR)),
        (
            "$x + PT1H * 2",
            t.ArithmeticExpr("+", var("x"), t.ArithmeticExpr("*", HOUR, t.IntegerLiteral(2))),
        ),
        ("2003-11-01 + PT1H", t.ArithmeticExpr("+", DAY, HOUR)),
        ("2003-11-01T10:00:00Z", t.TimeLiteral("dateTime", "2003-11-01T10:00:00Z")),
        (
            "vtTo($x) = now",
            t.ComparisonExpr("=", t.FunctionCall(t.Name("vtTo"), (var("x"),)), NOW),
        ),
        (
            "now ge vtTo($x)",
            t.ComparisonExpr("ge", NOW, t.FunctionCall(t.Name("vtTo"), (var("x"),))),
        ),
        (
            "@vtFrom < 2003-11-01",
            t.ComparisonExpr("<", t.AxisStep("attribute", t.NameTest(t.Name("vtFrom"))), DAY),
        ),
    ],
)
def test_times_stand_bare_beside_times(query: str, expected: t.Expr) -> None:
    assert body(query) == expected


@pytest.mark.parametrize("query", ["now", "start", "last", "P1D", "PT1H", "now-a", "child::PT1H"])
def test_elsewhere_the_words_are_names(query: str) -> None:
    assert body(query) == child(query.removeprefix("child::"))


def test_elsewhere_a_date_is_a_subtraction() -> None:
    year, month, day = (t.IntegerLiteral(n) for n in (2003, 11, 1))
    assert body("2003-11-01") == t.ArithmeticExpr("-", t.ArithmeticExpr("-", year, month), day)
    assert body("start - 1") == t.ArithmeticExpr("-", child("start"), t.IntegerLiteral(1))


@pytest.mark.parametrize(
    "word",
    ["before", "after", "meets", "overlaps", "during", "contains", "starts", "finishes", "equals"],
)
def test_interval_comparison_binds_like_any_comparison(word: str) -> None:
    found = body(f"$a {word} $b and {word}({word})")
    compared = t.IntervalComparison(word, var("a"), var("b"))  # type: ignore[arg-type]
    assert found == t.AndExpr((compared, t.FunctionCall(t.Name(word), (child(word),))))


def test_an_interval_may_be_written_out() -> None:
    found = body("$a during [2003-11-01, now]")
    assert found == t.IntervalComparison("during", var("a"), t.IntervalExpr(DAY, NOW))
    assert body("[2003-11-01] before $a") == t.IntervalComparison(
        "before", t.IntervalExpr(DAY), var("a")
    )


def test_brackets_without_comparison_are_an_array() -> None:
    assert body("[1, 2]") == t.SquareArray((t.IntegerLiteral(1), t.IntegerLiteral(2)))


def test_forseq_and_the_window_clause_share_a_node() -> None:
    forseq = body("forseq $w in $s tumbling window start when 1 force end when 2 return $w")
    window = body("for tumbling window $w in $s start when 1 only end when 2 return $w")
    assert isinstance(forseq, t.Flwor)
    assert isinstance(window, t.Flwor)
    (mine,), (theirs,) = forseq.clauses, window.clauses
    assert isinstance(mine, t.WindowClause)
    assert isinstance(theirs, t.WindowClause)
    assert (mine.order, theirs.order) == ("last", "first")
    assert (mine.start, mine.end) == (theirs.start, theirs.end)


def test_newstart_is_a_word_only_where_a_window_ends() -> None:
    found = parse("forseq $w in $s sliding window start when 1 end when newstart return newstart")
    assert isinstance(found.body, t.Flwor)
    (window,) = found.body.clauses
    assert isinstance(window, t.WindowClause)
    assert window.end is not None
    assert window.end.when == t.NewStart()
    assert found.body.result == child("newstart")


def test_two_stars_mark_an_infinite_sequence_in_declarations_only() -> None:
    (declared,) = parse("declare variable $s as (temp)** external; 1").prolog
    assert isinstance(declared, t.VariableDecl)
    assert declared.type == t.TypeExpr(t.NamedType(t.Name("temp")), "**")
    product = body("1 treat as xs:int**2")
    assert isinstance(product, t.ArithmeticExpr)


def test_a_block_assigns_in_order() -> None:
    module = parse("declare execution sequential; { set $m := 1; $m }")
    assert module.body == t.BlockExpr((t.Assign(t.Name("m"), t.IntegerLiteral(1)),), var("m"))
    with pytest.raises(Error) as told:
        parse("{ set $m := 1; $m }")
    assert told.value.hint == "a block needs 'declare execution sequential;' in the prolog"


@pytest.mark.parametrize("depth", [10, 200])
def test_deep_nesting_parses_and_prints(depth: int) -> None:
    module = parse("<a>{(" * 5 + "-f(" * depth + "1" + ")" * depth + ")}</a>" * 5)
    assert len(print_module(module)) > depth
