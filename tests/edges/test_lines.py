"""Lines of JSON and records of CSV written as XML: beside fn:json-to-xml and Python's csv."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import xstreamcast as xsc
from xstreamcast.cli.main import main
from xstreamcast.edges.lines import LONGEST, LineForm, LinesAsXml, LineWriter, element_name
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.form import parse_mapping
from xstreamcast.errors import Error
from xstreamcast.functions.json.xml import document
from xstreamcast.model.fragment import Refused
from xstreamcast.tape.store import Store

JSON = LineForm("ndjson")
AB = LineForm("csv", ("a", "b"), header=False)


def written(form: LineForm, data: bytes, cuts: tuple[int, ...] = ()) -> list[LinesAsXml]:
    writer, out, at = LineWriter(form), [], 0
    for end in (*sorted({cut % (len(data) + 1) for cut in cuts}), len(data)):
        out.append(writer.feed(data[at:end]))
        at = end
    out.append(writer.end_input())
    return [one for one in out if one is not None]


def rows(found: list[LinesAsXml]) -> list[list[str]]:
    """The values of each row that is good."""
    out = []
    for one in found:
        root = etree.fromstring(b"<rows>" + one.xml.tobytes() + b"</rows>")
        out += [[cell.text or "" for cell in row] for row in root]
    return out


def reasons(found: list[LinesAsXml]) -> list[tuple[int, str]]:
    return [(one.number(r), why) for one in found for r, why in sorted(one.reasons.items())]


# -- JSON ------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def by_function(line: str) -> bytes:
    store = Store()
    handle = document(store, line)
    return store.node(handle).tape.serialize()


@given(st.lists(VALUES, max_size=5), st.booleans(), st.lists(st.integers(0, 10_000), max_size=3))
def test_json_is_what_the_function_makes_of_it(values: list[Any], ascii: bool, cuts: Any) -> None:
    texts = [json.dumps(value, ensure_ascii=ascii) for value in values]
    found = written(JSON, "\n".join(texts).encode(), tuple(cuts))
    assert not reasons(found)
    made = [line for one in found for line in one.xml.tobytes().split(b"\n") if line]
    expected = [etree.canonicalize(by_function(text).decode()) for text in texts]
    assert [etree.canonicalize(one.decode()) for one in made] == expected


@given(st.lists(st.text('{}[]:,"\\u0018eEtrufalsn-+. é\t', max_size=12), max_size=4))
def test_what_is_no_json_is_refused_by_both(lines: list[str]) -> None:
    found = written(JSON, "\n".join(lines).encode())
    bad = {number for number, _ in reasons(found)}
    for number, line in enumerate(lines, start=1):
        if not line.strip(" \t\r"):
            continue
        try:
            by_function(line)
        except Error:
            assert number in bad, line
        else:
            assert number not in bad, line


def test_a_reason_is_that_of_the_function() -> None:
    found = written(JSON, b'{"a": 1}\n{"a": 1,}\n\n1\n' + b"[" * 600 + b"]" * 600)
    assert reasons(found) == [
        (2, "column 9: must be a key in quotes; got '}'"),
        (5, "brackets must not be open more than 500 deep"),
    ]


# -- CSV ------------------------------------------------------------

CELLS = st.text(st.sampled_from('ab,"\r\n&<>; é\t'), max_size=6)


@given(
    st.lists(st.tuples(CELLS, CELLS).filter(any), max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.lists(st.integers(0, 200), max_size=4),
)
def test_csv_is_read_as_python_reads_it(given_rows: Any, ending: str, cuts: Any) -> None:
    out = io.StringIO(newline="")
    if ending == "\r\n":
        csv.writer(out, lineterminator=ending).writerows(given_rows)
    else:  # a bare \r is not quoted
        csv.writer(out, lineterminator=ending, quoting=csv.QUOTE_ALL).writerows(given_rows)
    data = out.getvalue()
    expected = [row for row in csv.reader(io.StringIO(data, newline=""), strict=True) if row]
    found = written(AB, data.encode(), tuple(cuts))
    assert not reasons(found)
    assert rows(found) == expected


def test_records_that_do_not_fit_are_told_apart() -> None:
    data = b'1,2\n3\n"a"b,c\n4,5,6\n7,\x018\n"x,9\ny",10\n11,12\n"open,13\n14,15'
    found = written(AB, data)
    assert rows(found) == [["1", "2"], ["x,9\ny", "10"], ["11", "12"], ["14", "15"]]
    assert reasons(found) == [
        (2, "a record must have 2 values; got 1"),
        (3, "a delimiter or the end of the line must follow a closing quote"),
        (4, "a record must have 2 values; got 3"),
        (5, "a control character that XML does not have"),
        (9, "a quote is never closed"),
    ]


def test_a_quote_that_is_never_closed_does_not_hold_the_rest_of_the_stream() -> None:
    writer = LineWriter(AB)
    good = b"1,2\n" * (LONGEST // 4 + 10)
    found = [writer.feed(b'"oops\n'), writer.feed(good), writer.end_input()]
    count = sum(len(one.good) for one in found if one is not None)
    assert count == LONGEST // 4 + 10


def test_a_header_names_the_columns_of_each_file() -> None:
    writer = LineWriter(LineForm("csv", delimiter=";"))
    for data in (b"\xef\xbb\xbfid;First Name\n1;x\n", b"First Name;id\r\nx;1\r\n"):
        first, second = writer.feed(data), writer.end_input()
        assert second is None
        assert first is not None
        row = etree.fromstring(first.xml.tobytes())
        assert {cell.tag: cell.text for cell in row} == {"id": "1", "First_Name": "x"}


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("a b", "a_b"),
        ("", "c3"),
        ("1st", "_1st"),
        ("prix (€)", "prix__€_"),
        ("é", "é"),
        ("a:b", "a_b"),
    ],
)
def test_columns_become_names(column: str, name: str) -> None:
    assert element_name(column, 3) == name


# -- through a mapping ------------------------------------------------------------

ROOMS = """
[message]
type = "ndjson"
[unit.room]
key  = "*[@key='id']"
from = "*[@key='at']"
remove = "*[@key='state'] = 'gone'"
"""


def feed(tmp_path: Path, mapping: str, name: str, data: str) -> str:
    (tmp_path / "m.toml").write_text(mapping)
    (tmp_path / name).write_text(data)
    return f"{tmp_path}/m.toml:{tmp_path}/{name}"


def asked(query: str, source: str) -> tuple[list[str], list[str]]:
    """The answer, the same from `run` and from `watch`, and what was refused."""
    from xstreamcast.model.change import Accumulated

    refused: list[Refused] = []
    found = list(xsc.query(query).run(s=source, keep=refused.append).lines())
    told = Accumulated()
    for change in xsc.query(query).watch(s=source):
        told.apply(change)
    assert told.items() == found
    return found, [f"{one.code} {one.reason} {one.raw.decode()}" for one in refused]


def test_lines_of_json_are_units_with_versions(tmp_path: Path) -> None:
    lines = (
        '{"id": 1, "at": "2024-05-01T08:00:00Z", "state": "free"}\n'
        '{"id": 2, "at": "2024-05-01T08:00:00Z", "state": "free"}\n'
        "nothing\n"
        '{"id": 1, "at": "2024-05-01T09:00:00Z", "state": "taken"}\n'
        '{"at": "2024-05-01T09:00:00Z"}\n'
        '{"id": 2, "at": "2024-05-01T09:30:00Z", "state": "gone"}'
    )
    source = feed(tmp_path, ROOMS, "rooms.ndjson", lines)
    found, refused = asked('stream("s")//fn:map?[now]/*[@key="state"]/string()', source)
    assert found == ["taken"]
    place = f"{tmp_path}/rooms.ndjson line"
    assert sorted(refused) == [
        f"XSCM0002 {place} 3: column 1: must be a value; got 'nothing' nothing",
        f"XSCM0003 {place} 5: the key *[@key='id'] must be one value; got none "
        '{"at": "2024-05-01T09:00:00Z"}',
    ]  # fmt: skip
    found, _ = asked('stream("s")//*:map[*:number = 1]/*[@key="state"]/string()', source)
    assert found == ["free", "taken"]


TOLLS = """
[message]
type = "csv"
columns = ["type", "time", "vid", "speed"]
[unit.report]
type = "event"
from = { path = "time", format = "epoch" }
"""


def test_records_of_csv_are_events(tmp_path: Path) -> None:
    source = feed(tmp_path, TOLLS, "tolls.csv", "0,10,7,55\n0,20,8,60\n0,x,9,60\n0,30\n0,30,7,50\n")
    found, refused = asked('sum(stream("s")//row[vid = 7]/speed)', source)
    assert found == ["105"]
    refused.sort()
    assert [one.split(" ", 1)[0] for one in refused] == ["XSCM0002", "XSCM0004"]
    assert refused[1].endswith("line 3: unit.report.from must be a time; got 'x' 0,x,9,60")


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ('type = "tsv"', "message.type must be xml, json, ndjson or csv; got 'tsv'"),
        ('type = "ndjson"\ncolumns = ["a"]', "message.columns has a meaning for type"),
        ('type = "csv"\nheader = false', "message.columns is missing: there is no header"),
        ('type = "csv"\ndelimiter = "::"', "message.delimiter must be one ASCII character"),
        ('type = "csv"\ncolumns = [1]', "message.columns must be a list of names"),
        ('type = "csv"\nlevel = 1', "message.level has no meaning for type = 'csv'"),
    ],
)
def test_what_a_mapping_may_not_say_of_lines(message: str, said: str) -> None:
    with pytest.raises(Error, match=said):
        parse_mapping(f'[message]\n{message}\n[unit.u]\nkey = "a"', "m")


def test_a_line_that_is_no_text_is_refused_alone() -> None:
    decoder = MappingDecoder("s", parse_mapping(TOLLS, "m"))
    found = decoder.feed(b"0,1,7,55\n0,2,\xff,55\n0,3,7,55\n") + decoder.close()
    assert [one.raw for one in found if isinstance(one, Refused)] == [b"0,2,\xff,55"]
    assert (decoder.counts.read, decoder.counts.units) == (3, 2)


def test_cut_anywhere_the_fragments_are_the_same() -> None:
    data = "".join(f"0,{i},{i % 5},{i}\n" for i in range(50)).encode()
    counts = []
    for size in (1, 7, 1000):
        decoder = MappingDecoder("s", parse_mapping(TOLLS, "m"))
        for at in range(0, len(data), size):
            decoder.feed(data[at : at + size])
        decoder.close()
        counts.append((decoder.counts.read, decoder.counts.units, decoder.counts.refused))
    assert counts == [(50, 50, 0)] * 3


# -- proposals ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        (
            "rooms.csv",
            "id;changed;state\nA1;2024-05-01T07:00:00Z;free\nA2;2024-05-01T07:30:00Z;closed\n",
            ['type = "csv"', 'delimiter = ";"', 'key = "id"', 'from = "changed"',
             "remove = \"state = ('closed')\"", 
             "# 2 messages: 1 unit, 1 version, 1 removal, 0 refused"],
        ),
        (
            "rooms.log",
            '{"room": {"id": "A1"}, "changed": "2024-05-01T07:00:00Z"}\n'
            '{"room": {"id": "A2"}, "changed": "2024-05-01T07:00:00Z"}\n',
            ['type = "ndjson"', "key = \"*[@key='room']/*[@key='id']\"",
             "from = \"*[@key='changed']\"",
             "# 2 messages: 2 units, 2 versions, 0 removals, 0 refused"],
        ),
        (
            "tolls.csv", "0,10,7\n0,20,8\n",
            ['type = "csv"', 'columns = ["c1", "c2", "c3"]', 'type = "event"'],
        ),
    ],
)  # fmt: skip
def test_a_mapping_is_proposed_for_lines(
    name: str, data: str, expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(data)
    assert main(["map", str(tmp_path / name)]) == 0
    said = [line.split("  # ")[0] for line in capsys.readouterr().out.splitlines()]
    assert [line for line in expected if line not in said] == []
