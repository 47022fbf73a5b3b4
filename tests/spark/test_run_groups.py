"""Groups and orders made of what tasks find are those of one process."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.conftest import examples
from tests.spark.test_run_law import _answer, _here
from xstreamcast.circuit.batch.parts import Distributed, OneTask
from xstreamcast.edges.binding import Options
from xstreamcast.spark.running.spark_run import SparkRun

SPREAD = (
    "for $b in //b group by $k := $b/@k return <g k='{$k}'>{count($b)}</g>",
    "for $b in //b group by $k := $b/@k return <g k='{$k}' n='{count($b)}'>{$b/c}</g>",
    "for $b in //b group by $k := number($b/@n) return ($k, sum($b/@n), count($b/c))",
    "for $b in //b group by $k := $b/@k, $n := $b/c[1] return string-join(($k, $n, $b/@n), '|')",
    "for $b in //b group by $k := string-length($b) return (max($b/@n), min($b/c), avg($b/@n))",
    "for $b in //b group by $k := $b/@k order by $k descending empty least return count($b)",
    "for $b in //b group by $k := $b/@k let $s := sum($b/@n) order by $s, $k return <g>{$s}</g>",
    "for $b in //b group by $k := $b/@k where count($b) > 1 order by count($b) return $b/@n",
    "for $b in //b let $n := $b/@n group by $k := $b/c = 'x' return ($k, $n, $b)",
    "for $b in //b, $c in $b/c group by $k := $c return <g>{$k}{count($b/@n)}{count($c)}</g>",
    "for $b in //b group by $k := $b/@k return (distinct-values($b/c), exists($b/c[. = 'x']))",
    "for $b in //b group by $k := $b/@k return sum(for $x in $b return $x/@n * 2)",
    "for $b in //b group by $k := $b/@k return <g>{for $c in $b/c return <h>{$c/text()}</h>}</g>",
    "for $b in //b group by $k := $b/@k return $b[2]",
    "for $b in //b order by $b/@k, number($b/@n) descending return $b",
    "for $b in //b order by number($b/@n) empty greatest, $b/c[1] return ($b/@n, $b/c)",
    "for $b in //b order by $b/@k = 'x' descending return string($b/@n)",
    "for $b in //b group by $k := if ($b/@n = '1') then 1 else 1.5 return count($b)",
    "for $b in //b group by $k := if ($b/@n = '1') then 1e0 else 1 return ($k, count($b))",
    "for $b in //b order by if ($b/@n = '1') then 1 else 0.5 return $b/@n",
    "for $b in //b order by if ($b/@n = '1') then 1e0 else 0.5 return $b/@n",
    "for $b in //b group by $k := xs:date('2003-01-01') + xs:dayTimeDuration('P1D') * count($b/c) "
    "return ($k, count($b))",
    "for $b in //b group by $k := $b/@k return count($b/c | $b)",
    "for $b in //b group by $k := $b/@k return ($b/c[1] | $b, count($b except $b[c]))",
    "(for $b in //b order by number($b/@n) descending, $b/c[1] return $b/c)[position() <= 3]",
    "subsequence(for $b in //b order by $b/@k return <g>{$b/@n}</g>, 2, 3)",
    "<r>{for $b in //b order by $b/@k return $b/c}</r>",
    "<r>{//c, sum(//b[@n != 'NaN']/@n), (//b)[last()], count(distinct-values(//b/@k))}</r>",
    "(//b)[2]/c, /a/b[position() < 3]/@n/string(), head(//b/@k)",
    "for $n at $i in //b/string(@n) return <g>{$i, $n}</g>",
    "for $k in distinct-values(//b/@k) order by $k descending return $k",
    "string-join(for $b in //b return concat($b/@n, ';', $b/@k), ',')",
    "let $s := sort(//b/@n) return $s[(count($s) + 1) idiv 2]",
    "max(for $b in //b group by $k := $b/@k return count($b))",
    "count(for $b in //b group by $k := $b/@k, $n := $b/@n return 1)",
    "(for $b in //b group by $k := $b/@k order by count($b) descending, $k return <g>{$k}</g>)[1]",
    "<r>{for $b in //b group by $k := $b/@k order by $k return <g k='{$k}'>{sum($b/@n)}</g>}</r>",
    "for $c in (for $b in //b group by $k := $b/@k return count($b)) order by $c return $c",
    "for tumbling window $w in //b/@n start when true() end at $e when $e mod 3 = 0 "
    "return string-join($w, '-')",
)
WHOLE = (
    "for $b in //b group by $k := $b/@k return count($b/c | $b/..)",
    "for $b in //b group by $k := $b/@k return (for $x in $b order by $x/@n return $x/c)",
    "let $all := //b for $b in $all group by $k := $b/@k return $b[last()]/@n",
)
FAILING = (
    "for $b in //b group by $k := ($b/@k, $b/@n) return count($b)",
    "for $b in //b order by ($b/@k, $b/@n) return $b",
    "for $b in //b group by $k := $b/@k return if (count($b) > 2) then sum($b/c) else 0",
    "for $b in //b order by (if ($b/@n = '1') then 1 else 'x') return $b/@n",
)
WORDS = st.sampled_from(["", "x", "y", "é", "10", "9"])
NUMBERS = st.sampled_from(["", " n='1'", " n='2'", " n='10'", " n='NaN'", " n='1.0'"])


@st.composite
def _units(draw: st.DrawFn) -> str:
    key = draw(st.none() | WORDS)
    inner = "".join(f"<c>{one}</c>" for one in draw(st.lists(WORDS, max_size=3)))
    named = "" if key is None else f" k='{key}'"
    return f"<b{named}{draw(NUMBERS)}>{inner}</b>"


def _document(units: list[str], deep: bool) -> str:
    middle = len(units) // 2
    halves = ("".join(units[:middle]), "".join(units[middle:]))
    return f"<a><d>{'</d><d>'.join(halves)}</d></a>" if deep else f"<a>{''.join(halves)}</a>"


DOCUMENTS = st.builds(_document, st.lists(_units(), max_size=10), st.booleans())


def _run(path: Path, text: str, tasks: int) -> SparkRun:
    return SparkRun(None, xsc.query(text).telling(""), path, {}, Options(), tasks=tasks, smallest=1)


@settings(
    max_examples=examples(150, 5000), deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
@given(st.sampled_from(SPREAD + WHOLE + FAILING), DOCUMENTS, st.integers(1, 7))
def test_they_are_those_of_one_process(text: str, document: str, tasks: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "d.xml"
        path.write_text(document)
        run = _run(path, text, tasks)
        assert _answer(lambda: _here(run)) == _answer(lambda: xsc.query(text).run(path).lines())


@pytest.mark.parametrize("text", SPREAD)
def test_these_are_spread(tmp_path: Path, text: str) -> None:
    path = tmp_path / "d.xml"
    path.write_text("<a><b/></a>")
    assert isinstance(_run(path, text, 2).plan, Distributed)


@pytest.mark.parametrize("text", WHOLE)
def test_these_are_not_and_say_why(tmp_path: Path, text: str) -> None:
    path = tmp_path / "d.xml"
    path.write_text("<a><b/></a>")
    plan = _run(path, text, 2).plan
    assert isinstance(plan, OneTask)
    assert plan.reasons


GROUPED = "for $b in //b group by $k := $b/@k order by $k return <g k='{$k}'>{sum($b/@n)}</g>"
ORDERED = "for $b in //b order by number($b/@n) descending, $b/@k return $b"
MIXED = "for $b in //b order by if ($b/@n = 7) then 1e0 else 0.5 return $b/@n"


@pytest.mark.parametrize("large", [0, 1 << 30], ids=["spark", "driver"])
@pytest.mark.parametrize("text", [GROUPED, ORDERED, MIXED])
def test_spark_sorts_and_brings_groups_together(
    spark: Any, tmp_path: Path, text: str, large: int
) -> None:
    path = tmp_path / "d.xml"
    units = "".join(f"<b k='{n % 7}' n='{n * 37 % 100}'/>" for n in range(300))
    path.write_text(f"<a>{units}</a>")
    query = xsc.query(text)

    def run() -> SparkRun:
        return SparkRun(
            spark, query.telling(""), path, {}, Options(), tasks=3, smallest=1, large=large
        )

    expected = list(query.run(path).lines())
    assert run().collected()["item"].to_pylist() == expected
    frame = run().frame()
    assert [row.item for row in frame.collect()] == expected
    assert [row.item for row in frame.orderBy("place", "ordinal").collect()] == expected
    told = run().explained()
    assert ("Exchange rangepartitioning" in told) == (large == 0)
    assert ("Spark sorts" in told, "the driver sorts" in told) == (large == 0, large != 0)
    assert ("by their keys, in 3 buckets" in told) == (text == GROUPED)
