"""Which tests `make test` leaves out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.slow_tests import ALWAYS, slow

ROOT = Path(__file__).parents[1]


def test_the_most_expensive_are_left_out_until_the_others_fit() -> None:
    seconds = {f"tests/a/test_{n}.py::test": float(n) for n in range(1, 10)}
    assert slow(seconds, 45.0) == {}
    assert slow(seconds, 30.0) == {
        "tests/a/test_9.py::test": 9.0,
        "tests/a/test_8.py::test": 8.0,
    }


def test_every_room_keeps_a_third_and_cheap_tests_stay() -> None:
    seconds = {
        "tests/a/test.py::test": 50.0,
        "tests/b/test.py::one": 9.0,
        "tests/b/test.py::two": 8.0,
    }
    assert slow(seconds, 1.0) == {"tests/b/test.py::one": 9.0}
    assert slow({f"tests/a/test.py::test_{n}": 0.9 for n in range(99)}, 1.0) == {}
    assert slow(dict.fromkeys(ALWAYS, 99.0), 1.0) == {}


def test_the_cost_of_a_test_has_its_processes_in_it(tmp_path: Path) -> None:
    case = tmp_path / "test_it.py"
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    case.write_text(
        "import subprocess, sys, time\n"
        f"def test_busy(): subprocess.run([sys.executable, '-c', {busy!r}])\n"
        "def test_idle(): pass\n"
    )
    report = tmp_path / "report"
    words = ["-p", "tests.processor_time", f"--processor-times={report}", "-p", "no:cacheprovider"]
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *words, "--rootdir", str(tmp_path), str(case)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True,
    )  # fmt: skip
    lines = map(json.loads, report.read_text().splitlines())
    costs = {name.partition("::")[2]: took for name, took in lines}
    assert costs["test_busy"] > 0.2
    assert costs["test_idle"] < 0.2
