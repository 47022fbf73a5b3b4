"""Inputs: files, folders, patterns, gzip; documents told from fragments; the quarantine."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import xstreamcast as xsc
from tests.edges.test_decoder import BODY, DIALECTS, EXPECTED, STRUCTURE, WRONG, Seen
from xstreamcast.cli.main import main
from xstreamcast.edges.inputs import arrivals, kind_of, kind_of_source, paths, stream_name
from xstreamcast.edges.quarantine import Quarantine
from xstreamcast.edges.wire import Decoder
from xstreamcast.errors import Error
from xstreamcast.model.fragment import Ended, Refused


def seen(source: str | Path) -> Seen:
    decoder = Decoder("credit")
    return Seen(decoder, [one for part in arrivals(source, decoder) for one in part])


def test_a_folder_is_its_files_by_name(tmp_path: Path) -> None:
    lines = BODY.splitlines(keepends=True)
    (tmp_path / "b.xml").write_text("".join(lines[3:]))
    (tmp_path / "a.xml.gz").write_bytes(gzip.compress("".join(lines[:3]).encode()))
    (tmp_path / "c.xml").write_text(f"<fragments>{STRUCTURE}</fragments>")
    (tmp_path / ".hidden").write_text("not this")
    assert seen(tmp_path).fragments == EXPECTED
    assert seen(str(tmp_path / "*.xml*")).fragments == EXPECTED


def test_a_broken_end_of_one_file_costs_nothing_in_the_next(tmp_path: Path) -> None:
    (tmp_path / "1.xml").write_text(STRUCTURE + '<stream:filler id="9" tsid="4"><limit>')
    (tmp_path / "2.xml").write_text(BODY)
    found = seen(tmp_path)
    assert found.fragments == EXPECTED
    assert found.refused == [("XSCF0001", None)]


def test_a_heartbeat_without_a_time_hides_no_stream() -> None:
    """It is refused by itself; what follows says what the input is."""
    stream = DIALECTS["no prefix"]
    for beats in ("<heartbeat/>", "<stream:heartbeat />\n<heartbeat/>\n"):
        assert kind_of((beats + stream).encode()) == "fragments"
        decoder = Decoder("s")
        met = [*decoder.feed((beats + stream).encode()), *decoder.close()]
        refused = [one.code for one in met if isinstance(one, Refused)]
        assert refused == ["XSCF0006"] * beats.count("heartbeat")
    assert kind_of(b"<heartbeat/><patient/>") == "document"
    assert kind_of(b"<heartbeat/>") == "document"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_fragments_are_known_by_their_first_tags(dialect: str) -> None:
    assert kind_of(DIALECTS[dialect].encode()) == "fragments"


@pytest.mark.parametrize(
    "document",
    ["<a/>", "<filler/>", "<structure><b/></structure>", "<fragments><a/></fragments>", "text", ""],
)
def test_documents_are_known_too(document: str) -> None:
    assert kind_of(document.encode()) == "document"


def test_what_a_source_is_and_is_called(tmp_path: Path) -> None:
    path = tmp_path / "credit.stream.xml"
    path.write_text(BODY)
    assert kind_of_source(path) == "fragments"
    assert stream_name(path) == "credit"
    assert paths("-") == ["-"]
    assert stream_name("-") == "stdin"


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(Error, match="no such file, folder or pattern"):
        paths(tmp_path / "gone*")
    with pytest.raises(Error, match="has no files"):
        paths(tmp_path)


def test_the_quarantine_keeps_each_with_its_reason_and_can_be_read_again(tmp_path: Path) -> None:
    path = tmp_path / "refused.xml"
    wrong = [WRONG[what][0] for what in ("time", "itself", "embedded tag")]
    (tmp_path / "in.xml").write_text(STRUCTURE.replace("stream:", "") + "".join(wrong))
    for _ in range(2):
        with Quarantine(path) as quarantine:
            for refused in seen(tmp_path / "in.xml").of(Refused):
                quarantine.add(refused)
        assert quarantine.count == 3
    text = path.read_text()
    assert text.count("<!-- XSCF0006 credit:2:109 (fragment 9, byte 207): ") == 2
    (tmp_path / "again.xml").write_text(STRUCTURE.replace("stream:", "") + text)
    assert [code for code, _ in seen(tmp_path / "again.xml").refused] == 2 * [
        "XSCF0006",
        "XSCF0007",
        "XSCF0009",
    ]


def test_no_file_is_made_where_nothing_is_refused(tmp_path: Path) -> None:
    with Quarantine(tmp_path / "refused.xml"):
        pass
    assert not (tmp_path / "refused.xml").exists()


def _ending_files(folder: Path, *more: str) -> Path:
    """A stream in three files, each of which ends with an eos."""
    folder.mkdir()
    told = '<structure><tag id="1" name="a"><tag id="2" name="b" type="event"/></tag></structure>'
    holes = "".join(f'<hole id="{number}" tsid="2"/>' for number in (1, 2))
    bodies = [f'{told}<filler id="0" tsid="1"><a>{holes}</a></filler>']
    bodies += [f'<filler id="{number}" tsid="2"><b>{number}</b></filler>' for number in (1, 2)]
    for number, body in enumerate(bodies):
        (folder / f"{number}.xml").write_text(f"<fragments>{body}<eos/>{''.join(more)}</fragments>")
    return folder


def test_an_eos_ends_the_stream_in_its_last_file_only(tmp_path: Path) -> None:
    found = seen(_ending_files(tmp_path / "s"))
    assert found.refused == []
    assert len(found.of(Ended)) == 1
    assert isinstance(found.arrivals[-1], Ended)


def test_what_follows_an_eos_in_its_file_is_refused(tmp_path: Path) -> None:
    late = '<filler id="3" tsid="2"><b/></filler>'
    assert seen(_ending_files(tmp_path / "s", late)).refused == 3 * [("XSCF0011", "3")]


def test_files_that_end_are_one_stream_for_run_and_watch(tmp_path: Path) -> None:
    folder = _ending_files(tmp_path / "s")
    query = xsc.query('count(stream("s")//b)')
    assert list(query.run(s=folder)) == [2]
    (only,) = query.watch(s=folder, policy="strict")
    assert "2" in str(only)


def test_what_comes_too_late_is_kept_whole_with_its_line(tmp_path: Path) -> None:
    late = '<filler id="2" tsid="2" validTime="2020-01-02"><b>2</b></filler>'
    (tmp_path / "s.xml").write_text(
        '<structure><tag id="1" name="a"><tag id="2" name="b" type="event"/></tag></structure>\n'
        '<filler id="0" tsid="1" validTime="2020-01-01"><a><hole id="1" tsid="2"/></a></filler>\n'
        f'<filler id="1" tsid="2" validTime="2020-01-05"><b>1</b></filler>\n {late}\n'
    )
    kept = tmp_path / "late.xml"
    told = ["-i", f"s={tmp_path / 's.xml'}", "--lateness", "P1D", "--quarantine", str(kept)]
    assert main(["watch", *told, "-q", 'stream("s")//b']) == 0
    assert kept.read_text().startswith("<!-- XSCF0014 s:4:2 (fragment 2, byte ")
    assert "<b>2</b></filler>\n" in kept.read_text()
