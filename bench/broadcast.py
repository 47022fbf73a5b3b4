"""The bytes of a channel: fragments beside whole documents, and what many listeners cost.

Incidents on roads, each corrected now and then. After every change a server may send the document
as it is now, or the fragment that changed. Bytes are counted as they leave; nothing is estimated.
"""

from __future__ import annotations

import asyncio
import gzip
import random
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from xstreamcast.cli.arguments import Parsed, Parser
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.serve.carousel import Carousel
from xstreamcast.serve.channel import Channel, Rhythm
from xstreamcast.serve.hub import Hub

STRUCTURE = (
    '<structure><tag id="1" name="roads"><tag id="2" name="incident" type="temporal">'
    '<tag id="3" name="road"/><tag id="4" name="severity"/><tag id="5" name="text"/>'
    "</tag></tag></structure>\n"
)
PERIOD = 30.0  # seconds between two rounds
PACE = 10.0  # changes a second


@dataclass(slots=True)
class Feed:
    """Incidents, and the changes that they go through."""

    count: int
    seed: int = 7

    def incident(self, i: int, turn: int, chance: random.Random) -> str:
        words = " ".join(chance.choice(WORDS) for _ in range(40))
        return (
            f'<incident n="{i}"><road>A{i % 97}</road><severity>{chance.randint(0, 9)}</severity>'
            f"<text>{words} ({turn})</text></incident>"
        )

    def changes(self, turns: int) -> Iterator[tuple[int, str]]:
        chance = random.Random(self.seed)
        for turn in range(turns):
            i = turn if turn < self.count else chance.randrange(self.count)
            yield i, self.incident(i, turn, chance)


WORDS = (
    *("accident", "lane", "closed", "towards", "junction", "expect", "delays", "because", "of"),
    *("works", "recovery", "under", "way", "debris", "slow", "traffic", "both", "directions"),
    *("until", "further", "notice", "police", "on", "scene", "surface", "water"),
)


def add_arguments(parser: Parser) -> None:
    parser.add_argument("--incidents", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--changes", type=int, default=2000, help="after all are there")
    parser.add_argument("--listeners", type=int, nargs="+", default=[1, 100, 300])


def main(arguments: Parsed) -> int:
    out = sys.stdout.write
    out("| incidents | changes | documents | gzipped | fragments | with rounds | documents / ")
    out("fragments | one who comes late |\n|---:|---:|---:|---:|---:|---:|---:|---:|\n")
    for count in arguments.incidents:
        out(_line(count, arguments.changes) + "\n")
        sys.stdout.flush()
    out("\n| listeners | fragments sent | processor time, µs each |\n|---:|---:|---:|\n")
    for count in arguments.listeners:
        sent, seconds = asyncio.run(_fed(count))
        out(f"| {count} | {sent:,} | {seconds / sent * 1e6:.1f} |\n")
    return 0


def _line(count: int, turns: int) -> str:
    feed, current = Feed(count), dict[int, str]()
    carousel, decoder = Carousel(), Decoder("roads")
    plain = Channel(carousel)
    rounds = Channel(carousel, Rhythm(repeat=PERIOD, structure=10.0))
    holes = "".join(f'<hole id="{i + 1}" tsid="2"/>' for i in range(count))
    begin = f'{STRUCTURE}<filler id="0" tsid="1"><roads>{holes}</roads></filler>\n'
    whole = packed = 0
    _take(carousel, decoder, begin.encode())
    for turn, (i, text) in enumerate(feed.changes(count + turns)):
        current[i] = text
        _take(carousel, decoder, f'<filler id="{i + 1}" tsid="2">{text}</filler>\n'.encode())
        if turn < count:
            continue
        if turn == count:
            _drain(plain, 0.0)
            _drain(rounds, 0.0)
            plain.size = rounds.size = 0
        document = f"<roads>{''.join(current.values())}</roads>".encode()
        whole += len(document)
        packed += len(gzip.compress(document, 6))
        _drain(plain, turn / PACE)
        _drain(rounds, turn / PACE)
    late = Channel(carousel)
    _drain(late, 0.0)
    ratio = whole / plain.size
    sizes = [whole, packed, plain.size, rounds.size]
    shown = " | ".join(f"{size / 1e6:,.2f} MB" for size in sizes)
    return f"| {count:,} | {turns:,} | {shown} | {ratio:,.0f} × | {late.size / 1e3:,.0f} kB |"


def _take(carousel: Carousel, decoder: Decoder, data: bytes) -> None:
    for arrival in decoder.feed(data):
        carousel.take(arrival, decoder.ids)


def _drain(channel: Channel, now: float) -> None:
    while channel.next(now):
        pass


async def _fed(listeners: int) -> tuple[int, float]:
    """Listeners that take everything: what choosing and joining their bytes costs the server."""
    carousel, decoder = Carousel("all"), Decoder("roads")
    hub = Hub(streams={"roads": carousel})
    holes = "".join(f'<hole id="{i + 1}" tsid="2"/>' for i in range(100))
    _take(carousel, decoder, f"{STRUCTURE}<filler id='0' tsid='1'><r>{holes}</r></filler>".encode())
    total = 0

    async def send(lines: list[bytes]) -> None:
        nonlocal total
        total += len(lines)
        await asyncio.sleep(0)

    channels = [Channel(carousel) for _ in range(listeners)]
    feeding = [asyncio.create_task(hub.feed(channel, send)) for channel in channels]
    lines = [
        f'<filler id="{i + 1}" tsid="2">{text}</filler>\n'.encode()
        for i, text in Feed(100).changes(2000)
    ]
    arrivals = [decoder.feed(line) for line in lines]
    begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for some in arrivals:
        hub.take("roads", some, decoder.ids)
        await asyncio.sleep(0)
    hub.read("roads")
    await asyncio.gather(*feeding)
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin
    return sum(channel.sent for channel in channels), spent
