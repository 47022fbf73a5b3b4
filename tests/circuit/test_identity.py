"""Identity, order and positions in watched queries, over fragments and documents in pieces."""

from __future__ import annotations

import pytest

from tests.circuit.grammar import HEAD, STRUCTURE
from tests.operators.watched import Watched

PIECES = (b"<r><u><v>1</v></u>", b"<u><v>2</v></u>", b"<u><v>3</v></u></r>")
ROOT = (
    '<stream:filler id="0" tsid="1" validTime="2020-01-01T00:00:00"><r>'
    '<stream:hole id="1" tsid="2"/><stream:hole id="2" tsid="2"/></r></stream:filler>'
)
QUERIES = (
    'count(stream("s")//u | stream("s")//u)',
    'count(stream("s")//u except stream("s")//u)',
    'count(stream("s")//u intersect stream("s")//u)',
    'for $a in stream("s")//u, $b in stream("s")//u where $a << $b return <p>{ $a/v, $b/v }</p>',
    'for $a in stream("s")//u, $b in stream("s")//u where $a is $b return $a/v',
    'stream("s")/r/u ! position()',
    'stream("s")/r/u ! last()',
    'stream("s")/r/u/position()',
    'stream("s")//u ! path(.)',
    'for $u in stream("s")//u order by $u/v return <a n="{ count(stream("s")//u) }">{ $u/v }</a>',
    '<a n="{ count(stream("s")//u) }" m="{ max(stream("s")//v) }"/>',
    'for $u in stream("s")//u return count(root($u)//u)',
    'declare variable $x := stream("s")//v; declare function local:f() { sum($x) }; local:f()',
)


def _filler(number: int, value: str, minute: int) -> bytes:
    head = f'id="{number}" tsid="2" validTime="2020-01-01T00:0{minute}:00"'
    return f"<stream:filler {head}><u><k>x</k><v>{value}</v></u></stream:filler>".encode()


@pytest.mark.parametrize("query", QUERIES)
def test_over_a_document_in_pieces(query):
    beside = Watched(query, {"s": "document"})
    for piece in PIECES:
        beside.feed("s", piece)
    beside.end("s")
    assert beside.told.items() == beside.afresh()


def test_both_zeros_are_one_group():
    query = 'for $v in stream("s")//v group by $k := xs:double($v) return <g>{ count($v) }</g>'
    beside = Watched(query, {"s": "document"})
    for piece in (b"<r><v>0</v>", b"<v>-0</v>", b"<v>1</v></r>"):
        beside.feed("s", piece)
    beside.end("s")
    assert beside.told.items() == beside.afresh() == ["<g>2</g>", "<g>1</g>"]


def test_two_groupings_carry_what_the_second_reads():
    query = (
        'for $u in stream("s")//u group by $g := string($u/v) '
        "group by $h := string-length($g) return <p>{ count($u), $g }</p>"
    )
    beside = Watched(query, {"s": "document"})
    for piece in PIECES:
        beside.feed("s", piece)
    assert beside.told.items() == beside.afresh() == ["<p>3 1 2 3</p>"]


@pytest.mark.parametrize("query", QUERIES)
def test_over_fragments(query):
    beside = Watched(query, {"s": "fragments"})
    begin = (HEAD + STRUCTURE + ROOT).encode()
    for chunk in (begin, _filler(1, "1", 0), _filler(2, "2", 0), _filler(1, "3", 2)):
        beside.feed("s", chunk)
        assert beside.told.items() == beside.afresh()
