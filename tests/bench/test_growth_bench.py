"""The benchmark of growth: only right answers are measured, and what takes too long is said."""

from __future__ import annotations

import argparse

import pytest

from bench.growth import command
from bench.growth.catalogue import ENTRIES, named
from bench.growth.check import check
from bench.growth.entry import Entry
from bench.growth.measure import Measured, measure


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
    found = measure(named("xmark 05"), 60, rounds=3, budget=60)
    assert found.new.changes == 2
    assert found.new.ms > 0
    assert Measured.from_json(found.to_json()) == found


def test_sizes_are_measured_in_a_process_and_stand_in_the_table(tmp_path, capsys):
    kept = tmp_path / "growth.md"
    words = ["--sizes", "60", "120", "--rounds", "2", "--unchecked", "--queries"]
    assert command.main(arguments(*words, "xmark 05", "--output", str(kept))) == 0
    text = kept.read_text()
    assert "| xmark 05: count of sales of at least 40 |" in text
    assert "1 of 1" in text or "0 of 1" in text
