"""Snapshots that earlier versions wrote: each must load, and go on as it did.

`--accept` writes those of this version (NAME.FORMAT.snapshot, and what is told after it). A file of
an earlier format is never written again: it is what somebody's checkpoint holds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operators.snapshot.going_on import going_on, snapshot
from tests.operators.snapshot.test_document_snapshots import QUERIES as DOCUMENT_QUERIES
from tests.operators.snapshot.test_document_snapshots import document
from tests.operators.snapshot.test_what_is_kept import HEAD, QUERIES, UNITS
from tests.operators.watched import Watched
from xstreamcast.edges.snapshot.container import FORMAT, header_of

FOLDER = Path(__file__).parent / "golden"
NAMES = ("grouped", "joined", "nested", "numbered", "windows", "constructed", "timers", "top")
AT = 6  # units that came before
KINDS = {"s": "fragments"}
DOCUMENTS = (
    "folds", "around", "groups", "items of groups", "first", "last", "joined", "whole",
    "folded as it grows", "sliding", "landmark", "looked up ends", "windows by key",
)  # fmt: skip
RAW = document([("", [(n % 7, "abc3"[n % 4], "é") for n in range(12)])] * 2)
PIECES = [RAW[at : at + 97] for at in range(0, len(RAW), 97)]
PIECES_BEFORE = 4


def told(running: Watched) -> str:
    """What the rest of the units, or of the document, changes."""
    out = []
    for piece in PIECES[PIECES_BEFORE:] if running.documents else UNITS[AT:]:
        if running.documents:
            running.watch.on_bytes("s", piece)
        else:
            decoder = running.decoders["s"]
            running.watch.on_arrivals("s", decoder.feed(piece), decoder.ids)
        out += [change.to_json() for change in running.watch.tick()]
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_written_of_a_document_now(name: str, request: pytest.FixtureRequest):
    path = FOLDER / f"document-{name.replace(' ', '-')}.{FORMAT}.snapshot"
    if request.config.getoption("--accept"):
        running = Watched(DOCUMENT_QUERIES[name], {"s": "document"})
        for piece in PIECES[:PIECES_BEFORE]:
            running.feed("s", piece)
        path.write_bytes(snapshot(running))
        path.with_suffix(".changes").write_text(told(running))
    assert header_of(path.read_bytes())[0]["format"] == FORMAT


@pytest.mark.parametrize("name", NAMES)
def test_written_now(name: str, request: pytest.FixtureRequest):
    path = FOLDER / f"{name}.{FORMAT}.snapshot"
    if request.config.getoption("--accept"):
        running = Watched(QUERIES[name], KINDS)
        for piece in (HEAD, *UNITS[:AT]):
            running.feed("s", piece)
        path.write_bytes(snapshot(running))
        path.with_suffix(".changes").write_text(told(running))
    assert header_of(path.read_bytes())[0]["format"] == FORMAT


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.snapshot")), ids=lambda path: path.stem)
def test_what_was_written_goes_on(path: Path):
    name = path.name.split(".")[0]
    if name.startswith("document-"):
        text, kinds = DOCUMENT_QUERIES[name[9:].replace("-", " ")], {"s": "document"}
    else:
        text, kinds = QUERIES[name], KINDS
    running = going_on(path.read_bytes(), text, kinds)
    assert told(running) == path.with_suffix(".changes").read_text()
