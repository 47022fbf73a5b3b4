"""What all tests share: Hypothesis profiles, marks, and golden files."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# short and quick: the same cases every time, so that a red run is your change; thorough: new ones.
# `make test` runs short without what is slow, `make test-all` runs quick with everything.
settings.register_profile("short", max_examples=15, deadline=None, derandomize=True)
settings.register_profile("quick", max_examples=60, deadline=None, derandomize=True)
settings.register_profile(
    "thorough", max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
PROFILE = os.environ.get("XSC_PROFILE", "quick")
settings.load_profile(PROFILE)


def examples(usual: int, thorough: int | None = None) -> int:
    """How many cases a test generates that sets a number of its own, by the profile."""
    if PROFILE == "short":
        return -(-usual // 4)
    if PROFILE == "thorough":
        return 20 * usual if thorough is None else thorough
    return usual


RULE = "----\n"

# Test functions that took long when they were last recorded; tests/slow_tests.py writes it.
SLOW = frozenset(
    line.split()[1]
    for line in (Path(__file__).parent / "slow.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
)

Golden = Callable[[Path, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite golden files; review the diff")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.partition("[")[0] in SLOW:
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("thorough") and PROFILE != "thorough":
            item.add_marker(pytest.mark.skip(reason="runs with XSC_PROFILE=thorough"))
        if item.get_closest_marker("spark") and find_spec("pyspark") is None:
            item.add_marker(pytest.mark.skip(reason="the spark extra is not installed"))


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a text with the part of a golden file below its rule; `--accept` rewrites it."""

    def check(path: Path, actual: str) -> None:
        given, _, expected = path.read_text("utf-8").partition(RULE)
        if request.config.getoption("--accept"):
            path.write_text(given + RULE + actual.rstrip("\n") + "\n", "utf-8")
        else:
            assert actual.rstrip("\n") == expected.rstrip("\n")

    return check


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of large test data beside the checkout, where there is one."""
    path = Path(__file__).parents[2] / "shared"
    if not path.is_dir():
        pytest.skip("no shared test data beside the checkout")
    return path
