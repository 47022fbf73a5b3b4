"""Elements that the structure does not declare: a query that looks for them needs all that came."""

from __future__ import annotations

from itertools import permutations

import pytest

import xstreamcast as xsc
from tests.operators.watched import Watched

STRUCTURE = (
    '<structure><tag id="1" name="r" type="snapshot"><tag id="2" name="a" type="temporal">'
    '<tag id="3" name="k"/></tag><tag id="4" name="e" type="event"/></tag></structure>'
)
FRAGMENTS = (
    '<filler id="0" tsid="1" validTime="2020-01-01"><r><hole id="1" tsid="2"/>'
    '<hole id="2" tsid="2"/></r></filler>',
    '<filler id="1" tsid="2" validTime="2020-01-02"><a><k>0</k></a></filler>',
    '<filler id="2" tsid="2" validTime="2020-01-02"><a><k>1</k><x>u</x></a></filler>',
    '<filler id="1" tsid="2" validTime="2020-01-04"><a><x><k>5</k></x></a></filler>',
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('stream("s")//x/string()', ["5", "u"]),
        ('for $a in stream("s")//a where $a/x = "u" return $a/k/string()', ["1"]),
    ],
)
def test_the_answer_is_that_of_run_in_every_order(query: str, expected: list[str]) -> None:
    wire = f"{STRUCTURE}{''.join(FRAGMENTS)}".encode()
    assert list(xsc.query(query).run(s=wire).lines()) == expected
    for order in permutations(FRAGMENTS[1:]):
        following = Watched(query)
        for line in (STRUCTURE, FRAGMENTS[0], *order):
            following.feed("s", line.encode())
            assert following.told.items() == following.afresh(), order
        assert following.told.items() == expected
