"""Checkpoints of queries over documents: started again, they go on amid the document."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.operators.snapshot.test_document_snapshots import QUERIES
from tests.operators.test_checkpoints import killed
from xstreamcast import query
from xstreamcast.edges.snapshot.container import header_of
from xstreamcast.edges.watching import Watching, WatchOptions
from xstreamcast.model.change import Accumulated, Change

NAMES = (
    "filter", "folds", "around", "groups", "first", "last", "ordered", "joined", "folded window",
    "sliding", "windows by key", "whole",
)  # fmt: skip
ITEMS = "".join(f'<i v="{n % 7}" k="{"ab3"[n % 3]}">n &amp; {n}</i>\n' for n in range(60))
RAW = f'<?xml version="1.0"?>\n<r a="1">\n<s t="x">{ITEMS}</s><s>{ITEMS}</s>\n</r>\n'.encode()
HEAD = RAW[:70]
PIECES = [HEAD, *(RAW[at : at + 111] for at in range(70, len(RAW), 111))]


class Runs:
    """One checkpoint, a sink, and the query started again and again."""

    def __init__(self, folder: Path, text: str, name: str = "s", **given) -> None:
        self.folder, self.text, self.name = folder, text, name
        self.pieces: list[bytes] | str = given.pop("pieces", PIECES)
        self.options = {"snapshot_every": 1, **given}
        self.sink: list[str] = []
        self.notes: list[str] = []

    def begun(self) -> Watching:
        given = WatchOptions(checkpoint=str(self.folder), say=self.notes.append, **self.options)
        watching = query(self.text).watching(None, {self.name: self.source()}, given)
        watching.sink = lambda: len(self.sink)
        assert watching.journal is not None
        del self.sink[watching.journal.sink :]
        return watching

    def source(self) -> Iterator[bytes] | str:
        return self.pieces if isinstance(self.pieces, str) else iter(self.pieces)

    def go_on(self, ticks: int | None) -> Watching:
        watching = self.begun()
        watching.begin()
        before = watching.ticked
        with closing(watching.ticks()) as batches:
            for changes in batches:
                self.sink += [change.to_json() for change in changes]
                if ticks is not None and watching.ticked >= before + ticks:
                    break
        return watching

    @property
    def snapshots(self) -> list[Path]:
        return sorted((self.folder / "snapshots").glob("*.snapshot"))


@pytest.mark.parametrize("name", NAMES)
def test_stopped_after_any_tick_it_goes_on_with_the_same_changes(name: str, tmp_path: Path):
    text = QUERIES[name]
    whole = Runs(tmp_path / "whole", text)
    whole.go_on(None)
    assert len(whole.sink) >= 2
    for ticks in (2, 9, 20):
        told = Runs(tmp_path / str(ticks), text)
        told.go_on(ticks)
        told.go_on(3)
        told.go_on(None)
        assert told.snapshots
        assert told.notes == []
        assert told.sink == whole.sink, ticks


LINES = b"".join(b'{"k": "a", "v": %d}\n' % n for n in range(40))
NUMBERS = 'for $m in stream("s")//*:map where $m/*:number > 5 return <v>{$m/*:number}</v>'


def test_lines_go_on_amid_a_line(tmp_path: Path):
    pieces = [LINES[at : at + 33] for at in range(0, len(LINES), 33)]
    whole = Runs(tmp_path / "whole", NUMBERS, pieces=pieces)
    whole.go_on(None)
    assert len(whole.sink) == 34
    told = Runs(tmp_path / "parts", NUMBERS, pieces=pieces)
    told.go_on(4)
    told.go_on(7)
    assert told.snapshots
    told.go_on(None)
    assert told.notes == []
    assert told.sink == whole.sink


@pytest.mark.parametrize(
    ("suffix", "text", "items"),
    [
        ("xml", 'for $i in stream("s")//i group by $k := $i/@k return <g>{$k, count($i)}</g>', 3),
        ("csv", 'for $i in stream("s")//row where $i/v > 1 return <v>{$i/v/text()}</v>', 114),
    ],
)
def test_a_folder_of_documents_goes_on_amid_one(suffix, text, items, tmp_path: Path):
    folder = tmp_path / "in"
    folder.mkdir()
    lines = "".join(f"{'abc'[n % 3]},{n}\n" for n in range(40))
    for name in "uvw":
        (folder / f"{name}.{suffix}").write_bytes(
            RAW if suffix == "xml" else f"k,v\n{lines}".encode()
        )
    sinks = []
    for turns in ((None,), (1, 1, None)):
        runs = Runs(tmp_path / str(len(turns)), text, pieces=str(folder))
        for ticks in turns:
            runs.go_on(ticks)
        assert runs.notes == []
        assert runs.snapshots
        sinks.append(runs.sink)
    assert sinks[0] == sinks[1]
    assert len(Accumulated(map(Change.from_json, sinks[0])).items()) == items


def test_a_checkpoint_that_has_no_snapshots_yet_goes_on(tmp_path: Path):
    """As an earlier version left it: the journal is all there is."""
    whole = Runs(tmp_path / "whole", QUERIES["groups"])
    whole.go_on(None)
    told = Runs(tmp_path / "parts", QUERIES["groups"], snapshot_every=1 << 30)
    told.go_on(9)
    assert told.snapshots == []
    told.options["snapshot_every"] = 1
    told.go_on(9)
    assert told.snapshots
    told.go_on(None)
    assert (told.sink, told.notes) == (whole.sink, [])


def test_another_encoding_is_said_to_have_no_snapshots(tmp_path: Path):
    raw = RAW.decode().replace("?>", ' encoding="iso-8859-1"?>', 1).encode("latin-1")
    pieces = [raw[at : at + 400] for at in range(0, len(raw), 400)]
    told = Runs(tmp_path, QUERIES["filter"], pieces=pieces)
    told.go_on(5)
    told.go_on(None)
    assert {note.split(";")[0] for note in told.notes} == {
        "no snapshot is written: a document is not in UTF-8, has a document type, or is not"
        " well-formed"
    }


@pytest.mark.parametrize("name", ["filter", "groups", "folded window", "joined"])
def test_killed_amid_a_document_it_goes_on_from_a_snapshot(name: str, tmp_path: Path):
    folder, out = tmp_path / "state", tmp_path / "out"
    words = ["-q", QUERIES[name], "-i", "s=-", "-o", str(out), "--format", "changes"]
    words += ["--checkpoint", str(folder), "--snapshot-every", "1"]

    def spoil() -> None:
        """What a snapshot covers is not parsed again: it may be anything that is as long."""
        newest = max((folder / "snapshots").glob("*.snapshot"))
        header, _ = header_of(newest.read_bytes())
        covered, _ = header["covered"]["counts"]["s"]
        kept = bytearray((folder / "s.bytes").read_bytes())
        kept[len(HEAD) : covered] = b"?" * (covered - len(HEAD))
        (folder / "s.bytes").write_bytes(kept)

    killed(words, PIECES, folder, [9, 20], between=spoil)
    told = Accumulated(map(Change.from_json, out.read_text().splitlines()))
    assert told.items() == list(query(QUERIES[name]).run(s=RAW).lines())
