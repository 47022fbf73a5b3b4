"""The law for joins: at every instant the accumulated answer is the query asked afresh."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.watched import Watched
from xstreamcast.errors import Error

HEAD = '<stream:fragments xmlns:stream="urn:xstreamcast:stream">'
STRUCTURE = (
    '<stream:structure><tag id="1" name="r" type="snapshot">'
    '<tag id="2" name="u" type="temporal"><tag id="3" name="k" type="temporal"/>'
    '<tag id="4" name="v" type="snapshot"/></tag></tag></stream:structure>'
)
QUERIES = (
    'for $a in stream("a")//u, $b in stream("b")//u where $a/k = $b/k '
    "return <p>{ $a/@n, $b/v/text(), $b/@n }</p>",
    'for $a in stream("a")/r/u let $b := stream("b")/r/u[k = $a/k] '
    "return <p>{ $a/@n, count($b), $b[1]/v, $b[last()]/@n }</p>",
    'for $a in stream("a")//u where some $b in stream("b")//u satisfies $b/k = $a/k return $a',
    'for $a in stream("a")//u where every $b in stream("b")//u[k = $a/k] satisfies $b/v = "x" '
    "return $a/@n/string()",
    'stream("a")//u[k = stream("b")//u/k]/v',
    'for $a in stream("a")//u where not($a/k = stream("b")//u/k) return string($a/@n)',
    'for $a in stream("a")//u where empty(stream("b")//u[k = $a/k and v]) return string($a/@n)',
    'count(for $a in stream("a")//u, $b in stream("b")//u where $a/k = $b/k return 1)',
    'sum(for $a in stream("a")//u, $b in stream("b")//u where $a/k = $b/@n return 2)',
    'for $a in stream("a")//u, $b in stream("b")//u where $a/k = $b/k '
    "order by string($b/@n) descending return <o>{ $a/@n, $b/@n }</o>",
    'for $a in stream("a")//u, $b in stream("b")//u where $a/k = $b/k '
    'group by $g := string($a/v[1]) return <g>{ $g, count($b), $b/@n/string() }</g>',
    'for $a in stream("a")//u, $b in stream("b")//u where $a/@n eq $b/@n return ($a/v, $b/v)',
    'for $a in stream("a")//u, $b in stream("b")//u where number($a/k[1]) = number($b/k[1]) '
    "return <p>{ $a/@n, $b/@n }</p>",
    'for $a in stream("a")//u, $b in stream("b")//u where $a/k eq $b/k return $b/@n/string()',
    'for $a in stream("a")//u, $b in stream("b")//u where $a/k = xs:integer($b/@n) return $b',
    'for $a in stream("a")//u return <q>{ $a/@n, stream("b")//u[v != $a/v][k = $a/k]/@n }</q>',
    'for $a in stream("a")//u, $b in stream("b")//u, $c in stream("a")//u '
    "where $a/k = $b/k and $b/v = $c/v return string($c/@n)",
    '(count(stream("a")//u), for $a in stream("a")//u where $a/k = stream("b")//k return $a/v)',
    'for $a in stream("a")//u, $b in stream("b")//u where $a/k < $b/k return <l>{ $b/@n }</l>',
    'distinct-values(for $a in stream("a")//u return stream("b")//u[k = $a/k]/v)',
)  # fmt: skip
# 15: an equality behind another predicate is recomputed; 16, 18: joined, but not in documents
JOINED = frozenset(range(len(QUERIES))) - {15, 16, 18}

keys = st.lists(st.sampled_from(["1", "2", "3", "x", ""]), max_size=2)
words = st.sampled_from(["x", "y", "7"])


@st.composite
def units(draw):
    number = draw(st.sampled_from(["", ' n="1"', ' n="2"', ' n="x"']))
    inner = "".join(f"<k>{key}</k>" for key in draw(keys))
    inner += "".join(f"<v>{word}</v>" for word in draw(st.lists(words, max_size=2)))
    return f"<u{number}>{inner}</u>"


@st.composite
def documents(draw):
    """Pieces of a document, to be fed one after another."""
    found = draw(st.lists(units(), max_size=5))
    return [b"<r>", *(one.encode() for one in found), b"</r>"]


@st.composite
def streams(draw, corrected=True):
    """Pieces of a fragment stream: corrections, removals, late versions, repetitions."""
    ids = list(range(2, 2 + draw(st.integers(1, 4))))
    lines = []
    for _ in range(draw(st.integers(1, 2)) if corrected else 1):
        order = draw(st.permutations(ids))
        shown = order[: draw(st.integers(1, len(order)))]
        holes = "".join(f'<stream:hole id="{i}" tsid="2"/>' for i in shown)
        lines.append(_filler("filler", 0, 1, draw(st.integers(0, 9)), f"<r>{holes}</r>"))
    for i in ids:
        most = 3 if corrected else 1
        for minute in draw(st.lists(st.integers(0, 9), min_size=1, max_size=most)):
            words = ["filler", "filler", "replace", "remove"] if corrected else ["filler"]
            word = draw(st.sampled_from(words))
            inner = draw(units())
            for key in re.findall("<k>.*?</k>", inner):  # keys travel by themselves
                number = 10 + len(lines) if draw(st.booleans()) or not corrected else 10 + i
                hole = f'<stream:hole id="{number}" tsid="3"/>'
                inner = inner.replace(key, hole, 1)
                if draw(st.integers(0, 5)):
                    lines.append(_filler("filler", number, 3, draw(st.integers(0, 9)), key))
            lines.append(_filler(word, i, 2, minute, inner))
    lines = draw(st.permutations(lines)) if draw(st.booleans()) else lines
    lines += draw(st.lists(st.sampled_from(lines), max_size=2))
    return [(HEAD + STRUCTURE).encode(), *(one.encode() for one in lines)]


def _filler(word, number, tag, minute, payload):
    head = f'id="{number}" tsid="{tag}" validTime="2020-01-01T00:0{minute}:00"'
    if word == "remove":
        return f"<stream:remove {head}/>"
    return f"<stream:{word} {head}>{payload}</stream:{word}>"


@st.composite
def cases(draw, corrected=True):
    """A query, the kinds of two inputs, and what arrives on them in which order."""
    kinds = {name: draw(st.sampled_from(["document", "fragments"])) for name in "ab"}
    pieces = {
        name: draw(documents() if kind == "document" else streams(corrected))
        for name, kind in kinds.items()
    }
    number = draw(st.integers(0, len(QUERIES) - 1))
    return number, kinds, draw(_interleaved(pieces))


@st.composite
def _interleaved(draw, pieces):
    queues = {name: list(found) for name, found in pieces.items()}
    out = [(name, queue.pop(0)) for name, queue in queues.items()]  # what both begin with
    while queues:
        name = draw(st.sampled_from(sorted(queues)))
        if queues[name]:
            out.append((name, queues[name].pop(0)))
        else:
            del queues[name]
            out.append((name, None))
    return out


def play(case, data, **options):
    """Feed a case; at every instant the answer is what is found afresh."""
    number, kinds, arrivals = case
    beside = Watched(QUERIES[number], kinds, **options)
    for name, chunk in arrivals:
        try:
            if chunk is None:
                beside.end(name)
            else:
                beside.feed(name, chunk, tick=data.draw(st.sampled_from([True, True, False])))
        except Error:
            assert beside.afresh() is None
            return None
        if options.get("policy") != "strict" and chunk is None:
            beside.tick()
        yield beside


@settings(deadline=None)
@given(st.data(), cases())
def test_the_accumulated_answer_is_the_query_asked_afresh(data, case):
    for beside in play(case, data):
        if beside.watch.pipeline is None:
            continue
        assert beside.joined or case[0] not in JOINED
        if data.draw(st.integers(0, 3)) == 0:
            beside.restart()
        if data.draw(st.booleans()):
            beside.tick()
            expected = beside.afresh()
            if expected is not None:
                assert beside.told.items() == expected


@settings(deadline=None)
@given(st.data(), cases())
def test_both_policies_end_equal(data, case):
    ends: list[list[str]] = []
    for policy in ("strict", "optimistic"):
        played = list(play(case, data, policy=policy))
        if len(played) < len(case[2]):  # it fails over what has come by then, and told a part
            return
        ends.append(played[-1].told.items() if played else [])
    assert ends[0] == ends[1]


@settings(deadline=None)
@given(st.data(), cases(corrected=False))
def test_strict_takes_nothing_back_that_no_correction_touched(data, case):
    for beside in play(case, data, policy="strict"):
        assert all(change.diff > 0 for change in beside.changes)
