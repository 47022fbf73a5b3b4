"""The benchmark on Spark: everybody's answers are compared by value, and nothing is made up."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

import pytest

import bench
from bench import fragments, rumble, spark
from bench.kept import Kept
from bench.rumble import Rumbled
from bench.spark_answers import digest, over_file, over_stream, twelve, values
from bench.spark_report import Found, differing, report
from bench.spark_session import DOCUMENT, OURS, SPARK, TABLE, Timed
from bench.talking import Broken, said
from xstreamcast.api import query

FACTOR = 0.01


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XSC_BENCH_DATA", str(tmp_path))


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    spark.add_arguments(parser)
    return parser.parse_args(["--factor", str(FACTOR), *words])


def timed(answer: str = "1 x", took: float = 2.0) -> Timed:
    return Timed([took], [took / 2], answer, "4 tasks")


def test_twelve_queries_are_asked_of_documents_of_files_and_of_streams():
    names = [one.name for one in twelve()]
    assert names == [*(f"p{n}" for n in range(1, 10)), "q01", "q02", "q05"]
    for one in twelve():
        assert over_stream(one).count(f'stream("{one.kind}")/') == 1
        assert over_file(one, "a.xml").count('doc("a.xml")/') == 1


def test_a_table_gives_the_answers_of_its_document():
    for one in twelve():
        if one.kind == "bibliography":
            document = query(one.text).run(bench.data(one.kind, FACTOR))
            table = Path(f"table:{fragments.table(one.kind, FACTOR)}")
            streamed = query(over_stream(one)).run(bibliography=table)
            found = values(one.name, list(document.lines()))
            assert found
            assert found == values(one.name, list(streamed.lines()))


def test_values_are_compared_whoever_wrote_them_down():
    plain = "<result><item><quantity>1</quantity><payment>Cash</payment></item></result>"
    indented = (
        "<result>\n <item>\n  <quantity>\n 1\n </quantity><payment> Cash</payment></item></result>"
    )
    assert values("p7", [plain]) == values("p7", [indented]) == ["1|Cash"]
    assert values("p9", ["1970", ": ", "A & B.", "\n", "1971", ": ", "C.", "\n"]) == [
        "1970: A & B.",
        "1971: C.",
    ]
    assert values("p8", ["<title>A &amp; <i>b</i></title>"]) == ["A & b"]
    assert digest(["b", "a"]) == digest(["a", "b"]) != digest(["a", "a", "b"])


def test_the_report_has_seconds_ratios_and_reasons():
    bench.data("auction", FACTOR)
    found = Found()
    for place in (DOCUMENT, TABLE):
        found.timed[f"{place}-p1", OURS, 1] = timed(took=4.0)
        found.timed[f"{place}-p1", OURS, 2] = timed()
        found.timed[f"{place}-p1", SPARK, 2] = timed(took=10.0)
    found.timed["document-p4", OURS, 1] = found.timed["document-p4", OURS, 2] = timed("1 y")
    found.timed["document-p4", SPARK, 2] = Timed(failed="more than 300 s")
    found.rumbled["p1"] = [Rumbled(0.1, [5.0], [6.0], True), Rumbled(1.0, failed="out of memory")]
    text, agree = report(found, arguments())
    assert agree
    assert "| p1 " in text
    assert "2.0 ×" in text
    assert "5.0 ×" in text
    assert "- Spark's own, document, p4: more than 300 s" in text
    assert "- p1, 100 MB: out of memory" in text
    assert "are equal by value" in text


def test_answers_that_differ_are_named():
    bench.data("auction", FACTOR)
    found = Found()
    found.timed["document-p1", OURS, 2] = timed("1 x")
    found.timed["table-p1", OURS, 2] = timed("2 y")
    found.timed["document-p2", OURS, 2] = timed("1 x")
    found.rumbled["p2"] = [Rumbled(0.1, [5.0], [6.0], False)]
    assert differing(found) == ["p1", "p2 (RumbleDB)"]
    text, agree = report(found, arguments("--cores", "2"))
    assert not agree
    assert "**differ: p1, p2 (RumbleDB)**" in text


def test_a_run_that_was_interrupted_goes_on():
    kept = Kept("spark", "so")
    assert kept.known("p1") is None
    assert kept.part("p1", lambda: asdict(timed())) == asdict(timed())
    assert Kept("spark", "so").part("p1", lambda: "not asked again") == asdict(timed())
    assert Kept("spark", "otherwise").known("p1") is None
    kept.forget()
    assert kept.known("p1") is None


def test_a_process_that_says_nothing_is_ended_and_one_that_fails_is_told():
    quiet = ["sh", "-c", "echo '{\"a\": 1}'; exec sleep 60"]
    with pytest.raises(Broken, match=r"more than 0 s"):
        list(said(quiet, 0.3))
    with pytest.raises(Broken, match=r"ended with 3"):
        list(said(["sh", "-c", "echo noise; exit 3"], 10))
    assert list(said(["sh", "-c", "echo noise; echo '{\"a\": 1}'"], 10)) == [{"a": 1}]


def test_what_rumbledb_cannot_do_is_told_for_each_query(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 7\n")
    python.chmod(0o755)
    asked = dict(rumble.asked(python, twelve(), FACTOR, 1, 5, FACTOR))
    assert list(asked) == [one.name for one in twelve()]
    assert asked["p1"].failed == "its process ended with 7"
    assert asked["q05"].failed == f"not asked, after {rumble.LOST} that were too much"


@pytest.mark.spark
def test_ours_and_sparks_own_reader_agree_on_documents_and_tables(capfd):
    pytest.importorskip("pyspark")
    status = spark.main(
        arguments(
            "--rounds", "1", "--cores", "2", "--queries", "q02", "--peers", "--rumble",
            "--memory", "1g",
        )
    )  # fmt: skip
    text = capfd.readouterr().out
    assert status == 0
    assert "are equal by value" in text
    assert "What is missing" not in text
    assert text.count("| q02 ") == 2
