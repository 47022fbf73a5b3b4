"""Checkpoints of queries over documents: started again, they go on amid the document."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.operators.snapshot.test_document_snapshots import QUERIES
from tests.operators.test_checkpoints import killed
from xstreamcast import query
from xstreamcast.edges.snapshot.container import header_of
from xstreamcast.edges.watching import Options, Watching

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
        self.pieces: list[bytes] = given.pop("pieces", PIECES)
        self.options = {"snapshot_every": 1, **given}
        self.sink: list[str] = []
        self.notes: list[str] = []

    def begun(self) -> Watching:
        given = Options(checkpoint=str(self.folder), say=self.notes.append, **self.options)
        watching = query(self.text).watching(None, {self.name: iter(self.pieces)}, given)
        watching.sink = lambda: len(self.sink)
        assert watching.journal is not None
        del self.sink[watching.journal.sink :]
        return watching

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


LINES = {
    "ndjson": [b'{"k": "a", "v": %d}\n' % n for n in range(40)],
    "csv": [b"k,v\n", *(b"a,%d\n" % n for n in range(40))],
}


@pytest.mark.parametrize("form", ["ndjson"])
def test_lines_go_on_amid_a_line(form: str, tmp_path: Path):
    raw = b"".join(LINES[form])
    pieces = [raw[at : at + 33] for at in range(0, len(raw), 33)]
    text = 'for $m in stream("s")//*:map where $m/*:number > 5 return <v>{$m/*:number}</v>'
    whole = Runs(tmp_path / "whole", text, pieces=pieces)
    whole.go_on(None)
    assert len(whole.sink) == 34
    told = Runs(tmp_path / "parts", text, pieces=pieces)
    told.go_on(4)
    told.go_on(7)
    assert told.snapshots
    told.go_on(None)
    assert told.notes == []
    assert told.sink == whole.sink
