"""No kernel reads or writes outside its arrays, negative indexes included."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


def run(*arguments: str, checked: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XSC_PROFILE": "quick", "XSC_BOUNDSCHECK": "1" if checked else "0"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=CHECKOUT, env=environment, capture_output=True, text=True
    )


PROGRAM = """
import numpy as np
from xstreamcast.tape.fragments.chain_kernels import Arrived, chained
none = np.zeros(1, np.int64)
said = Arrived(np.array([{code}], np.int32), none, np.zeros(1, np.uint8), none + 9, none)
chained(said, 3, 9, 9)
"""


@pytest.mark.parametrize("code", [3, 9, -2])
def test_an_index_outside_is_an_error_in_this_mode(code: int) -> None:
    outside = run("-c", PROGRAM.format(code=code))
    assert outside.returncode == 1
    assert "IndexError: index is out of bounds" in outside.stderr


def test_an_index_within_bounds_is_none() -> None:
    assert run("-c", PROGRAM.format(code=2)).returncode == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    "tests",
    [
        ("tests/operators/test_law.py", "tests/operators/test_policies.py"),
        ("tests/tape", "tests/kernels/test_intern.py"),
        ("tests/history", "tests/test_streams_law.py"),
    ],
)
def test_generated_cases_stay_within_bounds(tests: tuple[str, ...]) -> None:
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert done.returncode == 0, done.stdout[-4000:]
