"""What fuzzing found, in its smallest form: each is answered as Saxon answers it, in every way."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.fuzz_queries import check_query

pytest.importorskip("saxonche")

HEAD = '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
ABC = (
    '<tag id="0" name="r" type="snapshot"><tag id="1" name="a" type="temporal" filler="true">'
    '<tag id="2" name="b" type="snapshot" filler="true">'
    '<tag id="3" name="c" type="temporal" filler="true"/></tag></tag></tag>'
)


def at(minute: int) -> str:
    return f'validTime="2020-01-01T00:{minute:02}:00"'


def filler(head: str, minute: int, content: str) -> str:
    return f"<stream:filler {head} {at(minute)}>{content}</stream:filler>"


def root(minute: int, *holes: str) -> str:
    inside = "".join(f'<stream:hole id="{hole}" tsid="1"/>' for hole in holes)
    return filler('id="0" tsid="0"', minute, f"<r>{inside}</r>")


FOUND = {
    "a filler that no longer names the parent of the first id, at the same instant": (
        'for $x in stream("s")//a return 1', ABC,
        [
            root(7), filler('id="2" tsid="1" in="0"', 0, "<a/>"),
            filler('id="2" tsid="1"', 0, "<a/>"),
        ],
    ),
    "what begins in an element without versions after the version around that has ended": (
        'stream("s")//b', ABC,
        [
            filler('id="2" tsid="1"', 9, "<a/>"), f'<stream:remove id="2" tsid="1" {at(13)}/>',
            filler('id="5" tsid="2" in="2"', 8, "<b>x</b>"),
            filler('id="9" tsid="3" in="5"', 15, "<c/>"), root(2, "2"),
        ],
    ),
    "a count behind a descending order whose only key was empty before": (
        "for $x allowing empty in stream('s')/r/a order by $x/@k/number(.) descending count $c "
        "return <a>{ $x/@k, $c }</a>", ABC,
        [
            root(1, "2", "3"), filler('id="2" tsid="1"', 2, '<a k="1"/>'),
            filler('id="3" tsid="1"', 3, '<a k="2"/>'),
        ],
    ),
    "the clock of a message time without a time zone, where the valid time has one": (
        "for $x in stream('s')//a return <v>{ vtFrom($x), vtTo($x), now }</v>", ABC,
        [
            root(1, "2"), filler('id="2" tsid="1"', 2, "<a/>"),
            '<stream:filler id="3" tsid="1" validTime="2020-01-01T00:03:00Z" '
            'messageTime="2020-01-01T00:09:00"><a/></stream:filler>',
        ],
    ),
    "the clock of a message time with a time zone, where the valid time has none": (
        "for $x in stream('s')//a return <v>{ vtTo($x), now }</v>", ABC,
        [
            root(1, "2"), '<stream:filler id="2" tsid="1" validTime="2020-01-01T00:03:00" '
            'messageTime="2020-01-01T00:09:00Z"><a/></stream:filler>',
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("found", FOUND)
@pytest.mark.parametrize("seed", range(3))
def test_what_was_found_is_mended(found: str, seed: int, tmp_path: Path) -> None:
    query, structure, lines = FOUND[found]
    wire = "\n".join([f"{HEAD}{structure}</stream:structure>", *lines, "</stream:fragments>"])
    check_query(query, query, {"s": wire.encode()}, tmp_path, random.Random(seed))
