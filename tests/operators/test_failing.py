"""A query that fails with what has arrived so far says so, once, when that lasts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.operators.watched import Watched
from xstreamcast.api import Queries, compiled
from xstreamcast.edges.watching import WatchOptions, failing
from xstreamcast.edges.watching.metrics import Metrics
from xstreamcast.edges.watching.run import Watching
from xstreamcast.errors import Error

HEAD = b"""<structure><tag id="1" name="r"><tag id="2" name="u" type="temporal"/></tag></structure>
<filler id="0" tsid="1" validTime="2026-01-01"><r><hole id="1" tsid="2"/></r></filler>"""
BAD = b'<filler id="1" tsid="2" validTime="2026-01-02"><u>many</u></filler>'
GOOD = b'<filler id="1" tsid="2" validTime="2026-01-03"><u>3</u></filler>'
QUERY = 'stream("s")//u?[now] ! xs:integer(.)'


def notes(*pieces: bytes) -> tuple[list[str], list[str]]:
    """What was noted, and the items that came."""
    said: list[str] = []

    def source() -> Iterator[bytes]:
        yield from pieces

    watching = Watching(
        {"q": compiled(QUERY)}, {"s": source()}, WatchOptions(batch=1, say=said.append)
    )
    came = [one.item or "" for changes in watching.ticks() for one in changes if one.diff > 0]
    return said, came


def test_an_error_that_lasts_is_noted_once_and_when_it_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(failing, "LASTS", 0.0)
    said, came = notes(HEAD, BAD, b"", b"", b"", GOOD, b"")
    first, second = [one for one in said if "the query" in one]
    assert first.startswith("the query fails with what has arrived so far: error[FORG0001]")
    assert second == "the query has an answer again"
    assert came == ["3"]


def test_an_error_of_a_moment_is_no_news() -> None:
    said, came = notes(HEAD, BAD, b"", GOOD, b"")
    assert [one for one in said if "the query" in one] == []
    assert came == ["3"]


def test_metrics_have_the_code() -> None:
    seen: list[list[str]] = []
    metrics = Metrics(
        None, 0.0, show=lambda numbers: seen.append([one["code"] for one in numbers["failing"]])
    )
    options = WatchOptions(batch=1, metrics=metrics)
    pieces = iter((HEAD, BAD, b"", GOOD, b""))
    assert list(Watching({"q": compiled(QUERY)}, {"s": pieces}, options).ticks())
    assert ["FORG0001"] in seen
    assert seen[-1] == []


def test_of_several_queries_the_one_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing, "LASTS", 0.0)
    said: list[str] = []
    seen: list[list[str]] = []
    metrics = Metrics(
        None, 0.0, show=lambda numbers: seen.append([one["query"] for one in numbers["failing"]])
    )
    options = WatchOptions(batch=1, say=said.append, metrics=metrics)
    several = Queries({"whole": QUERY, "counted": 'count(stream("s")//u)'})
    pieces = iter((HEAD, BAD, b"", b"", GOOD, b""))
    assert list(several.watching(None, {"s": pieces}, options).ticks())
    assert [one.partition(" fails")[0] for one in said if " fails" in one] == ["the query whole"]
    assert "the query whole has an answer again" in said
    assert ["whole"] in seen
    assert seen[-1] == []


def test_at_the_end_it_is_an_error() -> None:
    with pytest.raises(Error) as caught:
        notes(HEAD, BAD, b"")
    assert caught.value.code == "FORG0001"


def test_an_error_that_cannot_go_away_is_raised_at_the_tick_that_makes_it_so() -> None:
    text = 'for $a in stream("a")//u, $b in stream("b")//u where $a/k eq $b/k return 1'
    beside = Watched(text, {"a": "document", "b": "document"})
    beside.feed("a", b"<r><u><k>1</k></u></r>")
    beside.feed("b", b"<r><u><k>1</k><k>1</k></u>")
    assert beside.watch.failing is not None, "units of b are compared again until a has ended"
    with pytest.raises(Error, match="XPTY0004"):
        beside.end("a")
