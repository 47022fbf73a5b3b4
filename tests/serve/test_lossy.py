"""A channel that drops, repeats and reorders: after one round of the carousel, all is exact."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast import query
from xstreamcast.edges.sources.guard import OrderGuard
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.serve.carousel import Carousel, Keep
from xstreamcast.serve.channel import Channel, Rhythm, wire

IDS = range(1, 7)
BEGIN = """<structure><tag id="1" name="r"><tag id="2" name="u" type="temporal">
<tag id="3" name="n"/></tag><tag id="4" name="e" type="event"/></tag></structure>
<filler id="0" tsid="1"{}><r>"""
BEGIN += "".join(f'<hole id="{i}" tsid="{2 if i < 5 else 4}"/>' for i in IDS) + "</r></filler>\n"
NOW = 'for $u in stream("s")//u?[now] return <u>{$u/n/text()}</u>'
QUERIES: dict[Keep, list[str]] = {
    "current": [NOW, 'count(stream("s")//e)', 'sum(stream("s")//u?[now]/n)'],
    "all": [
        NOW,
        'for $u in stream("s")//u return <v at="{vtFrom($u)}">{$u/n/text()}</v>',
        'for $e in stream("s")//e return <e at="{vtFrom($e)}">{$e/text()}</e>',
    ],
}


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """Fillers, replacements and removals of six ids; in valid time, or as they come."""
    timed = draw(st.booleans())
    text = BEGIN.format(' validTime="2026-01-01T00:00:00"' if timed else "")
    for number in range(draw(st.integers(1, 25))):
        i = draw(st.sampled_from(IDS))
        minute = draw(st.integers(1, 30)) if i < 5 else number + 1
        when = f' validTime="2026-01-01T00:{minute:02}:00"' if timed else ""
        word = (
            draw(st.sampled_from(["filler", "filler", "replace", "remove"])) if i < 5 else "filler"
        )
        payload = f"<u><n>{number}</n></u>" if i < 5 else f"<e>{number}</e>"
        tsid = 2 if i < 5 else 4
        if word == "remove":
            text += f'<remove id="{i}" tsid="{tsid}"{when}/>\n'
        else:
            text += f'<{word} id="{i}" tsid="{tsid}"{when}>{payload}</{word}>\n'
    return text.encode()


def live_and_round(stream: bytes, keep: Keep) -> tuple[list[bytes], list[bytes]]:
    """What is sent as it comes, and what one round repeats."""
    decoder, carousel = Decoder("s"), Carousel(keep)
    listener = Channel(carousel, Rhythm(repeat=1.0, structure=1e9, rounds=1), most=1)
    live: list[bytes] = []
    for line in stream.splitlines(keepends=True):
        for arrival in decoder.feed(line):
            carousel.take(arrival, decoder.ids)
        while batch := listener.next(0.0):
            live += map(wire, batch)
    for arrival in decoder.close():
        carousel.take(arrival, decoder.ids)
    carousel.ended = True
    again: list[bytes] = []
    time = 10.0
    while not listener.over:
        again += map(wire, listener.next(time))
    assert again.pop() == b"<stream:eos/>\n"
    return live, again


def lossy(lines: list[bytes], chance: random.Random) -> list[bytes]:
    """30 % are dropped, 30 % come again later, and nearly all come out of order."""
    placed: list[tuple[float, bytes]] = []
    for at, line in enumerate(lines):
        for _ in range(1 + (chance.random() < 0.3)):
            if chance.random() >= 0.3:
                placed.append((at + chance.uniform(0, 8), line))
    return [line for _, line in sorted(placed, key=lambda one: one[0])]


def reordered(lines: list[bytes], chance: random.Random) -> list[bytes]:
    return chance.sample(lines, len(lines))


def received(text: str, lines: list[bytes], policy: str) -> list[str]:
    guard = OrderGuard()
    pieces = [kept for line in lines if (kept := guard(line))]
    return Accumulated(query(text).watch(s=iter(pieces), policy=policy)).items()


@pytest.mark.parametrize("policy", ["optimistic", "strict"])
@pytest.mark.parametrize("keep", ["current", "all"])
@given(stream=streams(), chance=st.randoms(use_true_random=False), which=st.integers(0, 2))
def test_after_one_round_the_answer_is_exact(
    stream: bytes, chance: Any, which: int, keep: Keep, policy: str
) -> None:
    live, again = live_and_round(stream, keep)
    text = QUERIES[keep][which]
    channel = [*lossy(live, chance), *reordered(again, chance), b"<stream:eos/>\n"]
    assert received(text, channel, policy) == list(query(text).run(s=stream).lines())


def test_loss_is_loss_without_a_round() -> None:
    """The test above could fail: what was dropped is missed."""
    stream = BEGIN.format("") + '<filler id="1" tsid="2"><u><n>7</n></u></filler>\n'
    live, again = live_and_round(stream.encode(), "current")
    assert received(NOW, [*live[:-1], b"<stream:eos/>\n"], "optimistic") == []
    assert received(NOW, [*live[:-1], *again, b"<stream:eos/>\n"], "optimistic") == ["<u>7</u>"]


def test_the_older_of_two_for_one_instant_does_not_win_by_coming_last() -> None:
    stream = BEGIN.format("") + (
        '<filler id="1" tsid="2" validTime="2026-01-01T00:00:00"><u><n>old</n></u></filler>\n'
        '<filler id="1" tsid="2" validTime="2026-01-01T00:00:00"><u><n>new</n></u></filler>\n'
    )
    live, _ = live_and_round(stream.encode(), "all")
    *first, old, new = live
    assert received(NOW, [*first, new, old], "optimistic") == ["<u>new</u>"]


def _answer(channel: list[bytes]) -> list[str] | None:
    """What was received; None while the structure is among what was lost: that is an error."""
    try:
        return received(NOW, [*channel, b"<stream:eos/>\n"], "optimistic")
    except Error as lost:
        if lost.code != "XSCF0010":
            raise
        return None


def test_a_channel_that_loses_in_every_round_needs_a_few() -> None:
    """Each round brings 70 % of what is missing: the rounds until nothing is."""
    chance = random.Random(7)
    stream = BEGIN.format("") + "".join(
        f'<filler id="{i % 4 + 1}" tsid="2"><u><n>{i}</n></u></filler>\n' for i in range(40)
    )
    live, again = live_and_round(stream.encode(), "current")
    expected = list(query(NOW).run(s=stream.encode()).lines())
    channel, rounds = lossy(live, chance), 0
    while _answer(channel) != expected:
        channel += lossy(again, chance)
        rounds += 1
        assert rounds < 20
    assert rounds > 0
