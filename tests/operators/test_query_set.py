"""Queries that run together: each has the answer that it has alone, whatever they share."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xstreamcast as xsc
from tests.conftest import examples
from tests.operators.test_law import chunks
from tests.operators.watched import Watched, is_restored
from tests.streams_strategies import NAMES, WORDS, Case, cases
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.operators.watching.query_set import QuerySet, QuerySetRun, query_set

# {n}: an element's name, {w}: a word, {i}: a number; what differs between queries is a constant
TEMPLATES = (
    'for $x in stream("s")//{n} where $x = "{w}" return <h>{{ $x/@*, string($x) }}</h>',
    'count(stream("s")//{n}[. = "{w}"])',
    'sum(stream("s")//{n}[. castable as xs:double][number(.) > {i}])',
    'stream("s")//{n}?[now][. = "{w}"]',
    'for $x in stream("s")//{n}?[now] where $x eq "{w}" return <h>{{ vtFrom($x), $x/text() }}</h>',
    '(for $x in stream("s")//{n} where $x != "{w}" order by string($x) return $x)[position() <= 2]',
    'for $x in stream("s")//{n}[. = "{w}"] group by $k := name($x/..) '
    "return <g k='{{$k}}'>{{ count($x) }}</g>",
    '<all>{{ for $x in stream("s")//{n} where contains($x, "{w}") return $x }}</all>',
    'for tumbling window $w in stream("s")//{n}[. = "{w}"] start at $i when $i mod 2 = 1 '
    "return <w>{{ count($w) }}</w>",
    'if (count(stream("s")//{n}[. = "{w}"]) >= {i}) then <many n="{i}"/> else ()',
    'some $x in stream("s")//{n} satisfies $x = "{w}"',
    'declare stream t := for $x in stream("s")//{n} return <t>{{ string($x) }}</t>; '
    'stream("t")/answer/t[. = "{w}"]',
    'for $x in stream("s")//{n}[vtFrom(.) >= xs:dateTime("2020-01-01T00:0{i}:00")] '
    "return <v>{{ string($x) }}</v>",
)


@st.composite
def sets(draw: st.DrawFn) -> dict[str, str]:
    """A few templates, each with several constants: some the same, some not."""
    found: list[str] = []
    for template in draw(st.lists(st.sampled_from(TEMPLATES), min_size=1, max_size=3)):
        name = draw(st.sampled_from(NAMES))
        for _ in range(draw(st.integers(1, 4))):
            word, number = draw(st.sampled_from(WORDS)), draw(st.integers(0, 9))
            found.append(template.format(n=name, w=word, i=number))
    return {f"q{at}": text for at, text in enumerate(found)}


def programs_of(texts: dict[str, str]) -> QuerySet:
    return query_set((name, xsc.query(text).programs) for name, text in texts.items())


class Together:
    """The queries of a set over one stream, and what the changes of each add up to."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.set = programs_of(texts)
        self.answers = {name: Accumulated() for name in texts}
        self._begin()

    def _begin(self) -> None:
        self.run = QuerySetRun(self.set.programs, {"s": "fragments"}, answered=self.set.answered)
        self.decoder = Decoder("s", names=self.run.names)

    def feed(self, chunk: bytes) -> None:
        self.run.on_arrivals("s", self.decoder.feed(chunk), self.decoder.ids)
        for change in self.run.tick():
            self.answers[change.query].apply(change)

    def restart(self) -> None:
        """Continue from a snapshot, if one can be taken now."""
        run, decoder = self.run, self.decoder
        self._begin()
        if not is_restored(run, {"s": decoder}, self.run, {"s": self.decoder}):
            self.run, self.decoder = run, decoder


@settings(deadline=None, max_examples=examples(150))
@given(cases(), sets(), st.lists(st.integers(0, 10**6), max_size=4), st.booleans())
def test_each_query_of_a_set_has_the_answer_that_it_has_alone(
    case: Case, texts: dict[str, str], cuts: list[int], restarts: bool
):
    alone = {name: Alone(text) for name, text in texts.items()}
    together = Together(texts)
    try:
        for chunk in chunks(case.wire, cuts):
            together.feed(chunk)
            for name, one in alone.items():
                one.feed("s", chunk)
                assert together.answers[name].items() == one.told.items(), texts[name]
            if restarts:
                together.restart()
    except Error:
        assert any(one.fails(case.wire) for one in alone.values())


class Alone(Watched):
    """A query by itself; one that declares streams runs as a set of one."""

    def __init__(self, text: str) -> None:
        self._text, self._set = text, None
        if "declare stream" in text:
            self._set = Together({"q": text})
            self.told = self._set.answers["q"]
        else:
            super().__init__(text)

    def feed(self, name: str, chunk: bytes, tick: bool = True) -> list[Change]:
        if self._set is None:
            return super().feed(name, chunk, tick)
        self._set.feed(chunk)
        return []

    def fails(self, wire: bytes) -> bool:
        """Whether it fails over the whole stream."""
        try:
            Alone(self._text).feed("s", wire)
        except Error:
            return True
        return False


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        (['count(stream("s")//a[b = "x"])', 'count(stream("s")//a[b = "y"])'], 1),
        (['count(stream("s")//a[b = "x"])', 'count( stream("s")//a[b="x"] )'], 1),
        (['count(stream("s")//a[b = "x"])', 'count(stream("s")//a[b = 3])'], 2),
        (['count(stream("s")//a[b = "x"])', 'count(stream("s")//c[b = "x"])'], 2),
        (['stream("s")//a[position() = 2]', 'stream("s")//a[position() = 3]'], 2),
        (['stream("s")//a[contains(b, "x")]', 'stream("s")//a[contains(b, "y")]'], 2),
        (['stream("s")//a?[now][b > 3]', 'stream("s")//a?[now][b > 4]'], 1),
        (['stream("s")//a[3 < xs:integer(b)]', 'stream("s")//a[4 < xs:integer(b)]'], 1),
    ],
)
def test_queries_that_differ_in_compared_constants_are_one_program(texts: list[str], count: int):
    found = programs_of({f"q{at}": text for at, text in enumerate(texts)})
    assert len(found.programs) == count
    names = itertools.chain.from_iterable(one.names for one in found.answered.values())
    assert sorted(names) == [f"q{at}" for at in range(len(texts))]


def test_a_program_of_many_queries_looks_up_those_that_a_unit_concerns():
    texts = {f"q{at}": f'stream("s")/r/a[k = "k{at}"]/v' for at in range(300)}
    found = programs_of(texts)
    run = QuerySetRun(found.programs, {"s": "document"}, answered=found.answered)
    run.on_bytes("s", b"<r>")
    run.tick()
    (watch,) = run.watches.values()
    run.on_bytes("s", b"<a><k>k7</k><v>1</v></a>")
    assert [(one.query, one.item) for one in run.tick()] == [("q7", "<v>1</v>")]
    assert watch.pipeline is not None
    held = watch.pipeline.held()
    run.on_bytes("s", b"<a><k>none</k><v>2</v></a>" * 50)
    assert run.tick() == []
    assert watch.pipeline.held() == held  # the table is whole: nothing that comes is kept for it


VALUES = {
    "string": ('"a&amp;b\r\n\'"', '""', '"  "', '"z"'),
    "integer": ("12", "0", "99"),
    "decimal": ("1.50", "12.0", "99.5"),
    "double": ("1e-3", "12e0", 'xs:double("NaN")', 'xs:double("-INF")'),
    "date": ('xs:date("2020-02-29Z")', 'xs:date("2001-01-01")'),
    "dateTime": ('xs:dateTime("2020-01-01T00:00:00.5")', 'xs:dateTime("2001-01-01T00:00:00Z")'),
    "dayTimeDuration": ('xs:dayTimeDuration("PT60M")', 'xs:dayTimeDuration("PT9H")'),
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_all_types_come_back_from_the_table(kind: str):
    words = ("12", "1.5", "", "2020-02-29Z", "PT1H", "2020-01-01T00:00:00.500", "-INF", "a&amp;b")
    source = ("<r>" + "".join(f"<a><k>{one}</k></a>" for one in words) + "</r>").encode()
    form = f'stream("s")/r/a[k castable as xs:{kind}][xs:{kind}(k) = {{}}]/k'
    texts = {f"q{at}": form.format(value) for at, value in enumerate(VALUES[kind])}
    told: dict[str, list[str]] = {name: [] for name in texts}
    for change in xsc.queries(texts).watch(s=source):
        told[change.query].append(change.item)
    assert told == {
        name: list(xsc.query(text).run(s=source).lines()) for name, text in texts.items()
    }


def test_a_query_that_drops_its_streams_is_refused_in_a_set():
    text = (
        'declare option xsc:once "t"; declare stream t := stream("s")//a; '
        'stream("t")/answer/a[. = "x"]'
    )
    with pytest.raises(Error, match="must be watched alone"):
        xsc.queries({"one": text, "two": text})
