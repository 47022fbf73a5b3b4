"""Streams of changes: read back they are the answer; as update events too."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.conftest import examples
from tests.edges.change_streams import change_streams
from xstreamcast.edges.changes import ChangeReader, read, write
from xstreamcast.edges.updates import Regions, apply
from xstreamcast.edges.updates.answers import EventWriter, items
from xstreamcast.edges.updates.events import Event
from xstreamcast.edges.updates.lines import LineReading, line
from xstreamcast.edges.updates.parts import EventPart
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated, Change, restart_line


@given(change_streams(), st.integers(1, 200))
def test_lines_are_read_to_the_same_answer_however_they_are_cut(changes, size) -> None:
    raw = "".join(write(changes)).encode()
    reader, found = ChangeReader(), []
    for at in range(0, len(raw), size):
        found += reader.feed(raw[at : at + size])
    found += reader.close()
    assert found == changes
    assert list(reader) == list(Accumulated(changes))


def test_a_line_is_exactly_what_the_page_says() -> None:
    change = Change(0, 1, "a", None, "<é/>")
    assert list(write([change])) == [
        '{"time":"1970-01-01T00:00:00Z","diff":1,"key":"a","after":null,"item":"<é/>"}\n'
    ]


def test_the_answer_is_there_after_each_change() -> None:
    changes = [
        Change(0, 1, "a", None, "1"),
        Change(0, 1, "b", None, "2"),
        Change(0, -1, "a", "b", "1"),
        Change(0, 1, "a", "b", "3"),
    ]
    assert [answer.items() for answer in read(write(changes))] == [
        ["1"], ["2", "1"], ["2"], ["2", "3"],
    ]  # fmt: skip


@given(change_streams(), change_streams())
def test_behind_a_restart_is_the_whole_answer(before, behind) -> None:
    lines = [*write(before), restart_line(0) + "\n", *write(behind)]
    reader = ChangeReader()
    found = reader.feed("".join(lines).encode())
    assert list(reader) == list(Accumulated(found)) == list(Accumulated(behind))
    assert len(found) == len(before) + len(Accumulated(before)) + len(behind)


@settings(max_examples=examples(25))
@given(change_streams(), change_streams())
def test_a_query_that_reads_changes_sees_what_is_behind_a_restart(before, behind) -> None:
    query = xsc.query('for $x in stream("s")/answer/* return <i>{$x}</i>')
    instant = max([0, *(one.instant for one in before)])
    later = [replace(one, instant=one.instant + instant) for one in behind]
    both = "".join([*write(before), restart_line(instant) + "\n", *write(later)])
    alone = "".join([restart_line(0) + "\n", *write(behind)])
    expected = list(query.run(s=alone.encode()).lines())
    assert list(query.run(s=both.encode()).lines()) == expected
    watched = query.watch(s=iter([both.encode()]), batch=3)
    assert Accumulated(watched).items() == expected


GOOD = '{"time":"1970-01-01T00:00:00Z","diff":1,"key":"a","after":null,"item":""}'


@pytest.mark.parametrize(
    "line",
    [
        "no",
        "[]",
        GOOD,
        GOOD.replace('"a"', '"b"').replace("null", '"z"'),
        GOOD.replace("1,", "-1,").replace('"a"', '"b"'),
        GOOD.replace("1,", "2,"),
        GOOD.replace('"item":""', '"item":7'),
    ],
)
def test_a_line_that_does_not_fit_is_an_error_with_its_number(line: str) -> None:
    reader = ChangeReader("answers.ndjson")
    reader.take(GOOD)
    reader.take("")
    with pytest.raises(Error, match=r"XSCC0001.*answers\.ndjson:3"):
        reader.take(line)
    assert list(reader) == [("a", "")]


def test_bytes_that_are_no_text_are_an_error_too() -> None:
    with pytest.raises(Error, match=r"XSCX0002.*changes:1"):
        ChangeReader().feed(b"\xff\n")


def test_a_change_costs_the_same_in_a_long_answer() -> None:
    reader = ChangeReader()
    for n in range(50_000):
        reader.apply(Change(0, 1, str(n), None, "x"))
    start = time.process_time()
    for n in range(20_000):
        reader.apply(Change(0, -1, str(n), None, "x"))
        reader.apply(Change(0, 1, str(n), "49999", "y"))
    assert time.process_time() - start < 2
    assert len(reader) == 50_000


def batches(changes: list[Change], size: int) -> list[list[Change]]:
    """Cut anywhere but within a revision."""
    out: list[list[Change]] = []
    for change in changes:
        if not out or (len(out[-1]) >= size and change.diff < 0):
            out.append([])
        out[-1].append(change)
    return out


@given(change_streams(), st.integers(1, 5))
def test_the_events_of_changes_tell_the_same_answer(changes, size) -> None:
    writer, events, regions = EventWriter(), list[Event](), Regions()
    told: list[Change] = []
    for batch in batches(changes, size):
        told += batch
        new = list(writer.write(batch))
        events += new
        for event in new:
            regions.take(event)
        answer = Accumulated(told).items()
        assert items(regions.current()) == answer
        assert items(apply(events)) == answer


@given(change_streams())
def test_and_are_read_back_from_lines(changes) -> None:
    writer = EventWriter()
    events = [*writer.write(changes), *writer.end()]
    parts = list(LineReading().feed(b"".join(map(line, events))))
    assert [part.event for part in parts if isinstance(part, EventPart)] == events


def test_a_revision_is_a_replacement_in_place() -> None:
    writer = EventWriter()
    list(writer.write([Change(0, 1, "a", None, "1")]))
    revised = [Change(0, -1, "a", None, "1"), Change(0, 1, "a", None, "<b/>")]
    assert [line(event).decode().strip() for event in writer.write(revised)] == [
        '{"event":"sR","target":"key:a","id":"key:a"}',
        '{"event":"sT","id":"key:a"}',
        '{"event":"sE","id":"key:a","tag":"b"}',
        '{"event":"eE","id":"key:a","tag":"b"}',
        '{"event":"eT","id":"key:a"}',
        '{"event":"eR","target":"key:a","id":"key:a"}',
    ]


def test_a_field_of_another_type_is_not_called_missing() -> None:
    line = '{"time":"2024-01-01T00:00:00Z","diff":1,"key":"a","after":null,"item":5}'
    with pytest.raises(Error, match="diff is 1 or -1, after a string or null, and the others str"):
        Change.from_json(line)
    with pytest.raises(Error, match="must have time, diff, key, after, item; got"):
        Change.from_json("{}")
