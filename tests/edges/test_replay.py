"""A source that is read in batches and splits gives what reading it at once gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.spark.feeds import HEAD, STRUCTURE, fragments

pytest.importorskip("pyarrow", reason="the spark extra is not installed")

from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.loading import load
from xstreamcast.edges.replay import Offset, Replay, split_rows
from xstreamcast.edges.table.reading import load_table
from xstreamcast.history.view import view
from xstreamcast.tape.store import Store

EOS = "<stream:eos/>"
END = "</stream:fragments>\n"


def batches(source: Path, most: int | None, splits: int = 2) -> list[list[dict[str, Any]]]:
    """The rows of each batch, planned anew for each as after a restart."""
    found, start = list[list[dict[str, Any]]](), Offset()
    while (end := Replay(str(source), None, splits).advance(start, most)) != start:
        plan = Replay(str(source), None, splits).plan(start, Offset.of(end.json()))
        found.append([r for split in plan for b in split_rows("s", split) for r in b.to_pylist()])
        start = end
    return found


def seen(history: Any) -> bytes:
    return view(history, history.newest).serialize()


@pytest.mark.parametrize("most", [3, 7, None])
def test_an_eos_ends_its_file_alone(tmp_path: Path, most: int | None) -> None:
    feed, made = tmp_path / "feed", fragments(20)
    feed.mkdir()
    for number in range(3):
        wire = HEAD + (STRUCTURE if number == 0 else "") + "".join(made[number::3]) + EOS
        (feed / f"{number}.xml").write_text(wire + (made[0] if number == 1 else "") + END)
    rows = [row for batch in batches(feed, most) for row in batch]
    refused = [row["code"] for row in rows if row["operation"] == "refused"]
    assert refused == ["XSCF0011"]  # what the second file says behind its eos
    assert sum(row["operation"] == "filler" for row in rows) == len(made)
    assert not any(row["operation"] == "eos" for row in rows)  # another file may come
    done = ingest(feed, tmp_path / "table", stream="s", most=most)
    assert (done.fragments, done.refused) == (len(made), 1)
    kept = load_table("s", tmp_path / "table", Store()).history
    assert seen(kept) == seen(load("s", feed, Store()).history)


def test_an_eos_ends_a_file_that_is_the_stream(tmp_path: Path) -> None:
    feed, made = tmp_path / "feed.xml", fragments(20)
    feed.write_text(HEAD + STRUCTURE + "".join(made) + EOS)
    rows = [row for batch in batches(feed, 5) for row in batch]
    assert sum(row["operation"] == "eos" for row in rows) == 1
    with feed.open("a") as file:
        file.write(made[0] + END)
    rows = [row for batch in batches(feed, 5) for row in batch]
    assert [row["code"] for row in rows if row["operation"] == "refused"] == ["XSCF0011"]


@pytest.mark.parametrize("most", [1, 4, 10])
def test_a_batch_has_no_more_than_was_asked(tmp_path: Path, most: int) -> None:
    feed = tmp_path / "feed.xml"
    feed.write_text(HEAD + STRUCTURE + "".join(fragments(20)) + END)
    sizes = [sum(r["operation"] == "filler" for r in batch) for batch in batches(feed, most)]
    assert sum(sizes) == 21
    assert max(sizes) == most
    assert len(sizes) == -(-21 // most)
