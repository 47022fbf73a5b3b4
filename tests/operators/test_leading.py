"""Positions that ask for the beginning only: maintained from counts, exact at every instant."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.test_inner import units_asked
from tests.operators.test_law import chunks
from tests.operators.test_law_divided import documents, ended
from tests.operators.watched import Watched
from tests.streams_strategies import HEAD, histories, structures
from xstreamcast.api import compiled, query
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.plans import planned
from xstreamcast.operators.watching.watch import Watch

# %s is the input, %n and %m are names of elements.
QUERIES = (
    "(%s//%n)[2]",
    "(%s//%n)[2]/%m",
    "%s/r/%n[3]",
    "%s/r/%n[position() <= 2]/@k/string()",
    "head(%s//%n[@k])",
    "subsequence(%s//%n, 2, 2)",
    "(for $x in %s/r/* where $x/%m return <q>{ $x/@k, string($x) }</q>)[position() < 3]",
    "for $x at $i in %s//%n where $i <= 2 return <i>{ $i, $x/%m, $x/@k }</i>",
    "for $x in %s/r/* let $y := $x/%m count $c where $c lt 3 return <i>{ $c, $y, string($x) }</i>",
    "for $x at $i in %s/r/* where $x/@k where $i = (1, 3) return ($i, $x//%m)",
    "let $f := subsequence(%s//%n, 1, 3) return <f>{ count($f), $f/%m }</f>",
    "(head(%s//%n), count(%s//%m))",
    "string-join(subsequence(%s//%n, 1, 2)/%m, '-')",
    "(%s//%n)[1]/%m[last()]",
    "for $x in (%s//%n)[position() = 1 to 2] order by string($x) return string($x)",
)  # fmt: skip


NUMBERED = (
    "for $x at $i in %s//%n return <i>{ $i, string($x), $x/%m }</i>",
    "for $x at $i in %s/r/* where $i mod 2 = 1 return ($i, $x/%m)",
    "for $x in %s//%n where $x/@k count $c return <c>{ $c, $x/@k }</c>",
    "for $x at $i in %s//%n for $y at $j in $x/%m return concat($i, '.', $j)",
    "for $x in %s/r/* for $y in $x//%n let $z := $y/%m count $c return <c>{ $c, $z }</c>",
    "sum(for $x at $i in %s//%n where $x/%m return $i)",
    "let $k := 'x' for $x at $i in %s//%n where starts-with($x/@k, $k) return $i",
)


@st.composite
def questions(draw, source):
    asked = draw(st.sampled_from(QUERIES + NUMBERED)).replace("%s", source)
    names = st.sampled_from(["a", "b", "c", "d"])
    return asked.replace("%n", draw(names)).replace("%m", draw(names))


# an attribute of what positions chose is recomputed
@pytest.mark.parametrize("asked", [q for q in QUERIES + NUMBERED if "]/@k/" not in q])
def test_no_document_is_kept_for_positions(asked):
    asked = asked.replace("%s", "").replace("%n", "a").replace("%m", "b")
    plan = planned(compiled(asked), {}, frozenset({None}), inner=False)
    assert not plan.circuit.whole, asked


def test_a_unit_that_gives_as_many_items_as_before_renumbers_no_other():
    structure = (
        '<stream:structure><tag id="0" name="r" type="snapshot">'
        '<tag id="2" name="c" type="snapshot" filler="true"/></tag></stream:structure>'
    )
    following = Watched('for $x at $i in stream("s")//c return concat($i, $x)')
    following.feed("s", f"{HEAD}{structure}".encode())
    holes = "".join(f'<stream:hole id="{i}" tsid="2"/>' for i in range(1, 9))
    following.feed("s", f'<stream:filler id="0" tsid="0"><r>{holes}</r></stream:filler>'.encode())
    for i in range(1, 8):
        one = f'<stream:filler id="{i}" tsid="2"><c>c</c></stream:filler>'
        following.feed("s", one.encode())
    before = units_asked(following)
    following.feed("s", b'<stream:replace id="2" tsid="2"><c>d</c></stream:replace>')
    assert units_asked(following) == before + 1
    following.feed("s", b'<stream:filler id="8" tsid="2"><c>e</c></stream:filler>')
    assert units_asked(following) == before + 2
    assert following.told.items() == following.afresh()
    following.feed("s", b'<stream:remove id="2" tsid="2"/>')
    assert following.told.items() == following.afresh()


@settings(deadline=None)
@given(documents(), questions(""), st.lists(st.integers(0, 10**6), max_size=5))
def test_a_document_in_pieces_is_answered_as_a_whole(document, asked, cuts):
    def watched():
        watch, told = Watch(compiled(asked), {None: "document"}), Accumulated()
        for chunk in chunks(document, cuts):
            watch.on_bytes(None, chunk)
            for change in watch.tick():
                told.apply(change)
        watch.on_end(None)
        for change in watch.tick():
            told.apply(change)
        return told.items()

    assert ended(watched) == ended(lambda: list(query(asked).run(document).lines()))


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


def test_the_beginning_of_a_long_document_is_all_that_is_kept():
    watch = Watch(compiled("(//x)[position() <= 3]/v/text()"), {None: "document"})
    watch.on_bytes(None, b"<r>" + b"<x><v>1</v></x>" * 50)
    watch.tick()
    held = watch.state_bytes
    for _ in range(20):
        watch.on_bytes(None, b"<x><v>2</v></x>" * 500)
        assert watch.tick() == []
    assert watch.state_bytes < held + 5000
