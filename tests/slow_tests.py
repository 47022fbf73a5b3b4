"""python -m tests.slow_tests REPORT …: writes tests/slow.txt from recorded processor time.

A report is what `XSC_PROFILE=short pytest -p tests.processor_time --processor-times=REPORT` writes.
The functions that cost most are slow, until all others together cost no more than `BUDGET`; none is
that costs less than a second, and each room keeps at least a third of its time. Functions that are
not in the reports keep their lines. Tests that need Spark are marked in tests/spark/conftest.py.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

TARGET = Path(__file__).parent / "slow.txt"
HEAD = """\
# Processor seconds and function, as recorded: left out by `make test`, run by `make test-all`.
# python -m tests.slow_tests REPORT … writes this file.
"""
BUDGET, KEPT, LEAST = 580.0, 1 / 3, 1.0  # two processors: under six minutes, with all that waits
ALWAYS = frozenset(  # what a change breaks first, and the few cases on a real Spark
    {
        "tests/circuit/test_stages.py::test_partitions_emit_what_one_place_emits",
        "tests/operators/test_corpus_watched.py::test_a_script_watched_says_what_it_says_asked",
        "tests/spark/test_ingest.py::test_what_is_malformed_is_in_quarantine_with_its_reason",
        "tests/spark/test_partitions.py::test_a_script_in_partitions_says_what_it_says_here",
        "tests/spark/test_watch.py::test_a_feed_in_batches_adds_up_to_what_run_says",
        "tests/test_corpus.py::test_we_answer_as_written_with_every_strategy",
        "tests/test_docs.py::test_what_a_page_shows_is_what_happens",
        "tests/test_house.py::test_a_file_has_a_name_that_says_something_and_a_sentence",
        "tests/test_house.py::test_a_file_is_one_sitting",
    }
)


def recorded(reports: list[str]) -> dict[str, float]:
    """Processor seconds of each test function."""
    found = defaultdict[str, float](float)
    for report in reports:
        for line in Path(report).read_text("utf-8").splitlines():
            test, seconds = json.loads(line)
            found[test.partition("[")[0]] += seconds
    return found


def room(name: str) -> str:
    """The folder below tests/; files directly in it are one room."""
    parts = name.split("::")[0].split("/")
    return parts[1] if len(parts) > 2 else ""


def slow(seconds: dict[str, float], budget: float = BUDGET) -> dict[str, float]:
    """The functions that cost most, until the others fit the budget."""
    left, made = sum(seconds.values()), dict[str, float]()
    rooms = defaultdict[str, float](float)
    for name, took in seconds.items():
        rooms[room(name)] += took
    least = {one: KEPT * took for one, took in rooms.items()}
    for name, took in sorted(seconds.items(), key=lambda one: -one[1]):
        if left <= budget or took < LEAST:
            break
        where = room(name)
        if name not in ALWAYS and rooms[where] - took >= least[where]:
            made[name] = took
            rooms[where] -= took
            left -= took
    return made


def main() -> None:
    seconds = recorded(sys.argv[1:])
    lines = TARGET.read_text("utf-8").splitlines() if TARGET.exists() else []
    kept = [line for line in lines if line[0] != "#" and line.split()[1] not in seconds]
    made = [f"{took:.1f} {name}" for name, took in slow(seconds).items()]
    every = sorted({*kept, *made}, key=lambda line: line.split()[1])
    TARGET.write_text(HEAD + "".join(f"{line}\n" for line in every), "utf-8")


if __name__ == "__main__":
    main()
