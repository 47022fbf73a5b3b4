"""What tasks find, put together, is the answer of the whole: generated streams and documents.

Tasks are called here, in this process, with the numbers that Spark would hand to them.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.conftest import examples
from tests.streams_strategies import Case, cases, cases_around
from xstreamcast.circuit.batch.parts import Distributed
from xstreamcast.edges.batch.task import rows
from xstreamcast.edges.binding import Options
from xstreamcast.errors import Error
from xstreamcast.spark.running.spark_run import SparkRun

pa = pytest.importorskip("pyarrow")
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
MINUTES = st.integers(0, 9).map(lambda minute: f"2020-01-01T00:0{minute}:00")

DOCUMENT = """<?xml version="1.0"?><!-- <a><b> --><!DOCTYPE a [<!ENTITY e "<b n='0'>x</b>">
<!-- ' --><?p > ?>]>
<a x='1>"' xmlns:k="urn:k"><c y="2"><b n="1">1</b>]]&gt;<!-- </c><b> --><b n="2"><![CDATA[</b>]]>
<d>2</d></b>&e;</c><?p <b> ?><c><d><b n="3"/></d><k:b n="4"/><c><b n="5">5<b n="6"/></b></c>
</c><b n="7"><d/></b><e><e><e><e><e><b n="8">8</b><b n="9"/></e></e></e></e></e></a>"""
DOCUMENTS = (
    "//b/@n", "//b[d]", "count(//b)", "//c/b", "sum(//b/@n)", "//e//b", "//b[. = ../b[1]]",
    "for $b in //b order by $b descending return $b/@n", "<r>{//d}</r>", "//*[b = '1']/@y",
    "every $b in //b satisfies $b/@n > 0", "/a/c/d/b", "//b/ancestor::c", "count(//b/..)",
    "count(//b[@n > 2]/ancestor::e)", "count(//b/ancestor::*)",
    "exists(//b[. = '8']/ancestor::e)", "count(//b[@n = 8]/ancestor::*//b)", "count(//d/..//b)",
    "count(//b[@n = 3]/ancestor::c//b)", "count(//b[@n = 9]/..)",
    "distinct-values(//b/name())", "avg(//b/@n)", "max(//b/@n), min(//b/@n)",
    "for $b in //b group by $d := exists($b/d) return count($b)", "(//b)[3]", "//b[2]",
    "sum(//b/xs:integer(@n)), avg(//b/xs:integer(@n))", "sum(//b/xs:decimal(@n)) div 7",
    "avg(//b/(if (@n > 6) then xs:decimal(@n) else xs:integer(@n)))",
    "sum(//b[@n = 3]/xs:byte(@n))", "//b/@n ! xs:date('2020-01-01')",
    "sum(//b/(if (@n > 7) then xs:double(@n) else xs:integer(@n)))", "sum(//x), avg(//x)",
    "sum(//b/(xs:integer(@n) * 9007199254740993))", "sum(//b/xs:dayTimeDuration('PT1M'))",
    "sum(//b/(if (@n > 7) then 'x' else 1))", "string-join(//b/@n, '-')",
)  # fmt: skip


def _here(run: SparkRun) -> list[str]:
    """The answer with all tasks done here, the last one first."""
    work = run.work()
    found: list[Any] = []
    for place in reversed(range(work.count or work.tasks)):
        found += work.task([pa.record_batch([pa.array([place])], ["id"])])
    if work.then is not None and found:
        told = pa.Table.from_batches(found)
        buckets = [told.filter(pa.compute.equal(told["ordinal"], n)) for n in range(work.buckets)]
        found = [batch for one in buckets for batch in work.then(one.to_batches())]
    everything = pa.Table.from_batches(found or [rows(0, 0).slice(0, 0)])
    if run.asked_again(everything):
        return _here(run)
    return list(run.answered(everything)["item"].to_pylist())


def _answer(run: Any) -> list[str] | str:
    try:
        return list(run())
    except Error as refused:
        return refused.code


@settings(max_examples=examples(25, 1500), suppress_health_check=SLOW)
@given(
    cases(plain=True),
    st.none() | MINUTES,
    st.sampled_from(["auto", "caq", "qac"]),
    st.integers(1, 4),
)  # plain: units come from a table, which refuses what says more
def test_units_of_a_stream_spread_over_tasks(
    case: Case, as_of: str | None, strategy: str, tasks: int
) -> None:
    for text in case.queries:
        query = xsc.query(text)
        run = SparkRun(
            None, query.telling(""), None, {"s": case.wire}, Options(as_of, strategy=strategy),
            tasks=tasks,
        )  # fmt: skip
        local = _answer(lambda q=query: q.run(s=case.wire, as_of=as_of, strategy=strategy).lines())
        found = _answer(lambda r=run: _here(r))
        run.sources.close()
        assert found == local, text


@settings(max_examples=examples(40, 2000), suppress_health_check=SLOW)
@given(cases_around(), st.none() | MINUTES, st.sampled_from(["auto", "qac"]), st.integers(1, 4))
def test_what_stands_around_units_counts_once(
    case: Case, as_of: str | None, strategy: str, tasks: int
) -> None:
    for text in case.queries:
        query = xsc.query(text)
        run = SparkRun(
            None, query.telling(""), None, {"s": case.wire}, Options(as_of, strategy=strategy),
            tasks=tasks,
        )  # fmt: skip
        whole = _answer(lambda q=query: q.run(s=case.wire, as_of=as_of, strategy="caq").lines())
        found = _answer(lambda r=run: _here(r))
        run.sources.close()
        assert found == whole, text


@pytest.mark.parametrize("step", [1, 17, 64, 200])
@pytest.mark.parametrize("text", DOCUMENTS)
def test_ranges_of_a_document_spread_over_tasks(tmp_path: Path, text: str, step: int) -> None:
    path = tmp_path / "d.xml"
    path.write_text(DOCUMENT)
    query = xsc.query(text)
    run = SparkRun(None, query.telling(""), path, {}, Options(), tasks=1, smallest=step)
    run.tasks = len(DOCUMENT) // step
    assert _answer(lambda: _here(run)) == _answer(lambda: query.run(path).lines())


SEVERAL = (
    "<a></a><b/>",
    "<b/><a><b/></a>",
    "<a/><a><b/></a><a><b/><b/></a>",
    "<?xml version='1.0'?><a><b/><b/></a><!-- <a> -->\n<?xml version='1.0'?><a><b/></a><?p?>",
    "<a><b/><b/><b/></a><a/>",
)
OF_SEVERAL = ("//b", "count(//b)", "count(/*)", "/a[last()]/b", "/a[2]/b", "count(//b/..)")


@pytest.mark.parametrize("document", SEVERAL)
@pytest.mark.parametrize("text", OF_SEVERAL)
def test_documents_one_after_another_are_as_locally(
    tmp_path: Path, text: str, document: str
) -> None:
    path = tmp_path / "d.xml"
    path.write_text(document)
    query = xsc.query(text)
    run = SparkRun(None, query.telling(""), path, {}, Options(), tasks=9, smallest=1)
    assert _here(run) == list(query.run(path).lines())


def test_most_of_these_are_spread(tmp_path: Path) -> None:
    path = tmp_path / "d.xml"
    path.write_text(DOCUMENT)
    plans = [SparkRun(None, xsc.query(t).telling(""), path, {}, Options(), tasks=1).plan
             for t in DOCUMENTS]  # fmt: skip
    assert sum(isinstance(one, Distributed) for one in plans) > len(plans) // 2


@pytest.mark.parametrize(
    "broken",
    [
        "<a><b></a>",
        "<a><b/>",
        "",
        "<a></a><b>",
        "<a></a>x",
        "<a b='></a>",
        "<aaaaaaaaaaaaaaa><b/><b/><b/></c>",
    ],
)
def test_a_broken_document_is_refused_as_locally(broken: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "d.xml"
        path.write_text(broken)
        query = xsc.query("//b")
        run = SparkRun(None, query.telling(""), path, {}, Options(), tasks=3, smallest=1)
        with pytest.raises(Error) as local:
            list(query.run(path).lines())
        with pytest.raises(Error) as told:
            _here(run)
        assert str(told.value) == str(local.value)
