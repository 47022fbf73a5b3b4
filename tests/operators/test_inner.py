"""Folds inside units: kept by what stands in the units' holes, and never wrong about it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.operators.test_law import chunks
from tests.operators.watched import Watched
from tests.streams_strategies import HEAD, histories
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.nodes import Units
from xstreamcast.errors import Error
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.model.instant import SECOND
from xstreamcast.model.structure import Tag, TagStructure
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.relational.run import CircuitRun

KINDS = st.sampled_from(["temporal", "event", "snapshot"])
BOUNDS = ("", "", "?[now]", "?[now - PT2M,now]", "?[2020-01-01T00:02:00,2020-01-01T00:06:00]",
          "?[start,now - PT1M]", "?[now,now + PT1M]")  # fmt: skip
PATHS = ("b", "b/d", "b/v", "b%b", "b%b/v", "b[d]%b/v", 'b%b[d = "x"]/v', "b/@k", "c", "c%b",
         'c[. = "7"]', "b/d%b", 'b[v = "7"]/d%b', "b[@k]//d", "b/string(v)", "b[d%b]/v",
         "(for $y in $x/b where $y/d return $y/v)", "b/string(@k)")  # fmt: skip
FOLDS = ("count(%p)", "exists(%p)", "empty(%p)", "sum(for $n in %p return string-length($n))",
         "avg(%p/string-length())", "min(%p ! string(.))", '%p = "7"', '%p = ("x", "12")',
         "boolean(%p)", "not(%p)", 'some $z in %p satisfies $z = "x"', "max(%p/string-length())",
         'every $z in %p satisfies string-length(string($z)) > 1',
         "if (%p) then 1 else 2")  # fmt: skip
QUERIES = (
    "for $x in stream('s')/r/a return <q>{ $x/@k, %f }</q>",
    "for $x in stream('s')//a where %f return string($x/@k)",
    "for $x in stream('s')//a where %f return <q>{ $x/w, %g }</q>",
    "for $x in stream('s')//a order by string(%f), string($x/@k) return <q>{ $x/@k, %g }</q>",
    "for $x in stream('s')//a group by $k := string(%f) return <g k='{$k}'>{ count($x) }</g>",
    "sum(for $x in stream('s')//a return count(%p))",
    "count(stream('s')//a[%f])",
    "stream('s')/r/a[%f]/@k",
    "for $x in stream('s')//a where %f return $x/c%b",
    "for $x in stream('s')/r/a[@k] where vtFrom($x) = vtFrom($x) return (%f, %g)",
    "for $x in stream('s')//a return if ($x/w) then %f else 'none'",
    "for $x in stream('s')//a let $y := $x/b where $y/d "
    "return <q>{ count($y), sum($y/@k ! 1) }</q>",
)


@st.composite
def structures(draw) -> TagStructure:
    """A root, units a, in them b, c and an embedded w; in b d and an embedded v."""
    unit, b, c, d = (draw(KINDS) for _ in "abcd")
    tags = [
        Tag(0, "", "r", "snapshot", False, (1,)),
        Tag(1, "", "a", unit, True, (2, 3, 6)),
        Tag(2, "", "b", b, True, (4, 5)),
        Tag(3, "", "c", c, True, ()),
        Tag(4, "", "d", d, True, ()),
        Tag(5, "", "v", "snapshot", False, ()),
        Tag(6, "", "w", "snapshot", False, ()),
    ]
    return TagStructure(0, {tag.id: tag for tag in tags})


@st.composite
def questions(draw) -> str:
    def path() -> str:
        chosen = draw(st.sampled_from(PATHS)).replace("%b", draw(st.sampled_from(BOUNDS)))
        return chosen if chosen.startswith("(") else f"$x/{chosen}"

    def fold() -> str:
        return f"({draw(st.sampled_from(FOLDS)).replace('%p', path())})"

    query: str = draw(st.sampled_from(QUERIES))
    if "[%f]" in query:
        return query.replace("%f", fold().replace("$x/", ""))
    query = query.replace("%f", fold()).replace("%g", fold()).replace("%p", path())
    return query.replace("%b", draw(st.sampled_from(BOUNDS)))


@settings(deadline=None)
@given(st.data(), structures(), st.lists(st.integers(0, 10**6), max_size=8))
def test_what_is_kept_of_units_is_what_they_hold(data, structure, cuts):
    query = data.draw(questions())
    following = Watched(query)
    wire = data.draw(histories(structure, plain=True))
    try:
        for chunk in chunks(wire, cuts):
            following.feed("s", chunk)
            expected = following.afresh()
            if expected is not None:
                assert following.told.items() == expected
            if data.draw(st.integers(0, 3)) == 0:
                following.restart()
        begin = 18262 * 86_400  # 2020 began so many seconds after 1970
        for second in sorted(data.draw(st.lists(st.integers(0, 900), max_size=3))):
            following.watch.reach(Moment((begin + second) * SECOND))
            following.tick()
            expected = following.afresh()
            if expected is not None:
                assert following.told.items() == expected
        following.end()
    except Error:
        assert following.afresh() is None
    else:
        assert following.told.items() == following.afresh()


@settings(deadline=None, max_examples=examples(30))
@given(st.data(), structures())
def test_what_is_kept_is_what_saxon_says(data, structure):
    pytest.importorskip("saxonche")
    from tests.oracle import answer, canonical

    following = Watched(data.draw(questions()))
    wire = data.draw(histories(structure, plain=True))
    try:
        for line in wire.splitlines(keepends=True):
            following.feed("s", line)
        following.end()
    except Error:
        return
    expected = answer(following.program.source.text, {"s": wire})
    assert [canonical(item) for item in following.told.items()] == expected


STRUCTURE = """<stream:structure><tag id="0" name="r" type="snapshot">
<tag id="1" name="a" type="temporal"><tag id="2" name="b" type="event">
<tag id="4" name="d" type="temporal"/><tag id="5" name="v" type="snapshot"/></tag>
<tag id="3" name="c" type="temporal"/></tag></tag></stream:structure>"""


def filler(number: int, tag: int, content: str, minute: int = 0) -> bytes:
    time = f"2020-01-01T00:{minute:02}:00"
    return (
        f'<stream:filler id="{number}" tsid="{tag}" validTime="{time}">{content}</stream:filler>'
    ).encode()


def hole(number: int, tag: int) -> str:
    return f'<stream:hole id="{number}" tsid="{tag}"/>'


def credit(query: str) -> Watched:
    following = Watched(query)
    following.feed("s", f"{HEAD}{STRUCTURE}".encode())
    following.feed("s", filler(0, 0, f"<r>{hole(1, 1)}</r>"))
    following.feed("s", filler(1, 1, f"<a>{hole(2, 2)}{hole(3, 3)}</a>"))
    return following


def kept(following: Watched) -> list[str]:
    pipeline = following.watch.pipeline
    assert isinstance(pipeline, CircuitRun)
    units = [node for node in in_order(pipeline.circuit.root) if isinstance(node, Units)]
    return [inner.shown for node in units for inner in node.inner]


def units_asked(following: Watched) -> int:
    assert following.watch.pipeline is not None
    return following.watch.pipeline.evaluated


def test_only_what_is_new_in_a_unit_is_looked_at(monkeypatch):
    from xstreamcast.operators.inner import inner

    following = credit("for $x in stream('s')//a return sum($x/b/v)")
    assert kept(following) == ["sum($x/b/v)"]
    seen: list[int] = []
    look = inner.InnerParts._values

    def counted(self, made, found, asking):
        seen.append(len(found.place))
        return look(self, made, found, asking)

    monkeypatch.setattr(inner.InnerParts, "_values", counted)
    for minute in range(1, 30):
        following.feed("s", filler(2, 2, f"<b><v>{minute}</v></b>", minute))
        assert following.told.items() == [str(minute * (minute + 1) // 2)]
    assert seen == [1] * 29


def test_a_unit_whose_values_stay_is_not_asked():
    following = credit("for $x in stream('s')//a return count($x/b[d = 'x'])")
    following.feed("s", filler(2, 2, f"<b>{hole(9, 4)}</b>", 1))
    before = len(following.changes)
    feed = following.watch._feeds["s"]
    assert isinstance(feed, FragmentFeed)
    assert feed.take().changed is None
    following.feed("s", filler(9, 4, "<d>x</d>", 2))
    assert following.told.items() == ["1"]
    assert len(following.changes) == before + 2


def test_what_is_embedded_against_the_structure_ends_the_keeping_and_no_answer():
    following = Watched("for $x in stream('s')//a return sum($x/b/v)")
    following.feed("s", f"{HEAD}{STRUCTURE}".encode())
    assert kept(following)
    unit = filler(1, 1, f"<a><b><v>2</v></b>{hole(2, 2)}</a>")
    following.feed("s", filler(0, 0, f"<r>{hole(1, 1)}</r>") + unit)
    assert kept(following) == []
    following.feed("s", filler(2, 2, "<b><v>1</v></b>", 1))
    assert following.told.items() == following.afresh() == ["3"]


def test_an_error_inside_ends_the_keeping_and_waits_to_be_mended():
    following = credit("for $x in stream('s')//a where $x/c return sum($x/b/(v * 2))")
    assert kept(following)
    following.feed("s", filler(2, 2, "<b><v>many</v></b>", 1))
    assert following.told.items() == []
    following.feed("s", filler(3, 3, "<c/>", 2))
    following.feed("s", filler(2, 2, "<b><v>4</v></b>", 1))
    assert following.told.items() == following.afresh() == ["8"]


@pytest.mark.parametrize(
    "query",
    [
        "for $x in stream('s')//a return ($x, count($x/b))",
        "for $x in stream('s')//a return count($x/b[1])",
        "for $x in stream('s')//a return (string-join($x/b), count($x/b))",
        "for $x in stream('s')//a return count($x/b[../c])",
        "for $x in stream('s')//a?[now] return count($x/b)",
        "for $x in stream('s')//a return (count($x/node()), count($x/b))",
        "for $x in stream('s')//a return count($x/b[vtTo(.) = now])",
    ],
)
def test_what_must_be_seen_whole_is_not_kept(query):
    assert kept(credit(query)) == []
