"""A stream of fragments read by doc(): its temporal view, whether or not stream() names it too."""

from __future__ import annotations

import pytest

import xstreamcast as xsc
from tests.oracle import STRATEGIES, answer, canonical, structure
from xstreamcast.algebra.analysis.strategies import explain_strategy
from xstreamcast.errors import Error

WIRE = b"""<structure><tag id="1" name="a"><tag id="2" name="b" type="temporal"/></tag></structure>
<filler id="0" tsid="1" validTime="2020-01-01"><a><hole id="1" tsid="2"/></a></filler>
<filler id="1" tsid="2" validTime="2020-01-02"><b>1</b></filler>
<filler id="1" tsid="2" validTime="2020-01-03"><b>2</b></filler>"""


@pytest.mark.parametrize(
    "query",
    [
        'doc("s")/a/b',
        'doc(concat("", "s"))//b',
        'for $n in ("s") return doc($n)//b',
        'if (doc-available("s")) then doc("s")//b else ()',
        'stream("s")/a/(doc("s")//b)',
    ],
)
def test_a_stream_is_a_document_too(query: str) -> None:
    assert [node.string for node in xsc.query(query).run(s=WIRE)] == ["1", "2"]
    assert [node.string for node in xsc.query(query).run(s=WIRE, as_of="2020-01-02")] == ["1"]


def test_a_stream_read_as_a_document_is_read_as_a_stream() -> None:
    head = b'<stream:fragments xmlns:stream="urn:xstreamcast:stream">'
    wire = WIRE
    for word in (b"structure", b"filler", b"hole"):
        wire = wire.replace(b"<" + word, b"<stream:" + word).replace(
            b"</" + word, b"</stream:" + word
        )
    wire = head + wire + b"</stream:fragments>"
    for query in ('doc("s")//b', 'for $b in doc("s")/a/b return $b?[2020-01-02]', 'doc("s")'):
        for strategy in STRATEGIES:
            found = xsc.query(query).run(s=wire, strategy=strategy).lines()
            expected = answer(query, {"s": wire}, strategy=strategy)
            assert [canonical(line) for line in found] == expected, (query, strategy)
    assert explain_strategy(xsc.query('doc("s")//b').program, {"s": structure(wire)}) == (
        "stream s: qac+, because paths name all elements of their tags\n"
        "  fragments read: b\n  passed by links alone: a"
    )


def test_a_stream_is_the_value_of_a_variable_too() -> None:
    query = xsc.query("declare variable $s external; $s/a/b")
    assert [node.string for node in query.run(s=WIRE)] == ["1", "2"]
    assert [node.string for node in query.run(s=WIRE, as_of="2020-01-02")] == ["1"]
    typed = xsc.query("declare variable $s as element(b)* external; $s[2]")
    assert [node.string for node in typed.run(s=WIRE)] == ["2"]


def test_between_two_instants_documents_and_the_context_item_are_projected_too() -> None:
    between = ("2020-01-03", "2020-01-04")
    assert [node.string for node in xsc.query('doc("s")//b').run(s=WIRE, between=between)] == ["2"]
    assert [node.string for node in xsc.query("//b").run(WIRE, between=between)] == ["2"]


def test_a_document_that_was_not_handed_in_is_said() -> None:
    with pytest.raises(Error, match="there is no input named t"):
        xsc.query('doc("t")//b').run(s=WIRE)


def test_an_interval_must_begin_before_it_ends() -> None:
    with pytest.raises(Error, match="between must begin before it ends"):
        xsc.query('stream("s")').run(s=WIRE, between=("2020-01-03", "2020-01-01"))
