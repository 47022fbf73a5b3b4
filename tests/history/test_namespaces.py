"""Namespaces bound above a hole: what fills it has them, whoever puts it there."""

from __future__ import annotations

import pytest
from lxml import etree

import tests.oracle as oracle
import xstreamcast as xsc
from tests.operators.watched import Watched
from xstreamcast.edges.loading import load
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.history.query import HistoryQuery, When
from xstreamcast.tape.store import Store

# p and q are bound by the root's payload, r by an account's, t by the wire.
WIRE = b"""<stream:fragments xmlns:stream="urn:xstreamcast:stream" xmlns:t="urn:t">
<stream:structure><tag id="1" name="accounts" type="snapshot"><tag id="2" name="account" uri="urn:p" type="temporal"><tag id="3" name="limit" type="temporal"/><tag id="4" name="kind" uri="urn:p" type="snapshot"/></tag></tag></stream:structure>
<stream:filler id="0" tsid="1" validTime="2003-01-01"><accounts xmlns:p="urn:p" xmlns:q="urn:q"><stream:hole id="7" tsid="2"/><stream:hole id="9" tsid="2"/></accounts></stream:filler>
<stream:filler id="7" tsid="2" validTime="2003-02-01"><p:account xmlns:p="urn:p" xmlns:r="urn:r"><p:kind t:k="t:x">r:a</p:kind><stream:hole id="8" tsid="3"/></p:account></stream:filler>
<stream:filler id="8" tsid="3" validTime="2003-02-01"><limit>2000</limit></stream:filler>
<stream:filler id="8" tsid="3" validTime="2003-06-01"><limit cur="r:eur">5000</limit></stream:filler>
<stream:filler id="9" tsid="2" validTime="2003-06-02"><account xmlns="urn:p"><kind>q:z</kind></account></stream:filler>
<stream:filler id="0" tsid="1" validTime="2003-06-03"><accounts xmlns:p="urn:p"><stream:hole id="7" tsid="2"/></accounts></stream:filler>
</stream:fragments>"""  # noqa: E501
PROLOG = """declare namespace p = "urn:p";
declare function local:next($n as xs:integer) as xs:integer { $n + 1 };
declare function local:same($e as element()) as element() { $e };
"""
QUERIES = (
    'stream("s")/accounts/p:account',
    'stream("s")//limit',
    'stream("s")//p:kind',
    'for $a in stream("s")/accounts/p:account return <x>{ $a/limit }</x>',
    'for $a in stream("s")//p:account return sort(in-scope-prefixes($a))',
    'for $k in stream("s")//p:kind return string(resolve-QName($k, $k))',
    'stream("s")//limit?[now]',
    'stream("s")//p:account?[2003-03-01, now]',
    'for $a in stream("s")//p:account order by string($a/p:kind) return $a/limit#[last]',
)


def inclusive(xml: str) -> str:
    """Nodes with all namespaces that are in scope; what is no XML stays as it is."""
    try:
        root = etree.fromstring(f"<line>{xml}</line>".encode())
    except etree.XMLSyntaxError:
        return xml
    return etree.tostring(root, method="c14n").decode()[6:-7]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("as_of", ["2003-06-02T00:00:00", None])
def test_every_strategy_and_every_translation_gives_copies_the_same_namespaces(
    query: str, as_of: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oracle, "canonical", inclusive)
    expected = oracle.answer(PROLOG + query, {"s": WIRE}, as_of=as_of)
    for strategy in oracle.STRATEGIES:
        theirs = oracle.answer(PROLOG + query, {"s": WIRE}, as_of=as_of, strategy=strategy)
        assert theirs == expected, strategy
        ours = xsc.query(PROLOG + query).run(s=WIRE, as_of=as_of, strategy=strategy).lines()
        assert [inclusive(line) for line in ours] == expected, strategy


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_watched_has_the_same_namespaces_at_each_instant(query: str) -> None:
    follow = Watched(PROLOG + query)
    for line in WIRE.splitlines(keepends=True):
        follow.feed("s", line)
        afresh = follow.afresh()
        assert afresh is not None
        assert [inclusive(text) for _, text in follow.told] == [inclusive(x) for x in afresh]


@pytest.mark.parametrize(
    ("query", "strategy"),
    [
        ('for $l in stream("s")//limit return local:next($l)', "qac+"),
        ('for $l in stream("s")//limit return local:same($l)/string()', "qac+"),
        ('for $l in stream("s")//limit return local:same($l)', "caq"),  # shown, with what is above
    ],
)
def test_what_is_read_as_a_value_needs_nothing_from_above(query: str, strategy: str) -> None:
    store = Store()
    history = load("s", WIRE, store).history
    program = xsc.query(PROLOG + query).program
    choice = HistoryQuery(program, {"s": history}, store, When(Moment(history.newest))).choice
    assert choice.streams["s"].strategy == strategy
