"""Checkpoints with snapshots: started again, a query goes on from the newest that fits."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.operators.test_checkpoints import INCIDENTS, QUERIES, ROADS, SITES, killed
from xstreamcast import query
from xstreamcast.edges.snapshot.container import FORMAT, header_of
from xstreamcast.edges.watching import Watching, WatchOptions
from xstreamcast.edges.watching.journal_lines import read_lines
from xstreamcast.model.change import Accumulated, Change

TEXTS = {
    "ordered": QUERIES["one stream"],
    "joined": """for $i in stream("roads")//incident, $s in stream("sites")//site
        where $i/@n = $s/@n return <at n="{$i/@n}">{$i/severity/text()}</at>""",
    "grouped": """for $i in stream("roads")//incident?[now] let $n := $i/@n mod 3
        group by $n order by $n return <g n="{$n}">{sum($i/severity), count($i)}</g>""",
    "nested": """for $s in stream("sites")//site
        let $all := stream("roads")//incident[@n = $s/@n]
        return <at n="{$s/@n}">{count($all), max($all/severity)}</at>""",
    "windows": """for tumbling window $w in stream("roads")//incident?[now]
        start at $a when true() end at $z when $z - $a = 2
        return <w>{sum($w/severity)}</w>""",
}
PARTS = [ROADS, *("".join(INCIDENTS[at : at + 8]) for at in range(0, 50, 8))]


class Runs:
    """One checkpoint, a sink, and the query started again and again."""

    def __init__(self, folder: Path, text: str, **options) -> None:
        self.folder, self.text, self.options = folder, text, {"snapshot_every": 1, **options}
        self.sink: list[str] = []
        self.notes: list[str] = []

    def begun(self) -> Watching:
        roads = iter([part.encode() for part in PARTS])
        given = WatchOptions(
            batch=3, checkpoint=str(self.folder), say=self.notes.append, **self.options
        )
        watching = query(self.text).watching(None, {"roads": roads, "sites": SITES.encode()}, given)
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


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_stopped_after_any_tick_it_goes_on_with_the_same_changes(text: str, tmp_path: Path):
    whole = Runs(tmp_path / "whole", text)
    whole.go_on(None)
    assert len(whole.sink) > 4
    for ticks in (2, 5, 9, 13):
        told = Runs(tmp_path / str(ticks), text)
        told.go_on(ticks)
        told.go_on(3)
        told.go_on(None)
        assert told.snapshots, told.notes
        assert told.notes == []
        assert told.sink == whole.sink, ticks


def test_the_newest_two_are_kept(tmp_path: Path):
    runs = Runs(tmp_path, TEXTS["grouped"])
    runs.go_on(None)
    assert len(runs.snapshots) == 2
    header, _ = header_of(runs.snapshots[-1].read_bytes())
    assert header["format"] == FORMAT
    assert header["covered"]["offset"] == (tmp_path / "journal").stat().st_size


def spoilt(raw: bytes) -> bytes:
    return raw[: len(raw) // 2] + bytes([raw[len(raw) // 2] ^ 1]) + raw[len(raw) // 2 + 1 :]


SPOILERS = {
    "damaged": (spoilt, "is damaged: its check does not fit"),
    "cut off": (lambda raw: raw[:-40], "is damaged: its check does not fit"),
    "empty": (lambda raw: b"", "is damaged: it is cut off"),
    "of a later format": (
        lambda raw: raw.replace(b'"format": %d' % FORMAT, b'"format": 9', 1),
        "of format 9, and this version",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "said"), SPOILERS.values(), ids=SPOILERS)
def test_one_that_cannot_be_used_is_told_of_and_the_one_before_is(spoil, said, tmp_path: Path):
    whole = Runs(tmp_path / "whole", TEXTS["joined"])
    whole.go_on(None)
    runs = Runs(tmp_path / "runs", TEXTS["joined"])
    runs.go_on(14)
    old, new = runs.snapshots
    new.write_bytes(spoil(new.read_bytes()))
    watching = runs.begun()
    assert watching.journal is not None
    assert f"{watching.journal.covered.offset:016}" == old.stem
    watching.journal.close()
    assert len(runs.notes) == 1
    assert said in runs.notes[0]
    old.write_bytes(spoil(old.read_bytes()))
    runs.notes.clear()
    runs.go_on(None)
    assert len(runs.notes) == 3
    assert "the journal is read from its beginning" in runs.notes[-1]
    assert runs.sink == whole.sink


def test_one_of_other_options_is_not_used(tmp_path: Path):
    runs = Runs(tmp_path, TEXTS["grouped"])
    runs.go_on(6)
    runs.options["lateness"] = 10**15
    runs.go_on(None)
    assert all("it is of other options" in note for note in runs.notes[:-1])
    assert "the journal is read from its beginning" in runs.notes[-1]


def test_one_of_another_circuit_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    whole = Runs(tmp_path / "whole", TEXTS["grouped"])
    whole.go_on(None)
    runs = Runs(tmp_path / "runs", TEXTS["grouped"])
    runs.go_on(6)
    with monkeypatch.context() as patched:
        patched.setattr(
            "xstreamcast.operators.snapshot.watch.circuit_fingerprint", lambda circuit: "other"
        )
        runs.go_on(4)
    assert len(runs.notes) == 1
    assert "of another circuit" in runs.notes[0]
    assert "the journal is read from its beginning" in runs.notes[0]
    runs.go_on(None)
    assert runs.sink == whole.sink


@pytest.mark.parametrize("text", [TEXTS["joined"], TEXTS["grouped"]], ids=["joined", "grouped"])
def test_killed_it_goes_on_from_a_snapshot(text: str, tmp_path: Path):
    sites, out, folder = tmp_path / "sites.xml", tmp_path / "out", tmp_path / "state"
    sites.write_text(SITES)
    parts = [ROADS, *("".join(INCIDENTS[at : at + 5]) for at in range(0, 50, 5))]
    pieces = [part.encode() for part in parts]
    words = ["-q", text, "-i", "roads=-", "--batch", "3", "-o", str(out)]
    words += ["--checkpoint", str(folder), "--format", "changes", "--snapshot-every", "1"]
    words += ["-i", f"sites={sites}"] if "sites" in text else []

    def stop() -> None:
        """What a snapshot covers is not decoded again: it may be anything that is as long."""
        newest = max((folder / "snapshots").glob("*.snapshot"))
        header, _ = header_of(newest.read_bytes())
        covered, _ = header["covered"]["counts"]["roads"]
        kept = bytearray((folder / "roads.bytes").read_bytes())
        kept[len(ROADS) : covered] = b"?" * (covered - len(ROADS))
        (folder / "roads.bytes").write_bytes(kept)

    killed(words, pieces, folder, [5, 8], between=stop)
    told = Accumulated(map(Change.from_json, out.read_text().splitlines()))
    expected = query(text).run(roads=b"".join(pieces), sites=SITES.encode())
    assert told.items() == list(expected.lines())
    assert read_lines(folder / "journal", 0)[1]
