"""Chains that are kept as fragments arrive say what a history says of all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.streams_strategies import cases
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.history.history import History
from xstreamcast.history.versions import Versions
from xstreamcast.model.fragment import FragmentBatch, NewStructure
from xstreamcast.model.instant import NOW
from xstreamcast.operators.units.history_part import FragmentPlaces
from xstreamcast.tape.store import Store


@given(cases(), st.booleans(), st.integers(0, 9))
def test_versions_of_each_id_are_those_of_the_whole_history(case, eager, minute):
    decoder, history, links, versions = Decoder("s"), None, None, None
    for line in case.wire.splitlines(keepends=True):
        for arrival in decoder.feed(line):
            if isinstance(arrival, NewStructure):
                history = History(
                    "s", arrival.structure, store=Store(decoder.names), ids=decoder.ids
                )
                links = FragmentPlaces(history)
                versions = Versions(history, links)
            if isinstance(arrival, FragmentBatch):
                assert history is not None
                assert links is not None
                assert versions is not None
                history.add(arrival)
                first, last = links.catch_up()
                versions.look()
                for place in range(first, last):
                    if eager or place % 2:
                        versions.arrived(int(history.fragments["id"][place]), (place,))
                    elif (code := int(history.fragments["id"][place])) in versions._chains:
                        versions.arrived(code, (place,))
    if history is None or len(history) == 0:
        return
    assert versions is not None
    for until in (NOW, (1577836800 + 60 * minute) * 1_000_000):
        chains = history.chains(until)
        for code in range(len(chains.first) - 1):
            part = slice(int(chains.first[code]), int(chains.first[code + 1]))
            columns = (chains.place, chains.begin, chains.end, chains.zones)
            expected = list(zip(*(one[part].tolist() for one in columns), strict=True))
            found = versions.all(code, until)
            assert [tuple(one)[:4] for one in found] == expected
            assert [one.last for one in found] == [False] * (len(found) - 1) + [True] * bool(found)
            for one in found:
                assert versions.at(code, one.begin, until) == one
