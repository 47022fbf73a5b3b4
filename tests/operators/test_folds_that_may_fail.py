"""Folds of groups that fail where no branch or condition reads them: the answer is that of run."""

from __future__ import annotations

import pytest

from tests.circuit.test_golden import circuit_text
from tests.operators.watched import Watched

A = 'stream("a")//u'
BY = f"for $x in {A} group by $k := string($x/k[1])"
QUERIES = (
    f"""for $x in {A} group by $k := $x/v castable as xs:integer order by $k
    return <g>{{ if ($k) then sum($x/v/xs:integer(.)) else count($x) }}</g>""",
    f"""{BY} order by $k
    return <g>{{ $k, try {{ sum($x/v/xs:integer(.)) }} catch * {{ "odd" }} }}</g>""",
    f"""{BY} order by $k return <g>{{ switch ($k) case "x" return max($x/v/xs:integer(.))
    default return count($x) }}</g>""",
    f"{BY} where $k = 'x' order by $k return <g>{{ $k, sum($x/v) }}</g>",
    f"""{BY} where (every $y in $x satisfies $y/v castable as xs:integer) and sum($x/v) > 1
    return <g>{{ $k }}</g>""",
    f"""declare function local:f($g) {{ avg($g/v) }};
    {BY} order by $k return <g>{{ if ($k = "x") then local:f($x) else "none" }}</g>""",
    f"""{BY} where $k = "x" let $m := avg($x/v) return <g>{{ $x[v > $m]/k }}</g>""",
)
STRUCTURE = (
    '<stream:fragments xmlns:stream="urn:xstreamcast:stream"><stream:structure>'
    '<tag id="1" name="r" type="snapshot"><tag id="2" name="u" filler="true"><tag id="3" name="k"/>'
    '<tag id="4" name="v"/></tag></tag></stream:structure>'
    '<stream:filler id="0" tsid="1" validTime="2020-01-01T00:00:00"><r>'
    '<stream:hole id="1" tsid="2"/><stream:hole id="2" tsid="2"/><stream:hole id="3" tsid="2"/>'
    "</r></stream:filler>"
)


def unit(number: int, k: str, v: str, second: int) -> str:
    return (
        f'<stream:filler id="{number}" tsid="2" validTime="2020-01-01T00:00:{second:02}">'
        f"<u><k>{k}</k><v>{v}</v></u></stream:filler>"
    )


@pytest.mark.parametrize("query", QUERIES)
def test_what_nobody_reads_does_not_fail(query):
    beside = Watched(query, {"a": "fragments"})
    beside.feed("a", STRUCTURE.encode())
    lines = (
        unit(1, "x", "3", 1), unit(2, "y", "?", 2), unit(3, "x", "4", 3), unit(1, "y", "5", 4),
        unit(2, "x", "7", 5), unit(2, "z", "!", 6),
    )  # fmt: skip
    for line in lines:
        beside.feed("a", line.encode())
        assert beside.watch.failing is None
        assert beside.told.items() == beside.afresh()


@pytest.mark.parametrize("query", QUERIES[1:4])
def test_while_nothing_fails_groups_keep_folds(query):
    assert "items" not in circuit_text(query)


def fails(beside: Watched) -> bool:
    return beside.watch.failing is not None


def test_what_fails_where_it_is_read_is_an_error_until_it_is_corrected():
    query = f"{BY} return <g>{{ if (count($x) > 1) then sum($x/v/xs:integer(.)) else $k }}</g>"
    beside = Watched(query, {"a": "fragments"})
    beside.feed("a", STRUCTURE.encode())
    beside.feed("a", (unit(1, "x", "3", 1) + unit(2, "x", "?", 2)).encode())
    assert fails(beside)
    beside.feed("a", unit(2, "x", "4", 3).encode())
    assert not fails(beside)
    assert beside.told.items() == beside.afresh() == ["<g>7</g>"]
