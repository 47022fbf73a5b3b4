"""A lifespan without any length: no version of a versioned unit, the instant of an event."""

from __future__ import annotations

import pytest

from tests.history.test_semantics import asked, stream

pytest.importorskip("saxonche")

DAY = "2020-01-0{}"
ROOT = (
    '<stream:filler id="0" tsid="1" validTime="2020-01-01"><r><stream:hole id="1" tsid="2"/>'
    '<stream:hole id="2" tsid="3"/><stream:hole id="3" tsid="2"/></r></stream:filler>'
)


def said(code: int, name: str, text: str, begin: int, more: str = "") -> str:
    head = f'id="{code}" tsid="{2 if name == "a" else 3}" validTime="{DAY.format(begin)}"'
    return f"<stream:filler {head} {more}><{name}>{text}</{name}></stream:filler>"


def until(day: int, temporary: bool = False) -> str:
    return f'validTo="{DAY.format(day)}"' + (' temporary="true"' if temporary else "")


TEMPORARY_ELSEWHERE = said(3, "a", "elsewhere", 2, until(4, temporary=True))
CASES = {
    "an event counts at its instant": ([said(2, "e", "x", 3, until(3))], ["x"]),
    "whatever else is temporary": (
        [said(2, "e", "x", 3, until(3)), TEMPORARY_ELSEWHERE],
        ["x", "elsewhere"],
    ),
    "an event that is temporary hides no other and happens once": (
        [
            said(2, "e", "x", 3),
            said(2, "e", "y", 4, until(5, temporary=True)),
            said(2, "e", "z", 6),
        ],
        ["x", "y", "z"],
    ),
    "an event that is temporary for no time": (
        [said(2, "e", "x", 3), said(2, "e", "y", 4, until(4, temporary=True))],
        ["x", "y"],
    ),
    "no version of a versioned unit, but the end of the one before": (
        [said(1, "a", "x", 2), said(1, "a", "y", 4, until(4))],
        ["x"],
    ),
    "so it is with something temporary": (
        [
            said(1, "a", "x", 2),
            said(1, "a", "t", 3, until(5, True)),
            said(1, "a", "y", 6, until(6)),
        ],
        ["x", "t", "x"],
    ),
    "what is temporary for no time hides nothing": (
        [said(1, "a", "x", 2), said(1, "a", "t", 4, until(4, True))],
        ["x"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_lifespan_without_length(case: str) -> None:
    lines, expected = CASES[case]
    for order in (lines, lines[::-1]):
        wire = stream(ROOT, *order, '<stream:heartbeat validTime="2020-01-09"/>')
        assert asked('stream("s")/r/*/string()', wire) == expected
        assert asked('stream("s")/r/*', wire)
        assert asked('count(stream("s")//e)', wire)
        asked('for $a in stream("s")//a?[2020-01-01, 2020-01-06] return vtTo($a)', wire)


def test_a_root_that_holds_at_no_instant_is_none() -> None:
    head = 'tsid="1" validTime="2020-01-01" validTo="2020-01-01" temporary="true"'
    wire = stream(
        ROOT, said(1, "a", "x", 2), f'<stream:filler id="9" {head}><r>other</r></stream:filler>'
    )
    assert asked('stream("s")//a/string()', wire) == ["x"]
