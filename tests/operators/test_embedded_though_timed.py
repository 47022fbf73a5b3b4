"""Elements whose tag has a time, but which arrive inside of what contains them (as in seed 000)."""

from __future__ import annotations

from itertools import permutations

import pytest

import xstreamcast as xsc
from tests.operators.watched import Watched

STRUCTURE = (
    '<structure><tag type="snapshot" id="1" name="bank"><tag type="temporal" id="2" name="account">'
    '<tag type="snapshot" id="3" name="customer"/><tag type="temporal" id="4" name="limit"/>'
    '<tag type="event" id="5" name="transaction"><tag type="snapshot" id="6" name="vendor"/>'
    '<tag type="temporal" id="7" name="status"/></tag></tag></tag></structure>'
)
FRAGMENTS = (
    '<filler id="0" tsid="1" validTime="2003-01-01"><bank><hole id="1" tsid="2"/></bank></filler>',
    '<filler id="1" tsid="2" validTime="2003-01-02"><account><customer>J</customer><limit>5</limit>'
    '<transaction><vendor>A</vendor><hole id="9" tsid="7"/></transaction><hole id="8" tsid="5"/>'
    "</account></filler>",
    '<filler id="8" tsid="5" validTime="2003-01-02"><transaction><vendor>B</vendor><status>new'
    "</status></transaction></filler>",
    '<filler id="9" tsid="7" validTime="2003-01-03"><status>charged</status></filler>',
)
QUERIES = (
    'count(stream("s")//transaction)',
    'stream("s")//transaction/vendor/string()',
    'stream("s")/bank/account/transaction[vendor = "A"]/status?[now]/string()',
    'for $t in stream("s")//transaction where $t/status = "charged" return $t/vendor/string()',
    'for $a in stream("s")//account return <a>{count($a/transaction), sum($a/limit)}</a>',
    'stream("s")//status/string()',
    'for $t in stream("s")//transaction group by $v := string($t/vendor) return $v',
    'exists(stream("s")//limit)',
)


@pytest.mark.parametrize("query", QUERIES)
def test_the_answer_is_that_of_run_where_what_is_dropped_is_not_needed_later(query: str) -> None:
    wire = f"{STRUCTURE}{''.join(FRAGMENTS)}"
    expected = list(xsc.query(query).run(s=wire.encode()).lines())
    assert expected
    # before the account comes, what a query does not seem to need may be dropped
    for order in permutations((FRAGMENTS[0], *FRAGMENTS[2:])):
        following = Watched(query)
        for line in (STRUCTURE, FRAGMENTS[1], *order):
            following.feed("s", line.encode())
            assert following.told.items() == following.afresh(), order
        assert following.told.items() == expected


@pytest.mark.parametrize("query", QUERIES)
def test_accounts_without_transactions_may_come_first(query: str) -> None:
    following = Watched(query)
    hole = '<hole id="1" tsid="2"/>'
    for line in (
        STRUCTURE,
        FRAGMENTS[0].replace(hole, f'<hole id="2" tsid="2"/>{hole}'),
        '<filler id="2" tsid="2" validTime="2003-01-02"><account><customer>K</customer></account>'
        "</filler>",
        FRAGMENTS[1],
        FRAGMENTS[3],
    ):
        following.feed("s", line.encode())
        assert following.told.items() == following.afresh()


@pytest.mark.parametrize("query", QUERIES)
def test_a_policy_changes_nothing_in_the_end(query: str) -> None:
    wire = f"{STRUCTURE}{''.join(FRAGMENTS)}".encode()
    following = Watched(query, policy="strict")
    following.feed("s", wire)
    following.end()
    assert following.told.items() == list(xsc.query(query).run(s=wire).lines())
