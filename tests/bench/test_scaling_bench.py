"""The page on scaling: its figures are those of the reports, and nothing is there without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import scaling
from bench.scaling import Spread, number, page, spread, tables

REPORT = """# History queries on Spark

Documents have about 1000 MB.

## Documents

| query          | tasks   | 1 core      | 2 cores     | 1 → 2 |
| -------------- | ------: | ----------: | ----------: | ----: |
| p1             | 4 tasks | 7.00 (6.50) | 4.00 (6.90) | 1.8 × |
| geometric mean |         |             |             | 1.8 × |

## What is not spread

| ours        | small document s | driver s |
| ----------- | ---------------: | -------: |
| document p1 |             1.00 |     1.60 |
"""
RUNNING = """# Queries left running on Spark

|      | accounts | partitions | fragments/s | µs of processor each | p50 ms |
| ---- | -------: | ------: | ----------: | -------------------: | -----: |
| ours |   10,000 |       2 |      20,000 |                   50 |    300 |
"""


def test_tables_and_numbers_are_read_from_reports():
    assert [row["query"] for row in tables(REPORT, "Documents")] == ["p1", "geometric mean"]
    assert tables(REPORT, "Tables") == []
    assert [number(cell) for cell in ("7.00 (6.50)", "20,000", "–", None)] == [
        7,
        20_000,
        None,
        None,
    ]


def test_what_is_serial_bounds_what_cores_can_do():
    found = spread(REPORT, "document", 1.0)
    assert list(found) == ["p1"]
    one = found["p1"]
    assert (one.fixed, one.driver, one.tasks) == pytest.approx((1.0, 1.6, 4.4))
    assert one.seconds(100, 1000) == pytest.approx(1 + 1000 * (0.1 + 0.044))
    assert Spread(1, 0, 4, 1, alone=True).seconds(100, 1000) == pytest.approx(1 + 1000 * 4)
    assert Spread(1, 0, 4, 1).seconds(100, 1000) == pytest.approx(
        Spread(1, 0, 4, 1).seconds(10_000, 100_000)
    )


def test_the_page_is_made_of_the_figures(tmp_path: Path):
    (tmp_path / "spark.md").write_text(REPORT)
    (tmp_path / "continuous.md").write_text(RUNNING)
    text = page(tmp_path, (1000.0, 200.0))
    assert "| p1 " in text
    assert "145 s" in text
    assert "| 10,000   |          2 |           20,000 |               20,000 |    300 |" in text
    assert text.count("Not measured yet.") == 1  # tables


def test_without_reports_nothing_is_claimed(tmp_path: Path):
    assert page(tmp_path, None).count("Not measured yet.") == 4


def test_ingest_is_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("XSC_BENCH_DATA", str(tmp_path))
    assert all(rate > 0 for rate in scaling.ingested(0.001))
