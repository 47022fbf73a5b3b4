"""python -m tests.slow_tests REPORT.xml …: writes tests/slow.txt from recorded durations.

A report is what `pytest --junitxml=REPORT.xml tests/ROOM` writes. In each room the functions that
took longest are slow, until the others take a third of the room's time; none under a second
is. Generated cases are fewer in `make test`, so their functions count for a quarter. Rooms that are
not in the reports keep their lines. Tests that need Spark are marked in tests/spark/conftest.py.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

TARGET = Path(__file__).parent / "slow.txt"
HEAD = """\
# Seconds and function, as recorded: left out by `make test`, run by `make test-all`.
# python -m tests.slow_tests REPORT.xml … writes this file.
"""
SHARE, LEAST, GENERATED = 1 / 3, 1.0, 0.25
ALWAYS = frozenset(  # the corpus, left running, is the first thing that a change may break
    {"tests/operators/test_corpus_watched.py::test_a_script_watched_says_what_it_says_asked"}
)


def durations(reports: list[str]) -> dict[str, dict[str, float]]:
    """Seconds of each test function, by room."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            path = case.attrib["classname"].replace(".", "/") + ".py"
            test = case.attrib["name"].partition("[")[0]
            weight = GENERATED if test in generated(path) else 1.0
            name = f"{path}::{test}"
            found[room(name)][name] += float(case.attrib["time"]) * weight
    return found


@cache
def generated(path: str) -> frozenset[str]:
    """The functions of a file that Hypothesis calls."""
    file = TARGET.parents[1] / path
    tree = ast.parse(file.read_text("utf-8")) if file.exists() else ast.Module([], [])
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any("given(" in ast.unparse(one) for one in node.decorator_list)
    )


def room(name: str) -> str:
    """The folder below tests/; files directly in it are one room."""
    parts = name.split("::")[0].split("/")
    return parts[1] if len(parts) > 2 else ""


def slow(seconds: dict[str, float]) -> list[tuple[float, str]]:
    """The longest functions of a room, until the rest is short."""
    left, made = sum(seconds.values()), []
    allowed = left * SHARE
    for name, took in sorted(seconds.items(), key=lambda one: -one[1]):
        if left <= allowed or took < LEAST:
            break
        if name not in ALWAYS:
            made.append((took, name))
            left -= took
    return made


def main() -> None:
    rooms = durations(sys.argv[1:])
    kept = [
        line
        for line in (TARGET.read_text("utf-8").splitlines() if TARGET.exists() else [])
        if not line.startswith("#") and room(line.split()[1]) not in rooms
    ]
    made = [f"{took:.1f} {name}" for seconds in rooms.values() for took, name in slow(seconds)]
    lines = sorted([*kept, *made], key=lambda line: line.split()[1])
    TARGET.write_text(HEAD + "".join(f"{line}\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main()
