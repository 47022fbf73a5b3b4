"""A source that is read in batches and splits gives what reading it at once gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.spark.feeds import HEAD, STRUCTURE, fragments

pytest.importorskip("pyarrow", reason="the spark extra is not installed")

from xstreamcast.edges.ingesting import ingest
from xstreamcast.edges.loading import load
from xstreamcast.edges.replay import Offset, Replay, split_rows
from xstreamcast.edges.table.reading import load_table
from xstreamcast.edges.table.rows import RowEncoder
from xstreamcast.edges.wire.decoder import Decoder
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


def filler(inner: str, words: str = 'tsid="3"', word: str = "stream:filler") -> str:
    return f'<{word} id="l1" {words}>{inner}</{word}>\n'


PIECES = (
    filler("<limit>1</limit>"),
    filler("<limit><![CDATA[</limit></stream:filler><stream:filler id='x'>]]></limit>"),
    filler("<limit><!-- <stream:filler id='l9' tsid='3'> --></limit>"),
    filler("<limit a='/>' b=\">&lt;\"><?pi </limit> ?><b/></limit>"),
    filler("<limit>2</limit>", 'tsid="3" validTime="2003-01-01"', "filler"),
    filler("<limit><stream:hole id='h' tsid='3'/></limit>"),
    filler("<limit><filler id='in'>the payload's own</filler></limit>"),
    "<!-- <stream:filler id='l1' tsid='3'><limit> -->",
    '<stream:heartbeat validTime="2003-02-01"/>',
    '<heartbeat validTime="2003-02-01"/>\n',
    '<stream:remove id="l1" tsid="3"/>',
    STRUCTURE,
    "<?said something?>\n",
    "<unknown/>",
    # broken ones
    '<stream:filler id="l1" tsid="3"><limit>',
    filler("<limit></wrong>"),
    filler("<limit>&nothing;</limit>"),
    filler("</limit>"),
    filler("<limit a=1/>"),
    '<stream:filler id="l1"',
    "some text",
    "</stream:fragments>\n",
    "</stream:fragments>\n" + HEAD,
)


def told(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What rows say, but for structures, which are said again where a split begins.

    What is refused is told behind those of its run that are not: so by their places.
    """
    names = ("position", "operation", "tag", "valid", "code", "payload")
    said = (tuple(row[n] for n in names) for row in rows if row["operation"] != "structure")
    return sorted((one[:-1] if one[-2] else one for one in said), key=str)


@given(
    pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=25),
    most=st.sampled_from([None, 1, 3, 8]),
    head=st.sampled_from([HEAD, ""]),
)
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_batches_are_what_one_pass_gives(
    pieces: list[str], most: int | None, head: str, tmp_path: Path
) -> None:
    wire = (head + STRUCTURE + "".join(pieces) + "</stream:fragments>").encode()
    (tmp_path / "feed").mkdir(exist_ok=True)
    (tmp_path / "feed" / "0.xml").write_bytes(wire)
    (tmp_path / "feed" / "1.xml").write_text(HEAD)  # another follows: the first one is over
    found = [row for batch in batches(tmp_path / "feed", most) for row in batch]
    decoder = Decoder("s")
    decoder.more = True
    rows, one = RowEncoder("s", decoder.ids), list[dict[str, Any]]()
    for arrival in [*decoder.feed(wire), *decoder.close()]:
        one += rows.rows(arrival).to_pylist()
    assert told(found) == told(one)


@pytest.mark.parametrize("most", [1, 4, 10])
def test_a_batch_has_no_more_than_was_asked(tmp_path: Path, most: int) -> None:
    feed = tmp_path / "feed.xml"
    feed.write_text(HEAD + STRUCTURE + "".join(fragments(20)) + END)
    sizes = [sum(r["operation"] == "filler" for r in batch) for batch in batches(feed, most)]
    assert sum(sizes) == 21
    assert max(sizes) == most
    assert len(sizes) == -(-21 // most)
