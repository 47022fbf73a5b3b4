"""A DataFrame of messages goes into a table as the file of the same messages does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import HEAD, STRUCTURE, fragments

pytest.importorskip("pyspark", reason="the spark extra is not installed")

from xstreamcast.edges.ingesting import Ingested
from xstreamcast.edges.loading import load
from xstreamcast.edges.table.reading import load_table
from xstreamcast.history.view import view
from xstreamcast.spark.frames import fragments_in
from xstreamcast.spark.ingest import append
from xstreamcast.tape.store import Store

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("shape", ["text", "as Kafka has it"])
def test_messages_of_a_streaming_frame(spark: Any, tmp_path: Path, shape: str) -> None:
    made = fragments(40)
    lines = [line.strip() for line in made]
    lines.insert(7, '<stream:filler id="l1" tsid="3"><limit>')
    lines.insert(9, "")  # a message that says nothing
    (tmp_path / "messages").mkdir()
    (tmp_path / "messages" / "one.txt").write_text("\n".join(lines) + "\n")
    messages = spark.readStream.text(f"file://{tmp_path / 'messages'}")
    if shape != "text":
        messages = messages.selectExpr(
            "cast(null as binary) key", "nullif(cast(value as binary), x'') value", "'t' topic",
            "0 partition", "0L offset", "current_timestamp() timestamp",
        )  # fmt: skip
    rows = fragments_in(messages, stream="credit", structure=STRUCTURE)
    done = Ingested("credit")
    append(rows, tmp_path / "table", tmp_path / "checkpoint", done)
    assert (done.fragments, done.refused) == (41, 1)
    direct = load("credit", (HEAD + STRUCTURE + "".join(made)).encode(), Store()).history
    kept = load_table("credit", tmp_path / "table", Store()).history
    assert view(kept).serialize() == view(direct).serialize()
