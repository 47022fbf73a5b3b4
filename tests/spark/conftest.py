"""One Spark for all tests of this folder: starting it costs more than most of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    pytest.importorskip("pyspark", reason="the spark extra is not installed")
    from xstreamcast.spark.session import session

    made = session(quick=True, cores=2, settings={"spark.sql.shuffle.partitions": "2"})
    yield made
    made.stop()


# The few cases on a real Spark that `make test` runs; all others are for `make test-all`.
QUICK = frozenset(
    {
        "test_the_command_prints_what_the_local_runner_prints",
        "test_a_feed_in_batches_adds_up_to_what_run_says",
        "test_what_is_malformed_is_in_quarantine_with_its_reason",
    }
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs on Spark is slow, save for a few."""
    for item in items:
        names = getattr(item, "fixturenames", ())
        if ("spark" in names or item.get_closest_marker("spark")) and (
            getattr(item, "originalname", item.name) not in QUICK
        ):
            item.add_marker(pytest.mark.slow)
