from argparse import ArgumentParser
from pathlib import Path

import pytest

import bench
from bench import history
from bench.fragments import fragments, small
from bench.history_report import Measured, report
from xstreamcast.edges.loading import load
from xstreamcast.history.view import reconstruct
from xstreamcast.tape.reading.read import read
from xstreamcast.tape.store import Store

FACTOR = 0.001


@pytest.fixture
def cut(tmp_path, monkeypatch):
    monkeypatch.setenv("XSC_BENCH_DATA", str(tmp_path))
    return fragments(FACTOR)


def test_an_auction_document_in_fragments_says_what_the_document_says(cut: Path):
    loaded = load("auction", cut, Store())

    assert loaded.refused == []
    assert loaded.history.report().holes == len(loaded.history) - 1
    document = read(bench.data("auction", FACTOR).read_bytes()).serialize()
    assert reconstruct(loaded.history).serialize() == document


def test_the_strategies_give_the_answer_of_the_document(cut: Path):
    measured = list(history.in_memory(cut, rounds=1))

    assert [one.query for one in measured] == list(history.KINDS)
    assert all(one.equal for one in measured)
    assert all(took > 0 for one in measured for took in one.seconds.values())


def test_a_scan_reads_the_fragments_of_the_tags_that_are_needed(cut: Path):
    held = load("auction", cut, Store()).history
    tags = {tag.local: tsid for tsid, tag in held.structure.tags.items() if tag.filler}
    persons = int((held.fragments["tsid"] == tags["person"]).sum())

    assert history.scan(history.asked()["q01"], held)() == persons


def test_from_disk_saxon_answers_alike(cut: Path):
    pytest.importorskip("saxonche")
    arguments = ArgumentParser()
    history.add_arguments(arguments)
    args = arguments.parse_args(["--peers", "--rounds", "1"])

    measured = list(history.from_disk(cut, 1, args))

    assert all(one.equal and set(one.seconds) == {"ours", "SaxonC-HE"} for one in measured)


def test_small_fragments_are_small_and_all_are_taken_in():
    found = history.ingest(500, rounds=1)

    assert found.count == 500
    assert 180 < found.wire_bytes < 240
    assert small(3).count(b"<stream:filler ") == 3


def test_answers_that_differ_are_named():
    names = ("CaQ", "QaC", "QaC+", "scan", "scan of rows")
    one = Measured("q01", "memory", 1000, dict.fromkeys(names, 0.5), equal=False)
    told = report([one], history.ingest(10, rounds=1), patience=5)

    assert "Answers differ: q01 (memory, 1000 bytes)." in told


def test_remarks_written_by_hand_stay_when_the_report_is_written_anew(tmp_path: Path):
    kept = tmp_path / "history.md"
    assert history.remarks(kept) == ""
    kept.write_text("# Title\n\nold\n\n## What bounds these figures\n\nmemory\n")

    assert history.remarks(kept) == "\n## What bounds these figures\n\nmemory\n"
