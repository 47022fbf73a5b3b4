"""Instants as the papers print them, without seconds."""

from __future__ import annotations

import pytest

import xstreamcast as xsc
from tests.history.test_documents import WIRE
from tests.oracle import STRATEGIES, translated

SHORT = {
    'stream("s")//b?[2020-01-02T10:00]': 'stream("s")//b?[2020-01-02T10:00:00]',
    'stream("s")//b?[2020-01-02T10:00Z,now]': 'stream("s")//b?[2020-01-02T10:00:00Z,now]',
    "2020-01-02T10:00+01:00": "2020-01-02T10:00:00+01:00",
    "2020-01-02T10:00 - PT1H": "2020-01-02T10:00:00 - PT1H",
}


@pytest.mark.parametrize("query", SHORT)
def test_seconds_may_be_left_out(query: str) -> None:
    long = list(xsc.query(SHORT[query]).run(s=WIRE).lines())
    assert long
    assert list(xsc.query(query).run(s=WIRE).lines()) == long
    told = (("s", b"<stream:structure><tag id='1' name='a'/></stream:structure>"),)
    for strategy in STRATEGIES:
        assert translated(query, strategy, told, "") == translated(SHORT[query], strategy, told, "")


def test_as_of_an_instant_without_seconds() -> None:
    query = xsc.query('stream("s")//b')
    assert [node.string for node in query.run(s=WIRE, as_of="2020-01-02T10:00")] == ["1"]
