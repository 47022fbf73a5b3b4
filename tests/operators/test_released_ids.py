"""What is closed and older than the lateness goes, its id included: no structure grows with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given

import xstreamcast as xsc
from tests.fuzz.timed_cases import timed_cases
from tests.kept_rows import kept_rows
from tests.operators.test_removed import HEAD, LATE, QUERIES, when
from tests.streams_strategies import Case, cases
from xstreamcast.edges.watching import WatchOptions, arriving
from xstreamcast.edges.watching.run import Watching
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.model.instant import START, parse_instant
from xstreamcast.operators.forgetting import forgetting, released_ids

VALID = re.compile(r'validTime="([^"]+)"')
SAID = re.compile(r'messageTime="([^"]+)"')
OPEN = 40  # incidents at a time


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may go goes soon, so that short streams show it."""
    monkeypatch.setattr(released_ids, "_FEW", 64)
    monkeypatch.setattr(forgetting, "_FEW", 8)


def reports(count: int) -> Iterator[str]:
    """Incidents, each reported four times and then closed; OPEN of them at a time."""
    for number in range(count):
        at = number * 5
        for turn in range(4):
            second = at + turn
            content = f'<incident n="{number}"><severity>{(number + turn) % 10}</severity>'
            said = f'id="i{number}" validTime="{when(second)}" tsid="2" in="0"'
            yield f"<filler {said}>{content}</incident></filler>\n"
        if number >= OPEN:
            yield f'<remove id="i{number - OPEN}" validTime="{when(at + 4)}"/>\n'


def rows_after(text: str, counts: Sequence[int]) -> list[Counter[str]]:
    """What a running query holds when so many incidents have been closed."""
    lines = list(reports(max(counts) + OPEN + 10))
    pieces = ["".join(lines[at : at + 20]).encode() for at in range(0, len(lines), 20)]
    held: list[Counter[str]] = []

    def source() -> Iterator[bytes]:
        yield HEAD.encode()
        told = 0
        for piece in pieces:
            yield piece
            told += piece.count(b"<remove")
            if len(held) < len(counts) and told >= counts[len(held)]:
                held.append(kept_rows(watching.watch, watching._arriving))

    options = WatchOptions(batch=20, lateness=LATE * 10**6)
    watching: Watching = xsc.query(text).watching(None, {"s": source()}, options)
    for _ in watching.ticks():
        pass
    return held


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
def test_nothing_grows_with_what_is_closed(text: str) -> None:
    """What goes now and then goes by as much: the most of several moments is compared."""
    held = rows_after(text, [*range(300, 600, 25), *range(1500, 1800, 25)])
    early, late = (_most(held[:12]), _most(held[12:]))
    grown = {name: (early[name], rows) for name, rows in late.items() if rows > 1.3 * early[name]}
    assert {name: both for name, both in grown.items() if both[1] > both[0] + OPEN} == {}
    assert late["VersionUnits._slots"] < 10 * OPEN


def _most(held: list[Counter[str]]) -> Counter[str]:
    most: Counter[str] = Counter()
    for one in held:
        most |= one
    return most


@pytest.mark.usefixtures("eager")
def test_without_a_lateness_what_is_closed_stays_closed(tmp_path: Path) -> None:
    """An older content may come at any time: the removal hides it."""
    feed = tmp_path / "feed.xml"
    again = f'<filler id="i3" validTime="{when(17)}" tsid="2" in="0"><incident n="late"/></filler>'
    feed.write_text(HEAD + "".join(reports(300)) + again)
    text = 'stream("s")//incident?[now]/@n/string()'
    told = Accumulated()
    for change in xsc.query(text).watch(s=feed, batch=20):
        told.apply(change)
    assert told.items() == list(xsc.query(text).run(s=feed).lines())
    assert "late" not in told.items()


@pytest.mark.usefixtures("eager")
def test_what_is_sent_again_after_it_was_forgotten_is_too_late(tmp_path: Path) -> None:
    """Counted and refused, whatever was known of its id."""
    text, again = 'stream("s")//incident?[now]/@n/string()', next(reports(1))
    pieces = [HEAD, *reports(300), again]
    refused: list[str] = []
    options = WatchOptions(
        batch=20, lateness=LATE * 10**6, keep=lambda one: refused.append(one.code)
    )
    watching: Watching = xsc.query(text).watching(
        None, {"s": (one.encode() for one in pieces)}, options
    )
    told = Accumulated()
    for changes in watching.ticks():
        for change in changes:
            told.apply(change)
    assert watching.arriving["s"].late == 1
    assert refused == ["XSCF0014"]
    assert len(told.items()) == OPEN


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
def test_a_restart_knows_which_codes_are_free(text: str, tmp_path: Path) -> None:
    """Ids that come after it get codes that others had before the snapshot."""
    feed, lines = tmp_path / "feed.xml", list(reports(700))
    told = Accumulated()
    for until in (400, 1500, len(lines)):
        feed.write_text(HEAD + "".join(lines[:until]))
        options = WatchOptions(
            batch=20, lateness=LATE * 10**6, checkpoint=str(tmp_path / "kept"), snapshot_every=1
        )
        watching: Watching = xsc.query(text).watching(None, {"s": feed}, options)
        with closing(watching):
            for changes in watching.ticks():
                for change in changes:
                    told.apply(change)
        assert told.items() == _uninterrupted(text, feed)


def _uninterrupted(text: str, feed: Path) -> list[str]:
    told = Accumulated()
    options = WatchOptions(batch=20, lateness=LATE * 10**6)
    for changes in xsc.query(text).watching(None, {"s": feed}, options).ticks():
        for change in changes:
            told.apply(change)
    return told.items()


def lateness(wire: bytes) -> int:
    """By how much a fragment comes behind what is valid, or was said, later."""
    newest, most = START, 0
    for line in wire.decode().split("\n"):
        for said in VALID.findall(line):
            most = max(most, newest - instant_of(said) if newest > START else 0)
        newest = max([newest, *map(instant_of, (*VALID.findall(line), *SAID.findall(line)))])
    return most


def instant_of(text: str) -> int:
    found = parse_instant(text)
    assert found is not None
    return found[0]


def watched(text: str, case: Case, late: int | None) -> list[str] | None:
    """The answer of a running query that forgets all it may; None if it fails."""
    pieces = iter([line + b"\n" for line in case.wire.split(b"\n")])
    options = WatchOptions(batch=1, lateness=late)
    watching: Watching = xsc.query(text).watching(None, {"s": pieces}, options)
    told = Accumulated()
    try:
        for changes in watching.ticks():
            for change in changes:
                told.apply(change)
    except Error:
        return None
    assert watching.arriving["s"].late == 0
    return told.items()


@contextmanager
def forgetting_at_once() -> Iterator[None]:
    """All that may be forgotten is forgotten as soon as it may be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arriving, "is_worth", lambda ids: True)
        patch.setattr(forgetting, "_FEW", 0)
        yield


@given(cases() | timed_cases())
def test_answers_are_those_of_all_that_came(case: Case) -> None:
    for text in case.queries:
        with forgetting_at_once():
            found = watched(text, case, lateness(case.wire))
        if found is None:  # not for want of what was forgotten
            assert watched(text, case, None) is None
        else:
            assert found == list(xsc.query(text).run(s=case.wire).lines())
