"""Several queries over one history: each tells what it would tell over one of its own."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from bench.credit import QUERIES, STREAM, charges, opening
from tests.operators import test_inner, test_verdicts
from tests.operators.test_law import chunks
from tests.streams_strategies import histories
from xstreamcast.api import compiled
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.watching.network import Network


class Running:
    """Queries, and what each has told."""

    def __init__(self, texts: dict[str, str], stream: str = "s") -> None:
        self.stream = stream
        programs = {name: compiled(text) for name, text in texts.items()}
        self.network = Network(programs, {stream: "fragments"})
        self.decoder = Decoder(stream, names=self.network.names)
        self.told = {name: Accumulated() for name in texts}

    def feed(self, chunk: bytes) -> dict[str, list[str]]:
        self.network.on_arrivals(self.stream, self.decoder.feed(chunk), self.decoder.ids)
        for name, changes in self.network.ticks().items():
            for change in changes:
                self.told[name].apply(change)
        return {name: told.items() for name, told in self.told.items()}


def histories_of(running: Running) -> set[int]:
    found = set()
    for watch in running.network.watches.values():
        feed = watch._feeds[running.stream]
        assert isinstance(feed, FragmentFeed)
        found.add(id(feed.history))
    return found


@settings(deadline=None)
@given(st.data(), test_inner.structures(), st.lists(st.integers(0, 10**6), max_size=8))
def test_queries_together_tell_what_each_tells_alone(data, structure, cuts):
    some = st.one_of(test_inner.questions(), test_verdicts.questions())
    texts = {name: data.draw(some) for name in "abc"}
    together = Running(texts)
    alone = [Running({name: text}) for name, text in texts.items()]
    for chunk in chunks(data.draw(histories(structure)), cuts):
        expected: dict[str, list[str]] = {}
        try:
            for one in alone:
                expected |= one.feed(chunk)
        except Error:
            return
        assert together.feed(chunk) == expected


def test_one_history_is_enough_where_nothing_is_forgotten():
    running = Running(QUERIES, STREAM)
    wire = [opening(5, 1), *charges(5, 300, 1)]
    alone = [Running({name: text}, STREAM) for name, text in QUERIES.items()]
    for line in wire:
        expected = {name: items for one in alone for name, items in one.feed(line).items()}
        assert running.feed(line) == expected
    assert len(histories_of(running)) == 1
    kept = [one.network.state_bytes for one in alone]
    assert max(kept) < running.network.state_bytes < sum(kept)


def test_a_query_that_forgets_keeps_a_history_of_its_own():
    running = Running(
        QUERIES | {"now": 'count(stream("credit")//account/creditLimit?[now])'}, STREAM
    )
    for line in [opening(3, 1), *charges(3, 20, 1)]:
        running.feed(line)
    assert len(histories_of(running)) == 2
