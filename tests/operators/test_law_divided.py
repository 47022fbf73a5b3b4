"""The law for queries that are computed unit by unit, over documents and over fragments."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.test_law import chunks
from tests.operators.watched import Watched
from tests.streams_strategies import HEAD, histories, structures
from xstreamcast.api import compiled, query
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.watch import Watch

# %s is the input, %n and %m are names of elements.
QUERIES = (
    '%s//%n[%m = "x"]',
    '%s//*[%n = "x"]/%m',
    "count(%s//*[not(%n)]/%m)",
    "%s//*[.//%n]/%m/string()",
    "%s/r/%n[position() <= 2]/@k/string()",
    "%s/r/%n[@k][position() <= 2]/%m",
    "%s/r/*[last()]/%n",
    "%s//%n[@k]/%m",
    "for $x in %s//%n where $x/%m return <q>{ $x/@k, $x/%m/text() }</q>",
    "for $x in %s//%n order by string($x/@k), string($x) return <q>{ $x/@k, string($x) }</q>",
    "for $x in %s/r/%n order by string($x/@k) descending return $x",
    'for $x in %s//%n group by $k := string($x/@k) return <g k="{$k}">{ count($x/%m) }</g>',
    "for $x in %s//%n group by $k := string($x/@k) return count(distinct-values($x/%m))",
    "for $x in %s/r/* group by $k := name($x), $i := $x/@k return <g>{ $k, $i, $x/%m }</g>",
    "count(%s//%n)",
    "(count(%s//%n), count(%s/r/*/%m))",
    "<t>{ sum(for $x in %s//%n return string-length($x)), max(%s//%n/string(@k)) }</t>",
    "avg(for $x in %s/r/%n return string-length($x/@k))",
    "min(%s//%n/@k/string())",
    "distinct-values(%s//%n/@k)",
    'some $x in %s//%n satisfies $x/%m = "7"',
    "every $x in %s//%n satisfies exists($x/@k)",
    "exists(%s//%n/%m)",
    "(%s//%n)[2]",
    "string-join(%s//%n/@k, '-')",
    "<all>{ %s/r/%n }</all>",
    "for $x in %s/r/* return for $y in $x//%n return concat($x/@k, $y)",
    "for $x at $i in %s//%n return <i>{ $i, string($x) }</i>",
    "for $x in %s//%n let $y := $x/%m order by count($y) return count($y)",
    "for $x in %s/r/* for $y in %s//%n where $x/@k = $y/@k return string($y)",
    "for tumbling window $w in %s/r/* start when true() end at $j when $j mod 2 = 0 "
    "return <w>{ string-join($w/@k) }</w>",
)  # fmt: skip


def ended(ask):
    """What it gives, or the code of the error it ends with."""
    try:
        return ask()
    except Error as failed:
        return failed.code


@st.composite
def questions(draw, source):
    asked = draw(st.sampled_from(QUERIES)).replace("%s", source)
    names = st.sampled_from(["a", "b", "c", "d"])
    return asked.replace("%n", draw(names)).replace("%m", draw(names))


@st.composite
def elements(draw, depth=0):
    name = draw(st.sampled_from(["a", "b", "c", "d"]))
    key = draw(st.sampled_from(["", ' k="x"', ' k="7"', ' k="12"']))
    inner = draw(st.lists(elements(depth + 1), max_size=3)) if depth < 3 else []
    texts = [draw(st.sampled_from(["", "x", "7"])) for _ in range(len(inner) + 1)]
    content = texts[0] + "".join(e + t for e, t in zip(inner, texts[1:], strict=True))
    return f"<{name}{key}>{content}</{name}>"


@st.composite
def documents(draw):
    root = draw(st.sampled_from(["r", "r", "r", "a"]))
    return f"<{root}>{''.join(draw(st.lists(elements(), max_size=5)))}</{root}>".encode()


def watched(asked, name, document, cuts):
    watch, told = Watch(compiled(asked), {name: "document"}), Accumulated()
    for chunk in chunks(document, cuts):
        watch.on_bytes(name, chunk)
        for change in watch.tick():
            told.apply(change)
    watch.on_end(name)
    for change in watch.tick():
        told.apply(change)
    return told.items()


@settings(deadline=None)
@given(documents(), questions(""), st.lists(st.integers(0, 10**6), max_size=5))
def test_a_document_in_pieces_is_answered_as_a_whole(document, asked, cuts):
    expected = ended(lambda: list(query(asked).run(document).lines()))
    assert ended(lambda: watched(asked, None, document, cuts)) == expected


@settings(deadline=None)
@given(documents(), questions('stream("s")'), st.lists(st.integers(0, 10**6), max_size=5))
def test_a_stream_that_is_a_document_is_answered_as_a_whole(document, asked, cuts):
    expected = ended(lambda: list(query(asked).run(s=document).lines()))
    assert ended(lambda: watched(asked, "s", document, cuts)) == expected


def test_different_values_of_groups_of_a_document():
    asked = (
        'for $x in stream("s")/r/a group by $k := string($x/@k) return count(distinct-values($x/b))'
    )
    document = b'<r><a k="1"><b>x</b></a><a k="1"><b>x</b></a><a k="2"><b>y</b><b>z</b></a></r>'
    assert watched(asked, "s", document, [20, 40]) == ["1", "2"]


@settings(deadline=None)
@given(st.data(), structures(), st.lists(st.integers(0, 10**6), max_size=5))
def test_fragments_are_answered_at_every_instant(data, structure, cuts):
    wire = data.draw(histories(structure))
    following = Watched(data.draw(questions('stream("s")')))
    for chunk in chunks(wire, cuts):
        following.feed("s", chunk)
        expected = following.afresh()
        if expected is not None:
            assert following.told.items() == expected
        if data.draw(st.booleans()):
            following.restart()
    try:
        following.end()
    except Error:
        assert following.afresh() is None
    else:
        assert following.told.items() == following.afresh()


def test_a_unit_that_stands_in_another_unit_makes_both_dirty():
    structure = (
        '<stream:structure><tag id="0" name="r" type="snapshot">'
        '<tag id="2" name="c" type="temporal"><tag ref="2"/></tag></tag></stream:structure>'
    )
    root = '<stream:hole id="2" tsid="2"/><stream:hole id="3" tsid="2"/>'
    following = Watched('for $x in stream("s")//c return string($x)')
    following.feed("s", f"{HEAD}{structure}".encode())
    following.feed("s", f'<stream:filler id="0" tsid="0"><r>{root}</r></stream:filler>'.encode())
    inner = '<stream:filler id="2" tsid="2"><c>a<stream:hole id="3" tsid="2"/></c></stream:filler>'
    following.feed("s", inner.encode())
    assert following.told.items() == ["a"]
    following.feed("s", b'<stream:filler id="3" tsid="2"><c>b</c></stream:filler>')
    assert following.told.items() == following.afresh()
    assert len(following.told) == 3
