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
