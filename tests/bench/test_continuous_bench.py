"""The benchmark of queries left running: times are of what is in the sink, answers are compared."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from bench import continuous
from bench.continuous_report import Row, differing, report
from bench.continuous_session import (
    LOCAL,
    OURS,
    STATEFUL,
    STATELESS,
    Case,
    Followed,
    digest,
    latencies,
    measured,
)
from bench.processes import held, tree, used

SMALL = Case(LOCAL, 20, drained=300, most=100, batches=3, seconds=2.0, rate=200)


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    continuous.add_arguments(parser)
    return parser.parse_args(words)


def found(answer: str = "x") -> Followed:
    took = [n / 100 for n in range(100)]
    return Followed(1.0, 2.0, 3, 1.5, answer, took, 40, 10.0, 12.0, 7, 10**9, {"addBatch": 12.0})


def test_an_append_is_late_until_all_of_it_is_in_the_sink():
    said = [(0, 10), (1_000_000_000, 20), (2_000_000_000, 30)]
    reached = [(500_000_000, 15), (3_000_000_000, 30)]
    assert latencies(said, reached) == [0.5, 2.0, 1.0]


def test_answers_are_compared_in_any_order():
    assert digest({"a": ["1", "2"]}) == digest({"a": ["2", "1"]}) != digest({"a": ["1"]})
    assert digest({}) == ""


def test_the_local_runner_is_measured_while_another_process_appends(tmp_path):
    one = measured(SMALL, tmp_path)
    assert one.drain_batches == 3
    assert one.batches >= 3
    assert len(one.latencies) > 0
    assert all(took > 0 for took in one.latencies)
    assert one.answer


def test_the_answer_is_that_of_the_fragments_which_waited(tmp_path):
    answers = set()
    for number, most in enumerate((70, 300)):
        folder = tmp_path / str(number)
        folder.mkdir()
        answers.add(measured(replace(SMALL, most=most, seconds=0.5), folder).answer)
    assert len(answers) == 1


def test_the_report_stands_beside_the_floor():
    rows = [Row(Case(who, 1000), found("" if who in (STATELESS, STATEFUL) else "x"))
            for who in (STATELESS, STATEFUL, OURS, LOCAL)]  # fmt: skip
    text, agree = report(rows, ["until the first change: 4 s"], ["ours: lost"], arguments())
    assert agree
    assert "The answers after the fragments that waited are equal" in text
    assert "| ours " in text
    assert " 40 |" in text
    assert "until the first change" in text
    assert "- ours: lost" in text


def test_answers_that_differ_are_told():
    rows = [Row(Case(OURS, 1000), found("x")), Row(Case(LOCAL, 1000), found("y"))]
    assert differing(rows) == [1000]
    text, agree = report(rows, [], [], arguments())
    assert not agree
    assert "**The answers are not equal** with [1000] accounts." in text


def test_processor_time_is_that_of_all_processes():
    before = used()
    busily = "import time\nwhile time.process_time() < 0.2: pass\ninput()"
    words = [sys.executable, "-c", busily]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as busy:
        while used(busy.pid) < 0.1:
            pass
        assert busy.pid in tree(os.getpid())
        assert held() > held(busy.pid) > 0
        busy.communicate(b"\n")
    assert used() - before >= 0.1


@pytest.mark.spark
def test_on_spark_the_answers_are_those_of_the_local_runner(capfd):
    pytest.importorskip("pyspark")
    few = ["--units", "20", "--drained", "60", "--batches", "1", "--seconds", "1", "--rate", "20"]
    status = continuous.main(arguments(*few, "--who", OURS, LOCAL, "--partitions", "1", "--anew"))
    text = capfd.readouterr().out
    assert status == 0
    assert "The answers after the fragments that waited are equal" in text
