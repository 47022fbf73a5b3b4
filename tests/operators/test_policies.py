"""strict and optimistic: what each tells when, and that they end equal."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.test_law import chunks
from tests.operators.test_law_divided import questions
from tests.operators.watched import Watched
from tests.streams_strategies import HEAD, histories, structures
from xstreamcast.errors import Error

STOCKS = (
    HEAD + '<stream:structure><tag id="1" name="stocks" type="snapshot">'
    '<tag id="2" name="stock" type="snapshot" filler="true">'
    '<tag id="3" name="rating" type="snapshot" filler="true"/>'
    '<tag id="4" name="value" type="snapshot" filler="true"/>'
    "</tag></tag></stream:structure>"
).encode()
ROOT = (
    b'<stream:filler id="0" tsid="1"><stocks><stream:hole id="7" tsid="2"/></stocks>'
    b"</stream:filler>"
)
STOCK = (
    b'<stream:filler id="7" tsid="2"><stock><stream:hole id="8" tsid="3"/>'
    b'<stream:hole id="9" tsid="4"/><stream:hole id="10" tsid="3"/></stock></stream:filler>'
)
VALUE = b'<stream:filler id="9" tsid="4"><value>12</value></stream:filler>'
RATING = b'<stream:filler id="8" tsid="3"><rating>hold</rating></stream:filler>'
RATED = 'stream("s")/stocks/stock[rating = "hold"]/value'


def told_after(query: str, policy: str, *arrivals: bytes) -> list[str]:
    following = Watched(query, policy=policy)
    following.feed("s", STOCKS)
    for one in arrivals:
        following.feed("s", one)
    return following.told.items()


def test_a_value_waits_for_its_rating():
    assert told_after(RATED, "strict", ROOT, STOCK, VALUE) == []
    assert told_after(RATED, "strict", ROOT, STOCK, VALUE, RATING) == ["<value>12</value>"]


def test_a_witness_decides_though_another_rating_is_missing():
    assert told_after(RATED, "strict", VALUE, RATING, STOCK, ROOT) == ["<value>12</value>"]


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ('exists(stream("s")//rating)', "true"),
        ('empty(stream("s")//rating)', "false"),
        ('not(empty(stream("s")//stock/rating))', "true"),
        ('not(stream("s")//rating)', "false"),
        ('stream("s")//rating = "hold"', "true"),
        ('some $r in stream("s")//rating satisfies $r/text() = "hold"', "true"),
        ('exists(stream("s")//stock[rating = "hold"])', "true"),
        ('if (exists(stream("s")//rating)) then "rated" else "not rated"', "rated"),
        ('if (stream("s")//rating) then 1 else 0', "1"),
        ('if (empty(stream("s")//rating)) then "none" else "some"', "some"),
    ],
)
def test_a_witness_decides_a_test_of_the_whole_stream(query, told):
    assert told_after(query, "strict", ROOT, STOCK, VALUE) == []
    assert told_after(query, "strict", ROOT, STOCK, VALUE, RATING) == [told]


COMMODITIES = (
    HEAD + '<stream:structure><tag name="commodities" id="1"><tag name="vendor" id="2">'
    '<tag name="name" id="3"/><tag name="items" id="4"><tag name="item" id="5">'
    '<tag name="name" id="6"/><tag name="make" id="7"/></tag></tag></tag></tag></stream:structure>'
).encode()
VENDOR = (
    b'<stream:filler id="0" tsid="1"><commodities><vendor><name>Wal-Mart</name><items>'
    b'<stream:hole id="10" tsid="5"/><stream:hole id="20" tsid="5"/></items></vendor>'
    b"</commodities></stream:filler>"
)
ITEM = (
    b'<stream:filler id="%d" tsid="5"><item><name>%b</name><make>HP</make></item></stream:filler>'
)
SELLS = 'for $v in stream("s")//vendor, $i in $v//item where $i/name = "PDA" return '


@pytest.mark.parametrize(
    ("query", "first"),
    [
        (
            'for $b in stream("s")//vendor//item where $b/name = "PDA" and $b/make = "HP" '
            "return <vendor>{ $b/../../name }</vendor>",
            ["<vendor><name>Wal-Mart</name></vendor>"],
        ),
        (SELLS + "$v/name/string()", ["Wal-Mart"]),
        (SELLS + "<v n='{ $v/name }'>{ string($i/make), $v/@id }</v>", ['<v n="Wal-Mart">HP</v>']),
        (SELLS + "$v", []),  # items of it are missing
        (SELLS + "<v>{ $v//name }</v>", []),
        (SELLS + "$v/items/item/make", []),
        (SELLS + "count($v/items/*)", []),
        ('for $v in stream("s")//vendor where empty($v//item[make = "Casio"]) return $v/name', []),
    ],
)
def test_an_item_that_is_final_does_not_wait_for_others(query: str, first: list[str]) -> None:
    """Seed 003, section 4.9: the second fragment decides."""
    following = Watched(query, policy="strict")
    for one in (COMMODITIES, VENDOR, ITEM % (10, b"PDA")):
        following.feed("s", one)
    assert following.told.items() == first
    following.feed("s", ITEM % (20, b"Calculator"))
    plain = Watched(query)
    for one in (COMMODITIES, VENDOR, ITEM % (10, b"PDA"), ITEM % (20, b"Calculator")):
        plain.feed("s", one)
    assert following.told.items() == plain.told.items()
    assert [change for change in following.changes if change.diff < 0] == []


def test_a_test_without_a_witness_waits_and_is_told_once():
    query = 'exists(stream("s")//rating[. = "sell"])'
    other = RATING.replace(b'"8"', b'"10"')
    assert told_after(query, "strict", ROOT, STOCK, VALUE, RATING) == []
    assert told_after(query, "strict", ROOT, STOCK, VALUE, RATING, other) == ["false"]


def test_an_aggregate_waits_for_what_is_missing():
    query = 'for $s in stream("s")//stock where count($s/rating) < 2 return $s/value/text()'
    assert told_after(query, "strict", ROOT, STOCK, VALUE, RATING) == []
    assert told_after(query, "optimistic", ROOT, STOCK, VALUE, RATING) == ["12"]


@settings(deadline=None)
@given(st.data(), structures(), st.lists(st.integers(0, 10**6), max_size=5))
def test_both_policies_end_equal(data, structure, cuts):
    wire = data.draw(histories(structure))
    query = data.draw(questions('stream("s")'))
    ends = []
    for policy in ("strict", "optimistic"):
        following = Watched(query, policy=policy)
        try:
            for chunk in chunks(wire, cuts):
                following.feed("s", chunk)
            following.end()
        except Error as failed:
            ends.append([failed.code])
        else:
            ends.append(following.told.items())
    assert ends[0] == ends[1]


@settings(deadline=None)
@given(st.data(), structures())
def test_strict_takes_nothing_back_that_no_correction_touched(data, structure):
    wire = data.draw(histories(structure))
    head, *lines = wire.decode().splitlines()
    fragments = {line.split(" ", 2)[1]: line for line in lines if "stream:filler" in line}
    order = data.draw(st.permutations(list(fragments.values())))
    following = Watched(data.draw(questions('stream("s")')), policy="strict")
    try:
        following.feed("s", "\n".join([head, lines[0]]).encode())
        for line in order:
            following.feed("s", line.encode())
        following.end()
    except Error:
        return
    assert [change for change in following.changes if change.diff < 0] == []
