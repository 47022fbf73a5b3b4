"""Queries without a bound end with an error that names the limit and its option."""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import pytest

from xstreamcast import QueryLimits, query
from xstreamcast.cli.main import main
from xstreamcast.errors import Error
from xstreamcast.model.memory import machine_bytes, resident_bytes

ENDLESS = "declare function local:f($x) {{ {} }}; local:f(1)"
SOON = QueryLimits(query_timeout=1.5)


def refused(text: str, limits: QueryLimits | None = None) -> Error:
    with pytest.raises(Error) as caught:
        list(query(text).run(limits=limits).lines())
    return caught.value


@pytest.mark.parametrize(
    "body",
    [
        "local:f($x + 1)",
        "1 + local:f($x)",
        "for-each(1, local:f#1)",
        "sort(1, (), local:f#1)",
        "for $i in (1, 2) order by local:f($i) return $i",
        "some $i in (1, 2) satisfies local:f($i)",
        "for $i in (1, 2) return local:f($i)",
        "(1, 2)[local:f(.)]",
        "function($y) { local:f($y) }($x)",
        "<a>{local:f($x)}</a>",
        "map { 'a': local:f($x) }",
    ],
)
def test_endless_recursion_ends(body: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    caught = refused(ENDLESS.format(body))
    assert caught.code in ("XSCD0001", "XSCD0003")
    assert "--max-" in (caught.hint or "")
    assert time.process_time() - begin < 60
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 3_000_000  # kilobytes


def test_the_depth_is_a_limit_that_can_be_set() -> None:
    counting = "declare function local:f($n) { if ($n = 0) then 0 else 1 + local:f($n - 1) };"
    assert list(query(counting + "local:f(900)").run().lines()) == ["900"]
    caught = refused(counting + "local:f(900)", QueryLimits(max_recursion=500))
    assert caught.message == "functions call each other more than 500 deep"
    assert caught.hint == "--max-recursion sets the limit; in Python, QueryLimits(max_recursion=…)"


@pytest.mark.parametrize(
    "text",
    [
        "declare function local:fib($n) { if ($n lt 2) then $n else local:fib($n - 1) + "
        "local:fib($n - 2) }; local:fib(40)",
        "count(for $a in 1 to 100000, $b in 1 to 100000 where $a * $b = 7 return $a)",
        "fold-left(1 to 100000000, 0, function($a, $b) { $a + $b })",
        "let $f := function($f, $n) { if ($n = 0) then 0 else $f($f, $n - 1) + $f($f, $n - 1) } "
        "return $f($f, 60)",
    ],
)
def test_time_is_a_limit(text: str) -> None:
    begin = time.monotonic()
    caught = refused(text, SOON)
    assert (caught.code, caught.message) == (
        "XSCD0003", "the evaluation was stopped after 1.5 seconds"
    )  # fmt: skip
    assert time.monotonic() - begin < 30


def test_no_query_catches_that_its_time_is_over() -> None:
    both = "local:f($n - 1) + local:f($n - 1)"
    loop = f"declare function local:f($n) {{ if ($n = 0) then 0 else {both} }};"
    caught = refused(loop + "try { local:f(60) } catch * { 'caught' }", SOON)
    assert caught.code == "XSCD0003"


def test_a_query_in_time_is_not_stopped() -> None:
    assert list(query("sum(1 to 1000)").run(limits=SOON).lines()) == ["500500"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fold-left(1 to 60, 'x', function($a, $b) { concat($a, $a) })", "characters"),
        ("fold-left(1 to 60, 'x', function($a, $b) { $a || $a })", "characters"),
        ("fold-left(1 to 60, 'x', function($a, $b) { string-join(($a, $a)) })", "characters"),
        ("fold-left(1 to 60, 3, function($a, $b) { $a * $a })", "digits"),
        ("declare function local:f($a, $n) { if ($n = 0) then $a else local:f($a * $a, $n - 1) }; "
         "string(local:f(3, 60))", "digits"),
    ],
)  # fmt: skip
def test_what_doubles_is_bounded(text: str, said: str) -> None:
    caught = refused(text)
    assert said in caught.message
    assert (caught.hint or "").startswith("--max-")


def test_the_command_line_sets_limits(capsys: pytest.CaptureFixture[str]) -> None:
    from xstreamcast.model.query_limits import set_query_limits

    endless = "declare function local:f($x) { local:f($x) + 1 }; local:f(1)"
    try:
        assert main(["run", "-q", endless, "--max-recursion", "100"]) == 1
        said = capsys.readouterr().err
        assert "functions call each other more than 100 deep" in said
        assert "--max-recursion sets the limit" in said
        loop = "count(for $a in 1 to 100000, $b in 1 to 100000 where $a * $b = 7 return $a)"
        assert main(["run", "-q", loop, "--query-timeout", "500ms"]) == 1
        assert "stopped after 0.5 seconds" in capsys.readouterr().err
    finally:
        set_query_limits(QueryLimits())


def test_limits_must_make_sense() -> None:
    with pytest.raises(Error, match="max_recursion must be from 1 to 100000; got 0"):
        QueryLimits(max_recursion=0)


@pytest.mark.parametrize(
    "text",
    [
        "1 to 1000000000",
        "(1 to 1000000000)[5]",
        "for $x in 1 to 1000000000 return $x",
        "for $n in (60000000, 60000000, 60000000) return count(1 to $n)",
        "-1 to 1000000000000000000000000",
        "18446744073709551616 to 18446744073809551616",
    ],
)
def test_a_range_without_bound_is_refused_at_once(text: str) -> None:
    found = refused(text)
    assert (found.code, found.message[:23]) == ("XPDY0130", "a range has more than 1")
    assert "--max-range" in (found.hint or "")


def test_the_length_of_a_range_can_be_set() -> None:
    counts = query("declare variable $n external; count((1 to $n)[. > 1])")
    assert list(counts.run(n=1000, limits=QueryLimits(max_range=1000))) == [999]
    with pytest.raises(Error, match="more than 999 items"):
        counts.run(n=1000, limits=QueryLimits(max_range=999))


TOO_DEEP = "XSCD0001", "a tree must have at most 32,767 levels; got more"
DEEP = "json-to-xml(string-join((1 to {0}) ! '[') || string-join((1 to {0}) ! ']'))"


@pytest.mark.parametrize("levels", [40_000, 70_000, 100_000])
def test_a_tree_has_no_more_levels_than_its_columns_hold(levels: int) -> None:
    found = refused(DEEP.format(levels))
    assert (found.code, found.message) == TOO_DEEP


def test_trees_that_are_copied_below_others_count_their_levels() -> None:
    """Each has fewer levels than there may be, and both together have more."""
    copied = "fold-left(1 to 100, $one, function($e, $i) { <a>{ $e }</a> })"
    assert list(
        query(f"let $one := {DEEP.format(30_000)} return count(<a>{{$one}}</a>//*)").run()
    ) == [30_000]
    found = refused(f"let $one := {DEEP.format(32_700)} return count({copied})")
    assert (found.code, found.message) == TOO_DEEP


@pytest.mark.parametrize("watched", [False, True])
def test_fragments_inside_of_each_other_count_their_levels(watched: bool) -> None:
    inner = '<tag id="1" name="a" filler="true"><tag ref="1"/></tag>'
    lines = [
        f'<structure><tag id="0" name="r">{inner}</tag></structure>',
        '<filler id="0" tsid="0" validTime="2020-01-01"><r><hole id="1" tsid="1"/></r></filler>',
    ]
    for number in range(1, 45):
        inside = "<x>" * 900 + f'<hole id="{number + 1}" tsid="1"/>' + "</x>" * 900
        head = f'id="{number}" tsid="1" validTime="2020-01-01"'
        lines.append(f"<filler {head}><a>{inside}</a></filler>")
    wire, asked = "".join(lines).encode(), query('count(stream("s")//*)')
    with pytest.raises(Error) as caught:
        list(asked.watch(s=wire) if watched else asked.run(s=wire).lines())
    assert (caught.value.code, caught.value.message) == TOO_DEEP


@pytest.mark.parametrize(
    "text",
    [
        "count(fold-left(1 to 40, (1, 2), function($all, $i) { $all, $all }))",
        "count(for $a in 1 to 100000, $b in 1 to 100000 order by $a * $b return $b)",
        "string-length(string-join(for $a in 1 to 100000000 return string($a)))",
        "array:size(array:join(for $i in 1 to 100000000 return [$i, $i]))",
    ],
)
def test_an_evaluation_that_takes_too_much_memory_is_stopped(text: str) -> None:
    held = resident_bytes()
    assert held is not None
    caught = refused(text, QueryLimits(max_memory=held + (600 << 20), query_timeout=120))
    assert caught.code == "XSCD0003", caught.message
    assert "bytes, more than" in caught.message
    assert caught.hint == "--max-memory sets the limit; in Python, QueryLimits(max_memory=…)"


def test_memory_has_a_limit_by_default() -> None:
    assert 0 < QueryLimits().memory < machine_bytes()


LARGE = """
from xstreamcast import QueryLimits, query
from xstreamcast.errors import Error
limits = QueryLimits(max_memory=1)
print(*query("1 + 1").run(limits=limits).lines())
growing = "count(fold-left(1 to 40, (1, 2), function($all, $i) { $all, $all }))"
try:
    print(*query(growing).run(limits=limits).lines())
except Error as why:
    print(why.code)
"""


def test_a_process_that_is_large_already_may_evaluate() -> None:
    """In a process of its own: memory that another test has freed would count as no growth."""
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "XSCD0003"]
