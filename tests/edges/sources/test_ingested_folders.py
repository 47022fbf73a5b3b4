"""Folders that are read into a table: files that grow, change, go, or are not finished."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from xstreamcast import query
from xstreamcast.edges.ingesting import ingest

pytest.importorskip("pyarrow")

STRUCTURE = (
    '<structure><tag id="1" name="roads"><tag id="2" name="incident" type="temporal"/>'
    "</tag></structure>"
)
ROOT = (
    '<filler id="0" tsid="1" validTime="2026-01-01T00:00:00"><roads>'
    + "".join(f'<hole id="{n}" tsid="2"/>' for n in range(1, 6))
    + "</roads></filler>"
)


def incident(number: int) -> str:
    return (
        f'<filler id="{number}" tsid="2" validTime="2026-01-0{number}T00:00:00">'
        f'<incident n="{number}"/></filler>\n'
    )


class Folder:
    """A folder that is followed into a table, look by look."""

    def __init__(self, path: Path, most: int | None) -> None:
        self.path, self.table, self.most = path / "in", path / "table", most
        self.path.mkdir()

    def look(self) -> str:
        """What the table holds after another look."""
        ingest(self.path, self.table, stream="r", most=self.most, follow=True)
        found = query('stream("r")//incident/@n/string()').run(r=f"table:{self.table}")
        return "".join(found.lines())

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text)


@pytest.fixture(params=[None, 1])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Folder:
    made = Folder(tmp_path, request.param)
    made.write("a.xml", STRUCTURE + ROOT + incident(1))
    return made


def test_a_file_counts_when_it_gets_its_name(folder: Folder) -> None:
    folder.write("b.xml.tmp", incident(2)[:40])
    assert folder.look() == "1"
    folder.write("b.xml.tmp", incident(2))
    assert folder.look() == "1"
    (folder.path / "b.xml.tmp").rename(folder.path / "b.xml")
    assert folder.look() == "12"


def test_files_that_were_read_may_go(folder: Folder) -> None:
    folder.write("b.xml", incident(2))
    assert folder.look() == "12"
    (folder.path / "a.xml").unlink()
    folder.write("c.xml", incident(3))
    assert folder.look() == "123"


def test_a_log_is_rotated(folder: Folder) -> None:
    assert folder.look() == "1"
    (folder.path / "a.xml").rename(folder.path / "a.xml.1")
    folder.write("a.xml", incident(2))
    assert folder.look() == "12"
    with (folder.path / "a.xml").open("a") as file:
        file.write(incident(3))
    assert folder.look() == "123"


def test_a_file_that_changed_after_it_had_ended_is_read_again(folder: Folder) -> None:
    folder.write("b.xml", incident(2))
    folder.write("c.xml", incident(3))
    assert folder.look() == "123"
    folder.write("b.xml", incident(2) + incident(4))
    assert folder.look() == "1234"
    assert folder.look() == "1234"


def test_a_compressed_file_counts_when_it_is_whole_and_grows(folder: Folder) -> None:
    whole = gzip.compress(incident(2).encode())
    path = folder.path / "b.xml.gz"
    path.write_bytes(whole[:-20])
    folder.write("c.xml", incident(3))
    assert folder.look() == "13"
    path.write_bytes(whole)
    assert folder.look() == "123"
    path.write_bytes(whole + gzip.compress((incident(4) + incident(5)).encode()))
    assert folder.look() == "12345"
    assert folder.look() == "12345"
