"""Documents that are read into a table answer as they do when a query reads them itself."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast import query
from xstreamcast.edges.replay import Offset, Replay, split_rows
from xstreamcast.errors import Error
from xstreamcast.tape.expat.following import documents

pytest.importorskip("pyarrow")

from xstreamcast.edges.ingesting import Ingested, ingest

TAGS = '<tag id="1" name="log" type="{}"><tag id="2" name="r" type="{}"/></tag>'
QUERIES = ('stream("r")//r/@n/string()', 'count(stream("r")/log)', 'stream("r")/log/count(r)')


def log(*numbers: int, before: str = "") -> str:
    return before + "<log>" + "".join(f'<r n="{n}"/>' for n in numbers) + "</log>\n"


class Kept:
    """A source with its structure, and the table that it is read into."""

    def __init__(self, path: Path, *types: str) -> None:
        self.path, self.table = path, path / "table"
        (path / "ts").write_text(TAGS.format(*(types or ("snapshot", "event"))))

    def read(self, name: str, **options: Any) -> Ingested:
        return ingest(
            self.path / name, self.table, stream="r", structure=self.path / "ts", **options
        )

    def answers(self) -> list[list[str]]:
        return [plain(query(one).run(r=f"table:{self.table}").lines()) for one in QUERIES]

    def same(self, name: str) -> None:
        direct = [plain(query(one).run(r=str(self.path / name)).lines()) for one in QUERIES]
        assert self.answers() == direct


def plain(lines: Any) -> list[str]:
    return [re.sub(r' vt\w+="[^"]*"', "", line) for line in lines]


@pytest.mark.parametrize("most", [None, 1])
@pytest.mark.parametrize("types", [("snapshot", "event"), ("temporal", "event"), ("temporal",) * 2])
def test_documents_of_a_folder(tmp_path: Path, types: tuple[str, str], most: int | None) -> None:
    kept = Kept(tmp_path, *types)
    (tmp_path / "in").mkdir()
    for number in range(12):
        (tmp_path / "in" / f"{number:02}.xml").write_text(log(*range(3 * number, 3 * number + 3)))
    assert kept.read("in", most=most).fragments == 12 * 4
    kept.same("in")
    assert kept.answers()[1] == ["12"]


@pytest.mark.parametrize("valid", [None, "2026-01-01T00:00:00"])
def test_documents_one_after_another(tmp_path: Path, valid: str | None) -> None:
    kept = Kept(tmp_path)
    several = [log(2 * n, 2 * n + 1, before="<!--c-->") for n in range(12)]
    several[3] = '<?xml version="1.0" encoding="UTF-8"?>' + several[3]
    several[5] = '<!DOCTYPE log [<!ENTITY e "x">]>' + several[5]
    (tmp_path / "in.xml").write_text("".join(several))
    kept.read("in.xml", valid=valid)
    kept.same("in.xml")


def test_documents_that_are_added(tmp_path: Path) -> None:
    kept, there = Kept(tmp_path), tmp_path / "in.xml"
    there.write_text(log(1, 2))
    kept.read("in.xml", follow=True)
    there.write_text(there.read_text() + log(3))
    kept.read("in.xml", follow=True)
    kept.same("in.xml")
    there.write_text(there.read_text() + "\n")
    assert kept.read("in.xml", follow=True).fragments == 0
    there.write_text(there.read_text() + log(4))
    assert kept.read("in.xml", follow=True).fragments == 2
    kept.same("in.xml")


def test_documents_that_are_added_to_a_compressed_file(tmp_path: Path) -> None:
    kept, there = Kept(tmp_path), tmp_path / "in.xml.gz"
    there.write_bytes(gzip.compress(log(1, 2).encode()))
    kept.read("in.xml.gz", follow=True)
    there.write_bytes(there.read_bytes() + gzip.compress(log(3).encode()))
    assert kept.read("in.xml.gz", follow=True).fragments == 2
    kept.same("in.xml.gz")


def test_a_document_that_is_not_complete_is_awaited(tmp_path: Path) -> None:
    kept, there = Kept(tmp_path), tmp_path / "in.xml"
    there.write_text(log(1, 2) + log(3, 4)[:20])
    assert kept.read("in.xml", follow=True).fragments == 3
    assert kept.answers()[0] == ["1", "2"]
    there.write_text(log(1, 2) + log(3, 4))
    assert kept.read("in.xml", follow=True).fragments == 3
    kept.same("in.xml")


def test_a_file_that_was_rewritten_is_read_from_its_beginning(tmp_path: Path) -> None:
    kept, there = Kept(tmp_path), tmp_path / "in.xml"
    there.write_text(log(1, 2))
    kept.read("in.xml")
    there.write_text(log(5) + log(6, 7))
    kept.read("in.xml")
    assert kept.answers()[0] == ["1", "2", "5", "6", "7"]


def test_a_mistake_in_a_later_document_is_placed_in_the_file(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    (tmp_path / "in.xml").write_text(log(1) + "  " + "<log>\n <r></log>")
    with pytest.raises(Error) as refused:
        kept.read("in.xml")
    assert f"{tmp_path}/in.xml:3:7 (byte {len(log(1)) + 14})" in refused.value.render()


def test_a_plan_is_the_same_after_a_restart(tmp_path: Path) -> None:
    there, structure = tmp_path / "in.xml", TAGS.format("snapshot", "event")
    replay = Replay(str(there), structure)
    there.write_text(log(1))
    first = replay.advance(Offset())
    there.write_text(log(1) + log(2))
    second = replay.advance(first)
    planned = [
        [row["id"] for split in Replay(str(there), structure).plan(*ends)
         for rows in split_rows("r", split) for row in rows.to_pylist() if row["id"]]
        for ends in ((Offset(), first), (first, Offset.of(second.json())))
    ]  # fmt: skip
    assert planned[0] == ["1", "0"]
    assert len(planned[1]) == 2
    assert not set(planned[0]) & set(planned[1])


@given(st.lists(st.sampled_from(["<a/>", "<b>x</b>", "<?xml version='1.0'?><c/>", " <d\n>é</d>",
    "<!DOCTYPE e><e><!--<f/>--></e>"]), min_size=1), st.integers(1, 40))  # fmt: skip
def test_documents_are_told_apart_in_any_chunks(several: list[str], size: int) -> None:
    whole = "".join(several).encode()
    chunks = (whole[at : at + size] for at in range(0, len(whole), size))
    found = [(begin, b"".join(one)) for begin, one in documents(chunks)]
    assert b"".join(one for _, one in found) == whole
    assert [one.decode().strip() for _, one in found] == [one.strip() for one in several]
    for begin, _ in found:
        lines = whole[: begin.offset].split(b"\n")
        assert (begin.line, begin.column) == (len(lines) - 1, len(lines[-1].decode()))
