"""A query that came to the end of its inputs goes on with what is added to them afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import HEAD, STRUCTURE, fragments
from tests.spark.test_watch_inputs import REPLACED, UPDATES

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast.cli.main import main
from xstreamcast.model.change import Accumulated, Change

pytestmark = pytest.mark.spark
ASKED = """for $a in stream("credit")//account[limit?[now] > 2000]
order by number($a/@no) return <a rates="{count(stream("rates")//rate)}">{$a/@no}{
  $a/limit?[now]/text()}</a>"""


def told(folder: Path, runner: str, feed: Path, rates: Path) -> list[str]:
    """The answer that stands in the sink after a run."""
    out, words = folder / f"{runner}.out", ["watch", "-q", ASKED, "--policy", "strict"]
    words += ["-i", f"credit={feed}", "-i", f"rates={rates}", "-o", str(out)]
    words += ["--runner", runner, "--checkpoint", str(folder / runner)]
    assert main(words) == 0
    return Accumulated(map(Change.from_json, out.read_text().splitlines())).items()


def test_what_is_added_after_the_end(spark: Any, tmp_path: Path) -> None:
    feed, rates = tmp_path / "credit.xml", tmp_path / "rates.ndjson"
    made = sorted(fragments(40), key=lambda one: 'id="0"' not in one)  # the root, then all else
    feed.write_text(HEAD + STRUCTURE + "".join(made[:25]))
    rates.write_bytes(UPDATES)
    first = told(tmp_path, "spark", feed, rates)
    assert first == told(tmp_path, "local", feed, rates)
    with feed.open("a") as file:
        file.write("".join(made[25:]))
    with rates.open("ab") as more:
        more.write(REPLACED)
    second = told(tmp_path, "spark", feed, rates)
    assert second == told(tmp_path, "local", feed, rates)
    assert len(second) > len(first) > 0
    assert told(tmp_path, "spark", feed, rates) == second  # nothing was added
