"""What repeats a content and what corrects it, also where a query reads only a part of it.

Both move the clock to their message time: a continuous query, a query once, and Saxon agree.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import xstreamcast as xsc
from tests.operators.watched import Watched
from tests.oracle import answer, canonical

pytest.importorskip("saxonche")

HEAD = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
    '<tag id="1" name="r" type="snapshot"><tag id="2" name="a" type="temporal" filler="true">'
    '<tag id="3" name="b"/><tag id="4" name="c"/></tag></tag></stream:structure>'
)
ROOT = '<stream:filler id="0" tsid="1" validTime="2020-03-01"><r>{}</r></stream:filler>'.format(
    '<stream:hole id="1" tsid="2"/>'
)
ELAPSED = 'stream("s")//a ! (now - vtFrom(.))'


def sent(word: str, b: int, c: int = 1, at: str = "2020-03-01", said: str = "") -> str:
    """A fragment of the one unit."""
    times = f'validTime="{at}"' if at else ""
    times += f' messageTime="{said}"' if said else ""
    content = f"<a><b>{b}</b><c>{c}</c></a>"
    return f'<stream:{word} id="1" tsid="2" {times}>{content}</stream:{word}>'


def answers(query: str, lines: Sequence[str]) -> list[str]:
    """What Saxon answers, if all others do, however the query is left running."""
    wire = "\n".join([HEAD, *lines, "</stream:fragments>"]).encode()
    expected = answer(query, {"s": wire})
    assert [canonical(one) for one in xsc.query(query).run(s=wire).lines()] == expected
    for stop in range(len(lines) + 1):
        watched = Watched(query, {"s": "fragments"})
        for i, line in enumerate([HEAD, *lines]):
            watched.feed("s", line.encode())
            if i == stop:
                watched.restart()
        assert [canonical(one) for one in watched.told.items()] == expected
    return expected


@pytest.mark.parametrize("word", ["filler", "replace", "repeat"])
@pytest.mark.parametrize("b", [2, 3], ids=["repeats", "corrects"])
def test_message_times_move_the_clock_whatever_a_query_reads(word: str, b: int) -> None:
    lines = [ROOT, sent("filler", 2), sent(word, b, said="2020-03-05")]
    assert answers(ELAPSED, lines) == ["P4D"]
    assert answers('stream("s")//a/c/string()', lines) == ["1"]


def test_a_version_that_is_cut_at_now_ends_when_a_correction_was_written() -> None:
    lines = [ROOT, sent("filler", 2), sent("replace", 3, said="2020-03-05")]
    assert answers('stream("s")//a ! vtTo(.)', lines) == ["2020-03-05T00:00:00"]


def test_an_event_that_is_planned_counts_when_a_repetition_was_written_after_it() -> None:
    planned = sent("filler", 2, at="2020-03-04", said="2020-03-02")
    again = sent("repeat", 2, at="2020-03-04", said="2020-03-05")
    query = 'count(stream("s")//a)'
    assert answers(query, [ROOT, planned]) == ["0"]
    assert answers(query, [ROOT, planned, again]) == ["1"]
    assert answers(query, [ROOT, planned, sent("filler", 2, at="2020-03-04")]) == ["1"]


@pytest.mark.parametrize(
    "query", ['stream("s")//a/c/string()', 'for $x in stream("s")//a return string($x/c)']
)
def test_a_repeat_with_new_content_counts_though_the_part_that_is_read_came_before(
    query: str,
) -> None:
    lines = [ROOT, sent("filler", 2, 1), sent("replace", 2, 5), sent("repeat", 3, 1)]
    assert answers(query, lines) == ["1"]
    assert answers(query, [*lines[:3], sent("repeat", 2, 1)]) == ["5"]


@pytest.mark.parametrize("word", ["filler", "repeat"])
@pytest.mark.parametrize("said", ["", "2020-03-05"])
def test_what_has_no_valid_time_moves_the_clock_though_it_repeats(word: str, said: str) -> None:
    root = ROOT.replace(' validTime="2020-03-01"', "")
    lines = [root, sent("filler", 2, at=""), sent(word, 2, at="", said=said)]
    found = answers(ELAPSED, lines)
    assert found[0] == ("P18325DT23H59M58S" if said else "PT1S")
