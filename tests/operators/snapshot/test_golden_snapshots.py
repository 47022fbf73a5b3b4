"""Snapshots that earlier versions wrote: each must load, and go on as it did.

`--accept` writes those of this version (NAME.FORMAT.snapshot, and what is told after it). A file of
an earlier format is never written again: it is what somebody's checkpoint holds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operators.beside import Beside
from tests.operators.snapshot.going_on import going_on, snapshot
from tests.operators.snapshot.test_what_is_kept import HEAD, QUERIES, UNITS
from xstreamcast.edges.snapshot.container import FORMAT, header_of

FOLDER = Path(__file__).parent / "golden"
NAMES = ("grouped", "joined", "nested", "numbered", "windows", "constructed", "timers", "top")
AT = 6  # units that came before
KINDS = {"s": "fragments"}


def told(running: Beside) -> str:
    """What the rest of the units changes."""
    out = []
    for piece in UNITS[AT:]:
        decoder = running.decoders["s"]
        running.watch.on_arrivals("s", decoder.feed(piece), decoder.ids)
        out += [change.to_json() for change in running.watch.tick()]
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_written_now(name: str, request: pytest.FixtureRequest):
    path = FOLDER / f"{name}.{FORMAT}.snapshot"
    if request.config.getoption("--accept"):
        running = Beside(QUERIES[name], KINDS)
        for piece in (HEAD, *UNITS[:AT]):
            running.feed("s", piece)
        path.write_bytes(snapshot(running))
        path.with_suffix(".changes").write_text(told(running))
    assert header_of(path.read_bytes())[0]["format"] == FORMAT


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.snapshot")), ids=lambda path: path.stem)
def test_what_was_written_goes_on(path: Path):
    running = going_on(path.read_bytes(), QUERIES[path.name.split(".")[0]], KINDS)
    assert told(running) == path.with_suffix(".changes").read_text()
