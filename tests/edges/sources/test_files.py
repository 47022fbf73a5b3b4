"""Folders that grow, files that are renamed, replaced, cut off; what is compressed."""

from __future__ import annotations

import bz2
import gzip
import os
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.edges.sources.roads import FIRST, REST, WHOLE, expected, settle
from xstreamcast import query
from xstreamcast.cli.main import main
from xstreamcast.edges.inputs import opened
from xstreamcast.edges.sources import Burst
from xstreamcast.edges.sources.files import Files
from xstreamcast.edges.sources.notes import Notes
from xstreamcast.errors import Error


def steps(files: Files, acts: Sequence[Callable[[], object]], ended: int = 0) -> list[bytes | None]:
    """What is read; an act is done when there is nothing to read, then there are three looks."""
    found: list[bytes | None] = []
    waiting: Iterator[Callable[[], object]] = iter([*acts, *[lambda: None] * 3])
    for piece in files.pieces(ended):
        assert not isinstance(piece, Burst)
        if piece != b"":
            found.append(piece)
            continue
        act = next(waiting, None)
        if act is None:
            break
        act()
    return found


def following(source: Path | str, notes: Notes | None = None) -> Files:
    return Files(str(source), True, lambda: 0.001, notes)


def test_new_files_are_read_and_the_last_one_while_it_grows(tmp_path: Path) -> None:
    (tmp_path / "b.xml").write_bytes(b"1")

    def grow() -> None:
        with open(tmp_path / "b.xml", "ab") as file:
            file.write(b"2")

    acts = [grow, lambda: (tmp_path / "a.xml").write_bytes(b"3")]
    assert steps(following(tmp_path), acts) == [b"1", b"2", None, b"3"]


def test_a_file_is_read_once_whatever_it_is_called_next(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_bytes(b"old")

    def rotate() -> None:
        log.rename(tmp_path / "app.log.1")
        log.write_bytes(b"new")

    assert steps(following(tmp_path), [rotate]) == [b"old", None, b"new"]


def test_a_file_renamed_into_place_is_read_once_and_whole(tmp_path: Path) -> None:
    part = tmp_path / "x.xml.part"

    def begin() -> None:
        part.write_bytes(b"half")

    def rename() -> None:
        part.write_bytes(b"half and half")
        part.rename(tmp_path / "x.xml")

    assert steps(following(tmp_path), [begin, rename]) == [b"half and half"]


def test_a_file_that_takes_the_name_of_another_is_new(tmp_path: Path) -> None:
    feed = tmp_path / "feed.xml"
    feed.write_bytes(b"monday")

    def replace(text: bytes) -> Callable[[], None]:
        def act() -> None:
            other = tmp_path / ".feed.new"
            other.write_bytes(text)
            os.replace(other, feed)

        return act

    read = steps(following(feed), [replace(b"tuesday"), replace(b"wednesday")])
    assert read == [b"monday", None, b"tuesday", None, b"wednesday"]


def test_a_file_that_was_cut_off_begins_anew(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"first text")
    assert steps(following(log), [lambda: log.write_bytes(b"2nd")]) == [b"first text", None, b"2nd"]


def test_a_file_that_changed_after_it_ended_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(b"trunc")
    (tmp_path / "2").write_bytes(b"b")
    read = steps(following(tmp_path), [lambda: (tmp_path / "1").write_bytes(b"truncated no more")])
    assert read == [b"trunc", None, b"b", None, b"truncated no more"]


def test_notes_bring_back_the_same_files_in_the_same_order(tmp_path: Path) -> None:
    folder, path = tmp_path / "in", tmp_path / "notes"
    folder.mkdir()
    (folder / "m").write_bytes(b"1")
    acts: list[Callable[[], object]] = [
        lambda: (folder / "z").write_bytes(b"22"),
        lambda: (folder / "a").write_bytes(b"333"),
    ]
    notes = Notes(path)
    whole = steps(following(folder, notes), acts)
    notes.close()
    written = path.read_bytes()
    assert whole == [b"1", None, b"22", None, b"333"]
    (folder / "b").write_bytes(b"4")
    for ended in range(3):
        again = Notes(path)
        read = steps(following(folder, again), [], ended)
        again.close()
        assert read[: 2 * ended + 1] == whole[: 2 * ended + 1]
        assert sorted(one for one in read if one) == [b"1", b"22", b"333", b"4"]
        path.write_bytes(written)
    (folder / "m").write_bytes(b"other")
    with (
        closing(Notes(path)) as again,
        pytest.raises(Error, match="has changed since the checkpoint was written"),
    ):
        steps(following(folder, again), [], 2)


def test_a_file_that_is_named_itself_is_read_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "feed.tmp"
    path.write_bytes(b"1")
    assert steps(following(path), []) == [b"1"]


def test_an_empty_folder_is_waited_for(tmp_path: Path) -> None:
    assert steps(following(tmp_path), [lambda: (tmp_path / "a").write_bytes(b"1")]) == [b"1"]
    with pytest.raises(Error, match="no such file"):
        steps(following(tmp_path / "nowhere"), [])


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".zst"])
def test_what_is_compressed_is_read_as_what_it_holds(ending: str, tmp_path: Path) -> None:
    half = len(FIRST) + len("".join(REST[:20]))
    pack = PACKS[ending]
    path = tmp_path / f"roads.xml{ending}"
    path.write_bytes(pack(WHOLE[:half]) + pack(WHOLE[half:]))  # in two parts, as archives grow
    assert settle(str(path), None) == expected()
    assert list(query('count(stream("r")//incident)').run(r=path).lines()) == ["50"]
    document = tmp_path / f"a.xml{ending}"
    document.write_bytes(pack(b"<a><b>1</b><b>2</b></a>"))
    assert list(query("sum(//b)").run(document).lines()) == ["3"]
    unnamed = tmp_path / "b.xml"
    unnamed.write_bytes(document.read_bytes())
    assert list(query("sum(//b)").run(unnamed).lines()) == ["3"]
    path.write_bytes(pack(WHOLE)[:-20])
    with pytest.raises(Error, match="cannot be decompressed"):
        settle(str(path), None)


PACKS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: zstd(data),
}


def added(path: Path, data: bytes) -> Callable[[], object]:
    """An act that adds bytes to a file."""

    def act() -> None:
        with path.open("ab") as file:
            file.write(data)

    return act


@pytest.mark.parametrize("ending", PACKS)
def test_a_compressed_file_is_read_while_it_grows(ending: str, tmp_path: Path) -> None:
    path, pack = tmp_path / f"a.xml{ending}", PACKS[ending]
    second = pack(b"<b/>" * 9)
    path.write_bytes(pack(b"<a/>"))
    acts = [added(path, second[:20]), added(path, second[20:])]
    found = steps(following(path), acts)
    assert b"".join(piece for piece in found if piece) == b"<a/>" + b"<b/>" * 9
    assert None not in found  # it may grow further


@pytest.mark.parametrize("ending", PACKS)
def test_a_compressed_file_that_is_cut_off_is_read_again_when_it_is_whole(
    ending: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, pack = tmp_path / f"a.xml{ending}", PACKS[ending]
    whole = pack(os.urandom(1 << 17).hex().encode())
    path.write_bytes(whole[:-30])
    (tmp_path / "b.xml").write_bytes(b"<b/>")
    found = steps(following(tmp_path), [added(path, whole[-30:])])
    assert found.count(b"<b/>") == 1
    assert b"".join(one for one in found[found.index(b"<b/>") + 2 :] if one) == unpacked(path)
    assert f"note: {path} is cut off" in capfd.readouterr().err


def unpacked(path: Path) -> bytes:
    with opened(str(path)) as file:
        return file.read()


def test_a_compressed_file_that_was_cut_off_is_whole_after_a_restart(tmp_path: Path) -> None:
    folder, path = tmp_path / "in", tmp_path / "in" / "a.xml.gz"
    folder.mkdir()
    whole = gzip.compress(b"<a/>" * 50, 0)
    path.write_bytes(whole[:-40])
    (folder / "b.xml").write_bytes(b"<b/>")
    notes = Notes(tmp_path / "notes")
    first = steps(following(folder, notes), [])
    notes.close()
    path.write_bytes(whole)
    again = Notes(tmp_path / "notes")
    second = steps(following(folder, again), [], 1)
    again.close()
    assert second[: len(first)] == first  # what counts is what counted
    assert b"".join(piece for piece in second[len(first) :] if piece) == b"<a/>" * 50


@pytest.mark.parametrize("ending", PACKS)
def test_a_place_in_what_a_compressed_file_holds_is_found(ending: str, tmp_path: Path) -> None:
    path, data = tmp_path / f"a.xml{ending}", os.urandom(1 << 19)
    path.write_bytes(PACKS[ending](data[:1000]) + PACKS[ending](data[1000:]))
    with opened(str(path)) as file:
        for place in (990, 300_000, 17, 0, len(data), len(data) + 5):
            file.seek(place)
            assert file.read(100) == data[place : place + 100]


@pytest.mark.parametrize("ending", PACKS)
def test_compressed_fragments_are_ingested(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / f"roads.xml{ending}"
    path.write_bytes(PACKS[ending](WHOLE))
    done = main(["ingest", str(path), "--table", str(tmp_path / "t"), "--runner", "local"])
    assert done == 0
    counted = query('count(stream("roads")//incident)').run(roads=f"table:{tmp_path / 't'}")
    assert list(counted.lines()) == ["50"]


@pytest.mark.parametrize("ending", PACKS)
def test_little_is_held_of_what_compresses_well(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.xml{ending}"
    path.write_bytes(PACKS[ending](b" " * (1 << 24)) * 2 + (b"\0" * 9 if ending == ".gz" else b""))
    tracemalloc.start()
    with opened(str(path)) as file:
        length = sum(map(len, iter(lambda: file.read(1 << 16), b"")))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert length == 1 << 25
    assert ending == ".zst" or most < 1 << 23


def zstd(data: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").compress(data))


def test_documents_one_after_another_are_one_with_several_roots(tmp_path: Path) -> None:
    two = b'<?xml version="1.0"?><a><b>1</b></a>\n<?xml version="1.0"?><a><b>2</b></a>'
    assert list(query("/a/b/text()").run(two).lines()) == ["1", "2"]
    (tmp_path / "1.xml").write_bytes(b"<a><b>1</b></a>")
    (tmp_path / "2.xml.gz").write_bytes(gzip.compress(b"<a><b>2</b></a>"))
    assert list(query("/a/b/text()").run(tmp_path).lines()) == ["1", "2"]


FOREIGN = {
    "gzip": gzip.compress(b"<a/>"),
    "bzip2": bz2.compress(b"<a/>"),
    "JSON": b'{"a": [1, 2]}\n',
    "a page in HTML": b"<!doctype html>\n<html><body>Bad gateway<br></body>",
    "UTF-16LE": "<a>ä</a>".encode("utf-16-le"),
    "UTF-16BE": "<a>ä</a>".encode("utf-16-be"),
    "an image (GIF)": b"GIF89a",
    "a zip archive": b"PK\x03\x04" + bytes(26),
}


@pytest.mark.parametrize("looks", FOREIGN)
def test_what_is_no_xml_is_told_what_it_looks_like(looks: str, tmp_path: Path) -> None:
    path = tmp_path / "feed.xml"
    path.write_bytes(FOREIGN[looks])
    asked: list[Callable[[], object]] = [lambda: query("//a").run(FOREIGN[looks])]
    if looks not in ("gzip", "bzip2"):  # a file is unpacked, whatever its name
        asked.append(lambda: query("//a").run(path))
    if looks not in ("gzip", "bzip2", "JSON"):  # lines of JSON are a feed, whatever its name
        asked.append(lambda: list(query('stream("s")//a').watch(s=path)))
    for ask in asked:
        with pytest.raises(Error) as met:
            ask()
        assert met.value.code == "XSCX0008"
        assert f"it looks like {looks}" in met.value.message
        assert met.value.hint


def test_xhtml_and_json_within_xml_are_xml(tmp_path: Path) -> None:
    page = b'<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><p>1</p></html>'
    assert len(query("//*:p").run(page)) == 1
    assert len(query("//a").run(b'<a>{"b": 1}</a>')) == 1
    wide = '<?xml version="1.0" encoding="UTF-16"?><a>ä</a>'.encode("utf-16-le")
    assert list(query("string(/a)").run(wide).lines()) == ["ä"]


@pytest.mark.parametrize("text", [b"hello", b"hello\n", b"GIT 89"])
def test_text_is_named_by_watch_as_by_run(text: bytes) -> None:
    for read in (lambda: query("//a").run(text), lambda: list(query("//a").watch(text))):
        with pytest.raises(Error) as met:
            read()
        assert met.value.message == "the input is text, not XML"
