"""Messages in any order through a mapping, beside a few lines that keep the same state by hand."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from xstreamcast.api import compiled
from xstreamcast.edges.mapping.decoder import MappingDecoder
from xstreamcast.edges.mapping.form import parse_mapping
from xstreamcast.edges.mapping.messages import Message
from xstreamcast.model.change import Accumulated
from xstreamcast.operators.watching.watch import Watch

MAPPING = """
[namespaces]
p = "urn:p"
[message]
time = "/p:m/@at"
[unit.thing]
path    = "//p:thing"
key     = ["p:kind", "@id"]
from    = "p:since"
to      = "@to"
version = "@v"
remove  = "@gone = 'yes'"
"""
NOW = 'declare namespace p = "urn:p"; stream("s")//p:thing?[now] ! concat(p:kind, @id, p:text)'
ALL = (
    'declare namespace p = "urn:p"; for $t in stream("s")//p:thing '
    'return concat($t/p:kind, $t/@id, $t/p:text, " ", $t/@vtFrom)'
)
MINUTES = st.integers(0, 9)


def instant(minute: int) -> str:
    return f"2024-01-01T00:0{minute}:00Z"


@st.composite
def things(draw) -> str:
    since = draw(MINUTES)
    said = f'id="{draw(st.sampled_from("12"))}"'
    if draw(st.booleans()):
        said += f' to="{instant(draw(st.integers(since, 9)))}"'
    if draw(st.integers(0, 3)) == 0:
        said += ' gone="yes"'
    if draw(st.booleans()):
        said += f' v="{draw(st.integers(1, 2))}"'
    kind, text = draw(st.sampled_from("ab")), draw(st.sampled_from("xyz"))
    inside = f"<kind>{kind}</kind><since>{instant(since)}</since><text>{text}</text>"
    return f"<thing {said}>{inside}</thing>"


@st.composite
def messages(draw) -> bytes:
    inside = "".join(draw(st.lists(things(), max_size=3)))
    return f'<m xmlns="urn:p" at="{instant(draw(MINUTES))}">{inside}</m>'.encode()


def by_hand(said: list[bytes]) -> tuple[list[str], list[str]]:
    """(what is true now, all versions that were), with lxml and dicts."""
    p = "{urn:p}"
    clock = ""
    known: dict[Any, dict[Any, Any]] = {}
    for data in said:
        root = etree.fromstring(data)
        clock = max(clock, root.get("at", ""))
        for thing in root.iter(f"{p}thing"):
            key = thing.findtext(f"{p}kind"), thing.get("id")
            since, version = thing.findtext(f"{p}since"), int(thing.get("v", 0))
            versions = known.setdefault(key, {})
            if since not in versions or versions[since][0] <= version:
                gone, to = thing.get("gone") == "yes", thing.get("to", "9999")
                versions[since] = version, gone, to, thing.findtext(f"{p}text")
    current, every = [], []
    for key, versions in sorted(known.items()):
        told = sorted(one for one in versions.items() if one[0] <= clock)
        ends = [since for since, _ in told[1:]] + ["9999"]
        for (since, (_, gone, to, text)), after in zip(told, ends, strict=False):
            end = min(to, after) if to <= clock else after
            if gone or end <= since:
                continue
            every.append(f"{key[0]}{key[1]}{text} {since}")
            if end == "9999":
                current.append(f"{key[0]}{key[1]}{text}")
    return current, every


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(messages(), min_size=1, max_size=6), st.lists(st.integers(0, 6), max_size=3))
def test_the_state_is_what_one_keeps_by_hand(said, cuts):
    watches = [Watch(compiled(query), {"s": "fragments"}) for query in (NOW, ALL)]
    decoders = [
        MappingDecoder("s", parse_mapping(MAPPING, "m"), names=watch.names) for watch in watches
    ]
    told = [Accumulated(), Accumulated()]
    places = [0, *sorted(min(cut, len(said)) for cut in cuts), len(said)]
    for a, b in itertools.pairwise(places):
        for watch, decoder, answer in zip(watches, decoders, told, strict=True):
            found = decoder.messages([Message(one) for one in said[a:b]])
            watch.on_arrivals("s", found, decoder.ids)
            for change in watch.tick():
                answer.apply(change)
        if b:
            current, every = by_hand(said[:b])
            assert told[0].items() == current
            assert told[1].items() == every
