"""The benchmark of growth: only right answers are measured, and what takes too long is said."""

from __future__ import annotations

import argparse
from dataclasses import replace

import pytest

from bench.growth import command
from bench.growth.catalogue import ENTRIES, named
from bench.growth.check import check
from bench.growth.entry import Entry
from bench.growth.measure import Peer, from_json, measure, to_json
from bench.growth.processes import found


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_answers_are_right_and_every_change_counts(entry: Entry):
    pytest.importorskip("saxonche")
    assert check(entry, 40).differences == ()


def test_names_are_given_once():
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES)


def test_a_line_of_measurements_is_read_back():
    one = measure(named("xmark 05"), 60, rounds=3, budget=60)
    assert one.new.changes == 2
    assert one.new.ms > 0
    assert from_json(to_json(one)) == one


def test_sizes_are_measured_in_a_process_and_stand_in_the_table(tmp_path, capsys):
    kept = tmp_path / "growth.md"
    words = ["--sizes", "60", "120", "--rounds", "2", "--unchecked", "--peers", "--queries"]
    assert command.main(arguments(*words, "xmark 05", "--output", str(kept))) == 0
    text = kept.read_text()
    assert "| xmark 05: count of sales of at least 40 |" in text
    assert "1 of 1" in text or "0 of 1" in text
    assert "SaxonC-HE / ours" in text
    assert "failed" not in text


def test_a_query_that_takes_too_long_is_ended_and_said(tmp_path):
    kept = tmp_path / "growth.md"
    words = ["--sizes", "60", "500000", "--limit", "1", "--unchecked", "--output", str(kept)]
    assert command.main(arguments(*words, "--queries", "forseq each")) == 0
    assert "> 1 s" in kept.read_text()


def test_no_figure_for_a_wrong_answer(tmp_path, capsys):
    """A query that asks another thing than its plain form does is told, and not measured."""
    entry = replace(named("xmark 05"), plain="0")
    assert "SaxonC-HE" in check(entry, 40).differences[0]


def test_short_times_are_not_rounded_to_ticks_of_the_scheduler():
    """A limit on processor time inside the process once made these zero."""
    pytest.importorskip("saxonche")
    for who in ("ours", "theirs"):
        results, ended = found([who, "xmark 05", "9", "60", "8", "60"], 60, 8)
        assert ended == ""
        assert [one.n for one in results] == [60]
    assert isinstance(results[0], Peer)
    assert 0 < results[0].ms < 4


def test_a_process_that_fails_is_said_to():
    results, ended = found(["ours", "no such query", "1", "60", "8", "60"], 60, 8)
    assert (results, ended) == ([], "failed")
