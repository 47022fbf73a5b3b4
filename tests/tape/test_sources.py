"""What may be read, and what is said of the rest: an error with a code, never a trace."""

from __future__ import annotations

import io
import os
import threading
import time
from pathlib import Path

import pytest

from xstreamcast.errors import DataPlace, Error, InputError, UsageError
from xstreamcast.tape import Limits, Reader, Tape, read

XML = b"<a>x<b/></a>"


def refused(source: object, **options: object) -> UsageError:
    with pytest.raises(UsageError) as found:
        read(source, **options)  # type: ignore[arg-type]
    return found.value


@pytest.mark.parametrize(
    "source",
    [XML, bytearray(XML), memoryview(XML), memoryview(XML + XML)[: len(XML)], io.BytesIO(XML)],
    ids=lambda source: type(source).__name__,
)
def test_bytes_in_any_form_are_read(source):
    assert read(source).serialize() == XML


def test_a_file_is_named_by_a_string_or_a_path(tmp_path: Path):
    path = tmp_path / "a.xml"
    path.write_bytes(XML)

    assert read(path).serialize() == XML
    assert read(str(path)).serialize() == XML
    with path.open("rb") as file:
        assert read(file).serialize() == XML


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_is_read_in_chunks_and_within_the_limits(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for limits, size in ((None, 3), (Limits(max_document_size=8), None)):
        writer = threading.Thread(target=pipe.write_bytes, args=(XML,))
        writer.start()
        if size is None:
            with pytest.raises(InputError, match="XSCX0105"):
                read(pipe, limits=limits)
        else:
            assert len(read(pipe, limits=limits)) == size + 1
        writer.join()


@pytest.mark.parametrize("source", [42, None, [XML], ()])
def test_what_is_no_source_is_refused(source):
    wrong = refused(source)
    assert wrong.code == "XSCU0005"
    assert "must be bytes, a path or a binary file" in wrong.message


def test_text_is_refused_with_the_way_out(tmp_path: Path):
    path = tmp_path / "a.xml"
    path.write_bytes(XML)
    assert refused("<a/>").hint == "a string names a file; XML itself is given as bytes"
    assert refused(io.StringIO("<a/>")).code == "XSCU0005"
    with path.open() as file:
        assert "bytes" in refused(file).message


@pytest.mark.parametrize("path", ["", "no such file", "a\0b", "."])
def test_a_file_that_cannot_be_opened_is_named(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refused(path).code == "XSCU0003"


@pytest.mark.parametrize("chunk", ["<a/>", 5, None])
def test_a_chunk_is_bytes(chunk):
    with pytest.raises(UsageError, match="a chunk must be bytes; got"):
        Reader().feed(chunk)


@pytest.mark.parametrize("mode", ["document", "sequence", "stream"])
def test_a_reader_that_refused_an_input_says_the_same_again(mode):
    said = []
    reader = Reader(mode, name="feed")
    for chunk in (b"<a>\n<b></c>", b"<d/>", b"</a>"):
        try:
            reader.feed(chunk)
        except InputError as wrong:
            said.append(str(wrong))
    with pytest.raises(InputError) as found:
        reader.close()
    said.append(str(found.value))
    assert len(set(said)) == 1
    assert "feed:2:6 (byte 9)" in said[0]


def fed(reader: Reader, xml: bytes, size: int) -> None:
    for at in range(0, len(xml), size):
        reader.feed(xml[at : at + size])
    reader.close()


@pytest.mark.parametrize("encoding", ["foo", "shift_jis", "rot13", "base64", "idna"])
@pytest.mark.parametrize("mode", ["document", "sequence", "stream"])
@pytest.mark.parametrize("size", [1, 1000])
def test_an_encoding_that_nobody_knows_has_its_own_error(encoding, mode, size):
    xml = f"<?xml version='1.0' encoding='{encoding}'?><a><b/></a>".encode()
    with pytest.raises(InputError) as whole:
        read(xml, mode=mode)
    with pytest.raises(InputError) as pieces:
        fed(Reader(mode), xml, size)
    assert whole.value.code == pieces.value.code == "XSCX0003"


def test_an_error_in_a_long_line_shows_what_is_around_it():
    xml = b"<a>" + "<b>ö</b>".encode() * 100 + b"<c></d>" + b"<b/>" * 100
    with pytest.raises(InputError) as found:
        read(xml)
    lines = found.value.render().splitlines()
    column = 3 + 8 * 100 + 6
    assert lines[1] == f" --> input:1:{column} (byte {column - 1 + 100})"
    caret = lines[3].index("^")
    assert lines[2][caret - 5 : caret + 2] == "<c></d>"
    assert len(lines[2]) < 110


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "iso-8859-1"])
def test_an_error_in_another_encoding_shows_its_line(encoding):
    declared = encoding[:6] if encoding.startswith("utf") else encoding
    text = f"<?xml version='1.0' encoding='{declared}'?>\n<a>\n<bä>ö</a>\n</a>"
    with pytest.raises(InputError) as found:
        read(text.encode(encoding))
    assert found.value.render().splitlines()[1:] == [
        f" --> input:3:8 (byte {len(text[: text.index('a>', 50)].encode(encoding))})",
        "3 | <bä>ö</a>",
        "  |        ^",
        "hint: <bä> was opened in line 3, column 1",
    ]


def test_a_row_that_is_not_there_is_refused():
    tape = read(XML)
    for row in (len(tape), -len(tape) - 1, 10**9):
        with pytest.raises(IndexError, match="row must be"):
            tape.serialize(row)
    assert tape.serialize(-1) == b"<b/>"
    with pytest.raises(IndexError, match="the tape is empty"):
        read(b"", mode="stream").serialize()


def test_columns_take_at_most_32_bytes_for_a_node(tmp_path: Path):
    path = tmp_path / "a.xml"
    path.write_bytes(b"<r xmlns:p='u'>" + b"<p:a b='1'>t<!--c--><?p d?></p:a>" * 5000 + b"</r>")
    reader = Reader()
    reader.feed(path.read_bytes())
    odd = b"<!DOCTYPE r [<!ENTITY e 'x'>]><r>&e;</r>"
    for tape in (read(path), read(odd), reader.close(), read(path, mode="stream")):
        assert isinstance(tape, Tape)
        held = sum(column.itemsize for column in tape.columns[:-1])
        assert held <= 32
        assert sum(column.nbytes for column in tape.columns[:-1]) == held * len(tape)


def test_many_documents_with_an_error_at_the_end_are_refused_in_linear_time():
    xml = (b"<a>" + b"x" * 4000 + b"</a>") * 8000 + b"<b>"
    began = time.process_time()
    with pytest.raises(InputError) as found:
        read(xml, mode="sequence")
    assert isinstance(found.value.place, DataPlace)
    assert found.value.place.offset == len(xml)
    assert time.process_time() - began < 30  # what is copied for each document would take 100 s


@pytest.mark.parametrize(
    "bounds",
    [
        {"max_depth": 0},
        {"max_depth": 100_000},
        {"max_name_length": -1},
        {"max_attributes": -1},
        {"max_entity_expansion": -1},
        {"max_document_size": 0},
        {"max_depth": "7"},
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(bounds):
    with pytest.raises(Error, match=f"{next(iter(bounds))} must be") as found:
        Limits(**bounds)
    assert found.value.code == "XSCU0005"
