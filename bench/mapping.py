"""Messages through a mapping, beside lxml.iterparse doing the same upserts into a dict.

Processor time of one core: `xstreamcast bench mapping`.
"""

from __future__ import annotations

import io
import random
import sys
import time
from collections.abc import Callable
from functools import partial

from xstreamcast.cli.arguments import Parsed, Parser

MAPPING = """
[namespaces]
v = "urn:vm"
[message]
time = "/v:m/v:at"
[unit.vehicle]
path = "/v:m/v:vehicle"
key  = "v:ref"
from = "v:recorded"
"""
_FORM = """declare namespace v = "urn:vm";
for $x in stream("s")//v:vehicle{0} where $x/v:speed {1} return string($x/v:ref)
"""
QUERIES = {
    "alerts": _FORM.format("", "> 79.9"),
    "alerts of what is true now": _FORM.format("?[now]", "> 79.9"),
    "an answer for each message": _FORM.format("", ">= 0"),
}
_BATCH = 1000


def message(number: int, keys: int) -> bytes:
    """A report of a vehicle, of about 500 bytes."""
    minute, second = divmod(number // 100, 60)
    at = f"2024-05-01T{8 + minute // 60 % 12:02}:{minute % 60:02}:{second:02}.{number % 100:02}Z"
    lat, speed = random.random(), random.random() * 80
    return (
        f'<m xmlns="urn:vm"><at>{at}</at><vehicle><ref>{number % keys}</ref>'
        f"<recorded>{at}</recorded><line>L{number % 97}</line><lat>{59 + lat:.6f}</lat>"
        f"<lon>{10 + lat:.6f}</lon><speed>{speed:.1f}</speed><bearing>{number % 360}</bearing>"
        f"<status>onTime</status><delay>PT{number % 300}S</delay><next>"
        f"<stop>NSR:StopPlace:{number % 5000}</stop><arrival>2024-05-01T09:00:00Z</arrival></next>"
        "<operator>RUT</operator><monitored>true</monitored><occupancy>seatsAvailable</occupancy>"
        f"<journey>RUT:ServiceJourney:{number % 700}</journey></vehicle></m>"
    ).encode()


def with_lxml(messages: list[bytes]) -> None:
    """What a poller does by hand: parse, find, put into a dict."""
    from lxml import etree

    known: dict[str, tuple[str, float, bytes]] = {}
    for data in messages:
        for _, element in etree.iterparse(io.BytesIO(data), tag="{urn:vm}vehicle"):
            ref, at = element.findtext("{urn:vm}ref"), element.findtext("{urn:vm}recorded")
            speed = float(element.findtext("{urn:vm}speed"))
            if ref not in known or known[ref][0] <= at:
                known[ref] = at, speed, etree.tostring(element)


def mapped(messages: list[bytes]) -> None:
    """The mapping alone."""
    from xstreamcast.edges.mapping.decoder import MappingDecoder
    from xstreamcast.edges.mapping.form import parse_mapping
    from xstreamcast.edges.mapping.messages import Message

    decoder = MappingDecoder("s", parse_mapping(MAPPING, "bench"))
    for first in range(0, len(messages), _BATCH):
        decoder.messages([Message(one) for one in messages[first : first + _BATCH]])


def watched(messages: list[bytes], query: str = QUERIES["alerts"]) -> None:
    """The mapping, and a simple query left running over it."""
    from xstreamcast.api import compiled
    from xstreamcast.edges.mapping.decoder import MappingDecoder
    from xstreamcast.edges.mapping.form import parse_mapping
    from xstreamcast.edges.mapping.messages import Message
    from xstreamcast.operators.watching.watch import Watch

    watch = Watch(compiled(query), {"s": "fragments"})
    decoder = MappingDecoder("s", parse_mapping(MAPPING, "bench"), names=watch.names)
    for first in range(0, len(messages), _BATCH):
        found = decoder.messages([Message(one) for one in messages[first : first + _BATCH]])
        watch.on_arrivals("s", found, decoder.ids)
        watch.tick()


def add_arguments(parser: Parser) -> None:
    """What the benchmark understands."""
    parser.add_argument("--messages", type=int, default=50_000, metavar="N")
    parser.add_argument("--keys", type=int, default=5_000, metavar="N")


def main(arguments: Parsed) -> int:
    """Measure and print messages a second of processor time."""
    count, keys = arguments.messages, arguments.keys
    messages = [message(number, keys) for number in range(count)]
    size = sum(map(len, messages)) // count
    sys.stdout.write(f"{count} messages of {size} bytes, {keys} keys\n")
    ways: dict[str, Callable[[list[bytes]], None]] = {
        "lxml.iterparse into a dict": with_lxml, "mapping": mapped,
    }  # fmt: skip
    ways |= {f"watch: {name}": partial(watched, query=text) for name, text in QUERIES.items()}
    for name, way in ways.items():
        way(messages[:2000])  # what is compiled is compiled now
        begin = time.process_time()
        way(messages)
        took = time.process_time() - begin
        each = f"{count / took:,.0f} messages/s, {took / count * 1e6:.1f} µs each"
        sys.stdout.write(f"{name}: {each}\n")
    return 0
