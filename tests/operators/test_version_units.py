"""One more version touches one row: by hole and version, at any depth, in any order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.circuit.grammar import HEAD
from tests.operators.watched import Watched
from xstreamcast import query
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.feeds.fragments import FragmentFeed

FILTER = 'for $e in stream("s")//e where $e/x > 3 return $e/x'
COUNT = 'count(stream("s")//e)'
GROUPS = 'for $e in stream("s")//e group by $k := string($e/x) return <g>{count($e)}</g>'
ORDER = 'for $e in stream("s")//e order by number($e/x) return $e'
BELOW = 'for $e in stream("s")//a[@k = "2"]/e return $e/x'


def at(second: int) -> str:
    return f"2020-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def filler(number: int, tag: int, second: int, payload: str) -> str:
    head = f'id="{number}" tsid="{tag}" validTime="{at(second)}"'
    return f"<stream:filler {head}>{payload}</stream:filler>"


def holes(tag: int, numbers) -> str:
    return "".join(f'<stream:hole id="{i}" tsid="{tag}"/>' for i in numbers)


def flat(kind: str, numbers=(1,)) -> str:
    return (
        f'{HEAD}<stream:structure><tag id="1" name="r" type="snapshot"><tag id="3" name="e" '
        f'type="{kind}"><tag id="4" name="x" type="snapshot"/></tag></tag></stream:structure>'
        + filler(0, 1, 0, f"<r>{holes(3, numbers)}</r>")
    )


def nested(account: str, kind: str = "event") -> str:
    """Two accounts, each with a hole for its events."""
    return (
        f'{HEAD}<stream:structure><tag id="1" name="r" type="snapshot"><tag id="2" name="a" '
        f'type="{account}" filler="true"><tag id="5" name="n" type="snapshot"/><tag id="3" '
        f'name="e" type="{kind}" filler="true"><tag id="4" name="x" type="snapshot"/></tag></tag>'
        "</tag></stream:structure>" + filler(0, 1, 0, f"<r>{holes(2, (1, 2))}</r>")
    )


def account(number: int, second: int = 0) -> str:
    return filler(number, 2, second, f'<a k="{number}"><n/>{holes(3, (number + 10,))}</a>')


def event(number: int, second: int, value: int) -> str:
    return filler(number, 3, second, f"<e><x>{value}</x></e>")


def touched(beside: Watched, chunk: str) -> int:
    """How many units one more fragment makes be evaluated."""
    assert beside.watch.pipeline is not None
    before = beside.watch.pipeline.evaluated
    beside.feed("s", chunk.encode())
    assert beside.told.items() == beside.afresh()
    return beside.watch.pipeline.evaluated - before


@pytest.mark.parametrize("query", [FILTER, COUNT, GROUPS, ORDER])
@pytest.mark.parametrize("kind", ["temporal", "event"])
def test_one_more_version_of_an_id_touches_itself_and_its_neighbour(query, kind):
    beside = Watched(query, {"s": "fragments"})
    beside.feed("s", (flat(kind) + "".join(event(1, 2 * n, n % 7) for n in range(1, 200))).encode())
    assert touched(beside, event(1, 500, 4)) <= 2
    assert touched(beside, event(1, 101, 5)) <= 2  # late: a version in the middle
    assert touched(beside, event(1, 101, 6)) <= 2  # the same instant: it is overwritten


@pytest.mark.parametrize("query", [FILTER, COUNT, GROUPS, ORDER, BELOW])
@pytest.mark.parametrize("kind", ["snapshot", "temporal"])
def test_one_more_event_of_an_account_touches_one_row(query, kind):
    beside = Watched(query, {"s": "fragments"})
    start = nested(kind) + account(1) + account(2)
    for n in range(1, 200):
        start += event(11 + n % 2, n, n % 7)
    beside.feed("s", start.encode())
    assert touched(beside, event(12, 500, 4)) == 1
    assert touched(beside, event(11, 101, 5)) <= 2


def test_the_end_of_a_version_is_all_that_a_later_one_changes():
    beside = Watched('stream("s")//e', {"s": "fragments"})
    beside.feed("s", (flat("temporal") + event(1, 1, 1) + event(1, 9, 9)).encode())
    before = len(beside.changes)
    beside.feed("s", event(1, 5, 5).encode())
    assert beside.told.items() == beside.afresh()
    keys = {change.key for change in beside.changes[before:]}
    assert keys == {f"1@{at(1)}.0", f"1@{at(5)}.0"}


@given(st.data(), st.sampled_from(("snapshot", "temporal", "event")), st.booleans())
def test_units_in_holes_of_fragments_at_any_depth_and_order(data, kind, timed):
    inner = "temporal" if timed else "event"
    wire = [account(1), account(2), filler(0, 1, 3, f"<r>{holes(2, (2, 1))}</r>")]
    for _ in range(data.draw(st.integers(2, 8))):
        one, second = data.draw(st.integers(1, 2)), data.draw(st.integers(0, 9))
        what = data.draw(st.sampled_from(("event", "event", "event", "account", "remove")))
        if what == "event":
            wire.append(event(one + 10, second, data.draw(st.integers(0, 9))))
        elif what == "account":
            wire.append(account(one, second))
        else:
            wire.append(f'<stream:remove id="{one}" tsid="2" validTime="{at(second)}"/>')
    wire = data.draw(st.permutations(wire))
    query = data.draw(st.sampled_from((FILTER, COUNT, GROUPS, ORDER, BELOW)))
    beside = Watched(query, {"s": "fragments"})
    beside.feed("s", nested(kind, inner).encode())
    for chunk in wire:
        beside.feed("s", chunk.encode())
        assert beside.told.items() == beside.afresh()


@pytest.mark.parametrize("kinds", ["temporal snapshot event", "event temporal snapshot"])
def test_units_below_several_fragments_of_the_spine(kinds):
    above, middle, below = kinds.split()
    inner = (
        f'<tag id="6" name="m" type="{middle}" filler="true"><tag id="3" name="e" type="{below}"'
    )
    structure = nested(above).replace('<tag id="3" name="e" type="event"', inner)
    structure = structure.replace("</tag></stream:structure>", "</tag></tag></stream:structure>")
    beside = Watched('for $e in stream("s")//m/e where $e/x > 3 return $e', {"s": "fragments"})
    chunks = [
        structure,
        filler(1, 2, 1, f'<a k="1">{holes(6, (21,))}</a>'),
        filler(21, 6, 2, f'<m j="1">{holes(3, (11, 12))}</m>'),
        event(11, 3, 5),
        event(12, 4, 6),
        filler(1, 2, 9, f'<a k="2">{holes(6, (21,))}</a>'),
        event(11, 12, 7),
        filler(21, 6, 11, f'<m j="2">{holes(3, (12, 11))}</m>'),
        event(12, 2, 8),
    ]
    for chunk in chunks:
        beside.feed("s", chunk.encode())
        assert beside.told.items() == beside.afresh()
    assert beside.told.items()
    feed = beside.watch._feeds["s"]
    assert isinstance(feed, FragmentFeed)
    assert feed.cut is not None
    assert feed.cut.passed == {2, 6}


def test_a_hole_more_in_the_root_touches_one_unit():
    beside = Watched(COUNT, {"s": "fragments"})
    numbers = list(range(1, 100))
    random.Random(1).shuffle(numbers)
    start = flat("temporal", numbers[:50]) + "".join(event(n, 1, n) for n in numbers)
    beside.feed("s", start.encode())
    for n, more in enumerate(numbers[50:], start=2):
        numbers.insert(n * 7 % 50, numbers.pop(numbers.index(more)))
        shown = numbers[: 49 + n]
        assert touched(beside, filler(0, 1, n, f"<r>{holes(3, shown)}</r>")) <= 2


def test_older_contents_of_what_has_no_versions_are_dropped():
    beside = Watched('for $e in stream("s")//e where $e/x > 3 return $e', {"s": "fragments"})
    structure = flat("snapshot", range(1, 11)).replace(
        'name="e" type="snapshot"', 'name="e" type="snapshot" filler="true"'
    )
    beside.feed("s", structure.encode())
    feed = beside.watch._feeds["s"]
    for n in range(1, 2000):
        beside.feed("s", event(1 + n % 10, n, n % 7).encode(), tick=n % 50 == 0)
    beside.tick()
    assert beside.told.items() == beside.afresh()
    assert isinstance(feed, FragmentFeed)
    assert len(feed.history) < 400
    # a late older content changes nothing, nor does one that is removed and comes again older
    beside.feed("s", event(3, 5, 6).encode())
    assert beside.told.items() == beside.afresh()
    beside.feed("s", f'<stream:remove id="3" tsid="3" validTime="{at(5000)}"/>'.encode())
    beside.feed("s", event(3, 4000, 6).encode())
    assert beside.told.items() == beside.afresh()


LESS = (
    '<stream:structure><tag id="1" name="r" type="snapshot"><tag id="3" name="e" type="temporal">'
    '<tag id="4" name="x" type="snapshot"/></tag></tag></stream:structure>'
)
MORE = LESS.replace("</tag></tag>", '<tag id="5" name="y" type="snapshot"/></tag></tag>', 1)


@pytest.mark.parametrize(
    "query",
    [
        *('count(stream("s")//y)', 'for $e in stream("s")//e return $e/y', 'stream("s")//x'),
        *('for $e in stream("s")//e order by $e/y return $e/x', 'sum(stream("s")//e/y)'),
    ],
)
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("together", [True, False])
def test_a_structure_that_grows_and_what_no_structure_declares(query, declared, together):
    numbers = range(1, 30)
    start = HEAD + LESS + filler(0, 1, 0, f"<r>{holes(3, numbers)}</r>")
    start += "".join(event(n, n, n % 5) for n in numbers)
    later = filler(3, 3, 50, "<e><x>77</x><y>5</y></e>")
    beside = Watched(query, {"s": "fragments"})
    more = MORE if declared else ""
    for chunk in [start + more + later] if together else [start, more, later]:
        before = len(beside.changes)
        beside.feed("s", chunk.encode())
        assert beside.told.items() == beside.afresh()
        if chunk == more:
            assert len(beside.changes) == before  # nothing differs, and nothing is emitted


def test_a_late_version_before_others_counts_though_its_tag_was_declared_late():
    """What the query looks for is declared by no tag at first: nothing is dropped."""
    start = HEAD + LESS + filler(0, 1, 0, f"<r>{holes(3, (1,))}</r>") + event(1, 9, 1)
    beside = Watched('count(stream("s")//y)', {"s": "fragments"})
    beside.feed("s", start.encode())
    beside.feed("s", MORE.encode())
    beside.feed("s", filler(1, 3, 10, "<e><y/></e>").encode())
    assert beside.told.items() == ["1"]
    beside.feed("s", filler(1, 3, 8, "<e><y/></e>").encode())
    assert beside.told.items() == beside.afresh() == ["2"]


def test_a_removal_without_a_parent_counts_for_the_order_of_what_is_attached():
    """An event is sorted by the first of its fragments, whether this one names a parent or not."""
    following = Watched("for $x in stream('s')//a return string($x/@k)")
    for line in (
        '<stream:fragments xmlns:stream="urn:xstreamcast:stream">'
        '<stream:structure><tag id="0" name="r" type="snapshot"><tag id="1" name="a" type="event"/>'
        "</tag></stream:structure>",
        '<stream:filler id="0" tsid="0" validTime="2020-01-01T00:00:00"><r/></stream:filler>',
        '<stream:filler id="5" tsid="1" in="0" validTime="2020-01-01T00:08:00"><a k="5"/>'
        "</stream:filler>",
        '<stream:filler id="6" tsid="1" in="0" validTime="2020-01-01T00:03:00"><a k="6"/>'
        "</stream:filler>",
        '<stream:remove id="5" tsid="1" validTime="2020-01-01T00:01:00"/>',
    ):
        following.feed("s", line.encode())
        assert following.told.items() == following.afresh()
    assert following.told.items() == ["5", "6"]


def test_what_comes_while_its_hole_is_gone_counts_when_the_hole_returns():
    """A root without a hole, another content for it, and the root with the hole again."""

    def said(name: str, tag: int, second: int, payload: str) -> str:
        head = f'id="{name}" tsid="{tag}" validTime="2020-01-01T00:00:{second:02}"'
        return f"<filler {head}>{payload}</filler>\n"

    hole = '<r><hole id="x" tsid="2"/></r>'
    for kind in ('type="temporal"', 'type="snapshot" filler="true"', 'type="event"'):
        told = (
            f'<structure><tag id="1" name="r" type="snapshot"><tag id="2" name="a" {kind}/></tag>'
        )
        lines = [
            said("0", 1, 1, "<r/>"), said("x", 2, 2, "<a/>"), said("0", 1, 2, hole),
            said("x", 2, 3, "<a>0</a>"), said("0", 1, 4, "<r/>"), said("x", 2, 5, "<a>1</a>"),
            said("0", 1, 6, hole),
        ]  # fmt: skip
        wire = f"<fragments>{told}</structure>{''.join(lines)}</fragments>".encode()
        for text in ('stream("s")//a/string()', 'stream("s")//a?[now]/string()'):
            kept = Accumulated()
            for change in query(text).watch(s=wire, batch=1):
                kept.apply(change)
            assert kept.items() == list(query(text).run(s=wire).lines()), kind
