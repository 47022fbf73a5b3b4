"""Forgetting changes no answer: a query that forgets next to one over all that arrived."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.operators.test_law import chunks
from tests.operators.test_law_divided import questions
from tests.operators.watched import Watched
from tests.streams_strategies import HEAD, cases, histories, structures
from xstreamcast.algebra.analysis.forgetting import kept
from xstreamcast.api import compiled, query
from xstreamcast.edges.immutable import ImmutableArrivals, path_of
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import Error
from xstreamcast.history.forgetting import forget
from xstreamcast.history.history import History
from xstreamcast.history.view import view
from xstreamcast.model.fragment import Arrival, FragmentBatch, NewStructure
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.watching.inputs import Policy
from xstreamcast.tape.store import Store


class Remembered(Watched):
    """A running query that forgets, and a history of its own that keeps everything."""

    def __init__(self, query: str, immutable: bool = False, policy: Policy = "optimistic") -> None:
        fixed = (lambda name, structure: frozenset(structure.tags)) if immutable else None
        super().__init__(query, policy=policy, fixed=fixed)
        self.first = ImmutableArrivals("s", (path_of("/*"),)) if immutable else None
        self.everything: History | None = None

    def arrive(self, name: str, arrivals: Iterable[Arrival]) -> None:
        for arrival in arrivals:
            one = arrival if self.first is None else self.first.arriving(arrival)
            ids = self.decoders[name].ids
            if isinstance(one, NewStructure) and self.everything is None:
                store = Store(self.watch.names)
                self.everything = History(name, one.structure, store=store, ids=ids)
            if isinstance(one, FragmentBatch):
                assert self.everything is not None
                self.everything.add(one)
            self.watch.on_arrivals(name, [one], ids)

    def history(self, name: str) -> History | None:
        return self.everything

    @property
    def kept(self) -> ForgettingFeed:
        feed = self.watch._feeds["s"]
        assert isinstance(feed, ForgettingFeed)
        return feed


@settings(deadline=None)
@given(st.data(), structures(), st.lists(st.integers(0, 10**6), max_size=5), st.booleans())
def test_what_forgets_answers_like_what_remembers(data, structure, cuts, immutable):
    wire = data.draw(histories(structure))
    beside = Remembered(data.draw(questions('stream("s")')), immutable)
    for chunk in chunks(wire, cuts):
        beside.feed("s", chunk)
        expected = beside.afresh()
        if expected is not None:
            assert beside.told.items() == expected
    try:
        beside.end()
    except Error:
        assert beside.afresh() is None
    else:
        assert beside.told.items() == beside.afresh()


@settings(deadline=None)
@given(cases(), st.lists(st.integers(0, 10**6), max_size=5))
def test_what_asks_for_the_past_is_answered_as_if_nothing_were_forgotten(case, cuts):
    for asked in case.queries:
        beside = Remembered(asked)
        for chunk in chunks(case.wire, cuts):
            beside.feed("s", chunk)
            expected = beside.afresh()
            if expected is not None:
                assert beside.told.items() == expected, asked


@settings(deadline=None)
@given(st.data(), structures(), st.lists(st.integers(0, 10**6), max_size=5))
def test_both_policies_say_the_same_of_what_is_immutable(data, structure, cuts):
    wire = data.draw(histories(structure))
    asked = data.draw(questions('stream("s")'))
    strict, optimistic = Remembered(asked, True, "strict"), Remembered(asked, True)
    try:
        for one in (strict, optimistic):
            for chunk in chunks(wire, cuts):
                one.feed("s", chunk)
            one.end()
    except Error:
        return
    assert strict.told.items() == optimistic.told.items() == optimistic.afresh()


STRUCTURE = (
    '<stream:structure><tag id="0" name="r" type="snapshot"><tag id="1" name="a" type="temporal">'
    '<tag id="2" name="b" type="event"><tag id="5" name="v"/></tag></tag>'
    '<tag id="3" name="c" type="temporal"><tag id="4" name="d" type="event"/></tag></tag>'
    "</stream:structure>"
)


def stream_of(units: int) -> list[str]:
    """A root with units a and c; each a has two b, each c has a d."""

    def filler(number: int, tag: int, payload: str) -> str:
        return (
            f'<stream:filler id="{number}" tsid="{tag}" validTime="2020-01-01T00:00:00">'
            f"{payload}</stream:filler>"
        )

    def hole(number: int, tag: int) -> str:
        return f'<stream:hole id="{number}" tsid="{tag}"/>'

    out = []
    inner = ""
    for i in range(1, units + 1):
        a, c = 10 * i, 10 * i + 5
        inner += hole(a, 1) + hole(c, 3)
        out.append(filler(a, 1, f"<a>{hole(a + 1, 2)}{hole(a + 2, 2)}</a>"))
        out += [filler(a + n, 2, f"<b><v>{i}.{n}</v></b>") for n in (1, 2)]
        out.append(filler(c, 3, f"<c>{hole(c + 1, 4)}</c>"))
        out.append(filler(c + 1, 4, f"<d>{'x' * 50}</d>"))
    return [HEAD + STRUCTURE, filler(1, 0, f"<r>{inner}</r>"), *out]


def test_fragments_of_tags_that_are_not_read_are_dropped():
    beside = Remembered('stream("s")/r/a//v')
    for line in stream_of(20):
        beside.feed("s", line.encode())
    assert beside.kept.kept.tags == {0, 1, 2}
    assert beside.kept.dropped == 40
    assert len(beside.kept.history) == 61
    assert beside.told.items() == beside.afresh()


@pytest.mark.parametrize("shuffled", [False, True])
def test_units_that_were_told_are_forgotten_where_nothing_is_revised(shuffled):
    head, *rest = stream_of(300)
    if shuffled:
        random.Random(5).shuffle(rest)
    beside, most = Remembered('stream("s")/r/a[b/v > 3]/b', immutable=True), 0
    beside.feed("s", head.encode())
    for at in range(0, len(rest), 10):
        beside.feed("s", "".join(rest[at : at + 10]).encode())
        most = max(most, len(beside.kept.history))
        assert beside.told.items() == beside.afresh()
    assert len(beside.kept.history) < 200
    assert most < 200 or shuffled
    pipeline = beside.watch.pipeline
    assert pipeline is not None
    assert len(pipeline) == len(beside.told)
    if not shuffled:
        assert pipeline.state_bytes < 2000


NOW_ONLY = (
    'for $x in stream("s")/r/a?[now] return string($x)',
    'stream("s")//a?[now]/@k/string()',
    'for $x in stream("s")//a?[now] where $x/@k > "5" return $x',
    'count(stream("s")/r/a?[now])',
    'for $x in stream("s")/r/a?[now] where $x/b/v > 1 or $x/@k > "3" return <q>{ $x/@k }</q>',
)
ALL_TIMES = (
    'for $x in stream("s")/r/a return string($x)',
    'stream("s")/r[a?[now]/@k = "1"]/a/@k/string()',
    'for $x in stream("s")/r/a?[2020-01-01T00:10:00, now] return string($x)',
    'stream("s")/r?[now]',
    'stream("s")/r/a#[last]/string()',
)


def versions_of(count: int, late: bool) -> list[str]:
    """Many versions of two units; some come after later ones."""
    times = list(range(count))
    if late:
        random.Random(3).shuffle(times)
    return [
        f'<stream:filler id="{10 * (1 + i % 2)}" tsid="1" validTime="2020-01-01T{i // 60:02}:'
        f'{i % 60:02}:00"><a k="{i % 10}">{i}</a></stream:filler>'
        for i in times
    ]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("asked", NOW_ONLY)
def test_versions_that_hold_no_longer_go_where_only_now_is_asked(asked, late):
    head, root, *_ = stream_of(2)
    beside, most = Remembered(asked), 0
    beside.feed("s", (head + root).encode())
    for at, line in enumerate(versions_of(300, late)):
        beside.feed("s", line.encode())
        most = max(most, len(beside.kept.history))
        if at % 20 == 0:
            assert beside.told.items() == beside.afresh(), line
    assert beside.told.items() == beside.afresh()
    assert beside.kept.kept.recent == {1: 0}
    assert most < 200


RECENT = (
    'for $x in stream("s")/r/a?[now - PT10M, now] return string($x)',
    'count(stream("s")/r/a/b?[now - PT10M, now])',
    'for $x in stream("s")//b?[now - PT10M, now] where $x/v > 5 return $x/v/string()',
)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("asked", RECENT)
def test_what_ended_before_all_projections_begin_goes(asked, late):
    head, root, *_ = stream_of(2)
    holes = "".join(f'<stream:hole id="{1000 + i}" tsid="2"/>' for i in range(300))
    unit = '<stream:filler id="10" tsid="1" validTime="2020-01-01T00:00:00"><a k="0">'
    versions = versions_of(300, late)
    if "b?" in asked:
        versions = [
            re.sub(r'id="\d+" tsid="1"', f'id="{1000 + i}" tsid="2"', one)
            .replace("<a ", "<b ")
            .replace("</a>", f"<v>{i % 9}</v></b>")
            for i, one in enumerate(versions)
        ]
    beside, most = Remembered(asked), 0
    beside.feed("s", (head + root + unit + holes + "</a></stream:filler>").encode())
    for at, line in enumerate(versions):
        beside.feed("s", line.encode())
        most = max(most, len(beside.kept.history))
        if at % 20 == 0:
            assert beside.told.items() == beside.afresh(), line
    assert beside.told.items() == beside.afresh()
    assert most < 200


@pytest.mark.parametrize("path", ["//b", "/r//b", "//v", "/r/*/b"])
def test_versions_stay_where_what_they_hold_is_reached_past_them(path):
    head, root, *_ = stream_of(2)
    beside = Remembered(f'(count(stream("s"){path}), stream("s")/r/a?[now]/@k/string())')
    beside.feed("s", (head + root).encode())
    for i, line in enumerate(versions_of(200, late=False)):
        hole = f'<stream:hole id="{1000 + i}" tsid="2"/></a>'
        inner = re.sub(r'id="\d+" tsid="1"', f'id="{1000 + i}" tsid="2"', line)
        inner = re.sub(r"<a .*</a>", f"<b><v>{i}</v></b>", inner) if i % 8 == 0 else ""
        beside.feed("s", (line.replace("</a>", hole) + inner).encode())
    assert beside.told.items() == beside.afresh()


@pytest.mark.parametrize(
    ("asked", "goes"),
    [
        ('(stream("s")//v, stream("s")/r/a/b?[now])', False),
        ('(stream("s")/r//v, stream("s")//b?[now]/@k)', False),
        ('stream("s")//b?[now]//v', True),
    ],
)
def test_what_is_reached_inside_is_reached_in_all_versions(asked, goes):
    assert (2 in kept(compiled(asked), "s", _structure()).recent) == goes


def _structure():
    (told,) = (one for one in Decoder("s").feed((HEAD + STRUCTURE).encode()) if one)
    assert isinstance(told, NewStructure)
    return told.structure


@pytest.mark.parametrize("asked", ALL_TIMES)
def test_versions_stay_where_other_times_are_asked(asked):
    head, root, *_ = stream_of(2)
    beside = Remembered(asked)
    beside.feed("s", (head + root).encode())
    for line in versions_of(100, late=True):
        beside.feed("s", line.encode())
    assert beside.told.items() == beside.afresh()
    assert len(beside.kept.history) == 101


def test_what_comes_again_for_a_unit_that_is_forgotten_says_nothing():
    head, *rest = stream_of(100)
    beside = Remembered('count(stream("s")//b)', immutable=True)
    beside.feed("s", (head + "".join(rest)).encode())
    before = beside.told.items()
    beside.feed("s", "".join(rest[3:9]).encode())
    assert beside.told.items() == before == ["200"]


def test_a_fragment_that_needs_what_was_dropped_is_an_error():
    beside = Remembered('stream("s")/r/a//v')
    lines_ = stream_of(3)
    beside.feed("s", "".join(lines_).encode())
    odd = re.sub(r'id="\d+" tsid="1"', 'id="10" tsid="1"', lines_[2], count=1)
    odd = odd.replace("</a>", '<stream:hole id="15" tsid="3"/></a>').replace("00:00:00", "00:00:01")
    other = odd.replace("<stream:hole", "<stream:hole", 1)
    beside.feed("s", other.encode())  # c has no v, so nothing is missed
    assert beside.told.items() == beside.afresh()
    late = (
        '<stream:filler id="16" tsid="4" validTime="2020-01-01T00:00:02"><d><v>7</v></d>'
        "</stream:filler>"
    )
    with pytest.raises(Error, match="XSCF0015"):
        beside.feed("s", late.encode())


@given(st.data())
def test_a_history_that_forgot_says_of_the_rest_what_it_said(data):
    text = "".join(stream_of(6)).encode()
    decoder = Decoder("s")
    history = None
    for arrival in decoder.feed(text):
        if isinstance(arrival, NewStructure):
            history = History("s", arrival.structure, store=Store(decoder.names), ids=decoder.ids)
        if isinstance(arrival, FragmentBatch):
            assert history is not None
            history.add(arrival)
    assert history is not None
    gone = data.draw(st.sets(st.integers(1, 6)))
    ids = [int(decoder.ids.text(int(code))) for code in history.fragments["id"]]
    live = np.array([one // 10 not in gone for one in ids])
    before = view(history).serialize(0)
    for i in gone:
        unit = rf"<(a|c) [^>]*>(?:(?!</\1>).)*?({i}\.1).*?</\1>"
        before = re.sub(unit.encode(), b"", before)
    forget(history, live)
    after = view(history).serialize(0)
    assert [x for x in re.findall(rb"\d\.\d", after)] == [
        f"{i}.{n}".encode() for i in range(1, 7) if i not in gone for n in (1, 2)
    ]
    assert len(history) == int(live.sum())
    assert query("count(//b)").run(after).lines() is not None
