"""The printed queries on windows and endless sequences, run over small data."""

from __future__ import annotations

import pytest

from tests.evaluate.asking import ask
from xstreamcast import query
from xstreamcast.errors import Error

TEMPS = b'<sensors><temp id="a">8</temp><temp id="b">12</temp><temp id="a">15</temp></sensors>'


def test_annoying_authors() -> None:
    items = "".join(f"<item><author>{name}</author></item>" for name in "AAABCCCC")
    found = ask(
        "forseq $w in /rss/item tumbling window start curItem $first when fn:true() "
        "end nextItem $lookAhead when $first/author ne $lookAhead/author "
        "where count($w) ge 3 return string($w[1]/author)",
        f"<rss>{items}</rss>",
    )
    assert found == ["A", "C"]


def test_sessions_of_a_web_log() -> None:
    told = ("1 login", "2 login", "1 browse", "1 logout", "2 logout", "1 login", "1 logout")
    rows = (one.split() for one in told)
    entries = "".join(f"<entry><user>{u}</user><op>{op}</op></entry>" for u, op in rows)
    found = ask(
        "declare variable $weblog as element(entry)* external; "
        "for $u in fn:distinct-values($weblog/user) "
        "forseq $w in $weblog[user eq $u] tumbling window "
        "start curItem $in when $in/op eq 'login' end curItem $out when $out/op eq 'logout' "
        "return <session user='{$u}'>{count($w)}</session>",
        weblog=f"<log>{entries}</log>".encode(),
    )
    assert found == [
        '<session user="1">3</session>',
        '<session user="1">2</session>',
        '<session user="2">2</session>',
    ]


def test_a_moving_average_over_an_endless_sequence() -> None:
    text = (
        "declare variable $seq as (xs:integer)** external; "
        "forseq $w in $seq sliding window start position $s when fn:true() "
        "force end position $e when $e - $s eq 2 return fn:avg($w)"
    )
    assert ask(text, seq=[1, 2, 3, 4, 5, 9]) == ["2", "3", "4", "6"]


def test_the_last_value_of_every_sensor() -> None:
    found = ask(
        "declare variable $sensors as (temp)** external; "
        "forseq $w in $sensors landmark window start position $s when $s eq 1 end when fn:true() "
        "return string-join(for $id in fn:distinct-values($w/@id) "
        "return $w[@id eq $id][last()], ' ')",
        sensors=TEMPS,
    )
    assert found == ["8", "8 12", "15 12"]


def test_the_ice_cream_alarm() -> None:
    text = (
        "declare variable $s as (temp)** external; "
        "for $m in $s where xs:integer($m) ge 10 return <alarm> { $m } </alarm>"
    )
    assert ask(text, s=TEMPS) == [
        '<alarm><temp id="b">12</temp></alarm>',
        '<alarm><temp id="a">15</temp></alarm>',
    ]


@pytest.mark.parametrize(
    "asked", ["fn:max($s)", "count($s) > 0", "for $m in $s order by $m return $m"]
)
def test_what_needs_the_end_of_an_endless_sequence_is_refused_before_it_runs(asked: str) -> None:
    with pytest.raises(Error) as caught:
        query(f"declare variable $s as (temp)** external; {asked}").run(s=TEMPS)
    assert caught.value.code == "XSCS0002"
    assert "$s" in caught.value.message
    assert caught.value.hint is not None
    assert "window" in caught.value.hint


def test_a_document_is_the_elements_that_a_variable_declares() -> None:
    for kind, count in (("element(sensors)", "1"), ("element(temp)*", "3"), ("item()*", "1")):
        assert ask(f"declare variable $d as {kind} external; count($d)", d=TEMPS) == [count]
