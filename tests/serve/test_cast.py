"""A stream cast by a real server to real listeners."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from tests.edges.sources.commands import watch
from tests.edges.sources.roads import FIRST, MESSAGES, QUERY, REST, WHOLE, expected, settle
from tests.edges.sources.servers import LONG, free_port, mosquitto, until
from tests.serve.casts import cast, lossy
from xstreamcast import query
from xstreamcast.cli.main import main
from xstreamcast.cli.run import read_sources
from xstreamcast.edges.watching import WatchOptions
from xstreamcast.edges.watching.bound import Input
from xstreamcast.errors import Error
from xstreamcast.model.change import Accumulated
from xstreamcast.serve.channel import Rhythm

pytest.importorskip("uvicorn", reason="the serve extra is not installed")
pytest.importorskip("websockets", reason="the ws extra is not installed")

WEB = ["ws://127.0.0.1:0"]


class Feed:
    """A source that says what it is told to."""

    def __init__(self, *pieces: bytes) -> None:
        self._queue: Queue[bytes | None] = Queue()
        for piece in pieces:
            self.say(piece)

    def say(self, piece: bytes | None) -> None:
        self._queue.put(piece)

    def __iter__(self) -> Iterator[bytes]:
        while (piece := self._queue.get(timeout=LONG)) is not None:
            yield piece


@pytest.mark.parametrize("scheme", ["ws", "http", "tcp"])
def test_who_tunes_in_gets_structure_and_state_then_what_follows(scheme: str) -> None:
    feed = Feed(*MESSAGES[:26])
    targets = ["tcp://127.0.0.1:0"] if scheme == "tcp" else WEB
    with cast(sources={"roads": feed}, targets=targets) as (casting, addresses):
        url = next(one for one in addresses if one.startswith(scheme))
        until(lambda: casting.hub.streams["roads"].taken >= 26, "the first half")
        answer = Accumulated(())
        options = WatchOptions(seconds=60.0)
        running = query(QUERY).watching(None, {"roads": Input(url)}, options)
        told = False
        for changes in running.ticks():
            for change in changes:
                answer.apply(change)
            if not told and answer.items() == expected(MESSAGES[:26]):
                told = True
                for message in MESSAGES[26:]:
                    feed.say(message)
            if answer.items() == expected():
                break
        assert told
        assert answer.items() == expected()
        feed.say(None)


def test_a_late_listener_is_not_sent_what_was_replaced(tmp_path: Path) -> None:
    with cast(sources={"roads": WHOLE}, targets=WEB) as (casting, (url, *_)):
        until(lambda: casting.hub.done, "the end")
        out = tmp_path / "tuned.xml"
        assert main(["tune", url, "-o", str(out)]) == 0
    assert out.read_bytes().count(b"<stream:filler") == 20  # of 51 fragments
    assert list(query(QUERY).run(roads=out).lines()) == expected()


def test_with_all_history_it_is_sent_everything(tmp_path: Path) -> None:
    with cast(sources={"roads": WHOLE}, targets=WEB, keep="all") as (_, (url, *_)):
        out = tmp_path / "tuned.xml"
        assert main(["tune", url, "-o", str(out)]) == 0
    versions = 'for $i in stream("roads")//incident return <v at="{vtFrom($i)}">{$i/@n}</v>'
    assert list(query(versions).run(roads=out).lines()) == list(
        query(versions).run(roads=WHOLE).lines()
    )


@pytest.mark.parametrize("policy", ["optimistic", "strict"])
def test_a_proxy_that_loses_30_percent_and_one_round(policy: str) -> None:
    feed = Feed(FIRST.encode())
    rhythm = Rhythm(repeat=0.2, structure=0.1, rounds=3)
    with (
        cast(sources={"roads": feed}, targets=WEB, rhythm=rhythm) as (casting, (url, *_)),
        lossy(url) as (proxy, address),
    ):
        answer: list[list[str]] = []

        def listen() -> None:
            answer.append(settle(address, None, policy=policy))

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        until(lambda: casting.hub.listening > 0, "a listener")
        for message in MESSAGES[1:]:
            feed.say(message)
        until(lambda: casting.hub.streams["roads"].taken == 51, "all of it")
        until(lambda: proxy.dropped > 20, "losses")
        proxy.calm.set()  # one round of what is kept comes whole: then the stream ends
        feed.say(None)
        listener.join(LONG)
        assert answer == [expected()]


def test_several_hundred_listeners_and_one_that_takes_nothing() -> None:
    """Three hundred are sent everything while one reads nothing at all; nobody waits for it."""
    count = 300
    feed = Feed(FIRST.encode())
    with cast(sources={"roads": feed}, targets=WEB) as (casting, (url, *_)):
        host, port = "127.0.0.1", int(url.rsplit(":", 1)[1].split("/")[0])
        silent = socket.create_connection((host, port))
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        silent.sendall(
            b"GET /roads HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        got = asyncio.run(_listeners(url, count, casting, feed))
        hub = casting.hub
        assert hub.most == count + 1
        assert got == [REST[-1].split("<incident")[1].split("</filler>")[0]] * count
        assert hub.listening == 1  # the silent one, behind and not waited for
        silent.close()
        feed.say(None)


async def _listeners(url: str, count: int, casting: Any, feed: Feed) -> list[str]:
    from websockets.asyncio.client import connect

    async def listen() -> str:
        async with connect(url, max_size=None, proxy=None) as one:
            async for message in one:
                if 'validTime="2026-11-15T09:49:00"' in str(message):
                    last = str(message).split("<incident")[-1]
                    return last.split("</stream:")[0]
        return "it ended"

    listeners = [asyncio.create_task(listen()) for _ in range(count)]

    async def everybody() -> None:
        while casting.hub.listening <= count:
            await asyncio.sleep(0.02)

    await asyncio.wait_for(everybody(), LONG)
    large = "x" * 4000  # enough to fill what a system holds for one that reads nothing
    for number, message in enumerate(REST[:-1] * 8):
        feed.say(message.replace("</severity>", f"</severity><!-- {number} {large} -->").encode())
    feed.say(REST[-1].encode())
    return await asyncio.wait_for(asyncio.gather(*listeners), LONG)


def test_a_listener_that_comes_back_says_where_it_was() -> None:
    from websockets.sync.client import connect

    feed = Feed(*MESSAGES[:26])
    with cast(sources={"roads": feed}, targets=WEB) as (casting, (url, *_)):
        until(lambda: casting.hub.streams["roads"].taken == 26, "the first half")
        with connect(url, proxy=None) as one:
            message = str(one.recv(30))
        reached = message.rsplit("<?reached ", 1)[1].split("?>")[0]
        for late in MESSAGES[26:28]:
            feed.say(late)
        until(lambda: casting.hub.streams["roads"].taken == 28, "two more")
        with connect(f"{url}?since={reached}", proxy=None) as one:
            again = str(one.recv(30))
        assert again.count("<stream:filler") == 2
        assert again.startswith("<stream:structure>")
        feed.say(None)


def test_a_listener_names_one_of_several_streams(capfd: pytest.CaptureFixture[str]) -> None:
    other = WHOLE.replace(b"2026-11-15", b"2027-11-15")
    sources = {"roads": WHOLE, "later": other}
    with cast(sources=sources, targets=[*WEB, "tcp://127.0.0.1:0"]) as (_, addresses):
        for scheme in ("ws", "tcp"):
            url = next(one for one in addresses if one.startswith(scheme) and "later" in one)
            assert main(["tune", url]) == 0
            said = capfd.readouterr().out
            assert "2027-11-15" in said
            assert "2026-11-15" not in said
        url = next(one for one in addresses if one.startswith("ws"))
        with pytest.raises(Error, match="refuses: the streams are roads, later"):
            settle(url.rpartition("/")[0] + "/nowhere", None)


def test_the_urgent_goes_first_where_a_channel_is_slow() -> None:
    from xstreamcast.edges.wire.decoder import Decoder
    from xstreamcast.serve.carousel import Carousel
    from xstreamcast.serve.channel import Channel, wire

    decoder = Decoder("s")
    carousel = Carousel("all", {"e": 5})
    text = """<structure><tag id="1" name="r"><tag id="2" name="u" type="temporal"/>
    <tag id="3" name="e" type="event"/></tag></structure>"""
    for i in range(10):
        text += f'<filler id="u{i}" tsid="2"><u>{i}</u></filler>'
    text += '<filler id="e" tsid="3"><e/></filler>'
    for arrival in decoder.feed(text.encode()) + decoder.close():
        carousel.take(arrival, decoder.ids)
    listener = Channel(carousel, Rhythm(rate=1.0))
    sent = [listener.next(float(second)) for second in range(30)]
    assert b"<e/>" in wire(sent[0][1])
    assert [wire(batch[0]).split(b"<u>")[1][:1] for batch in sent[1:11]] == [
        b"%d" % i for i in range(10)
    ]
    assert listener.sent == 11  # one each second, and no more


def test_killed_and_started_again_a_listener_has_told_everything_once(tmp_path: Path) -> None:
    feed = Feed(*MESSAGES[:11])
    with cast(sources={"roads": feed}, targets=WEB, keep="all") as (_, (url, *_)):
        for begin, end in ((11, 26), (26, 41)):
            with watch(tmp_path, url) as sink:
                sink.until(expected(MESSAGES[:begin]))
                for message in MESSAGES[begin:end]:
                    feed.say(message)
                sink.until(expected(MESSAGES[:end]))
        for message in MESSAGES[41:]:
            feed.say(message)
        with watch(tmp_path, url) as sink:
            sink.until(expected())
            lines = sink.lines()
        assert len(lines) == len(set(lines))
        feed.say(None)


def test_what_is_kept_of_history_and_of_events() -> None:
    from xstreamcast.edges.wire.decoder import Decoder
    from xstreamcast.serve.carousel import Carousel, Keep

    text = """<structure><tag id="1" name="r"><tag id="2" name="u" type="temporal"/>
    <tag id="3" name="e" type="event"/></tag></structure>"""
    for hour in range(10):
        when = f'validTime="2026-01-01T{hour:02}:00:00"'
        text += f'<filler id="u" tsid="2" {when}><u>{hour}</u></filler>'
        text += f'<filler id="e{hour}" tsid="3" {when}><e>{hour}</e></filler>'
    text += '<filler id="gone" tsid="2" validTime="2026-01-01T01:00:00"><u/></filler>'
    text += '<remove id="gone" tsid="2" validTime="2026-01-01T02:00:00"/>'

    def kept(keep: Keep) -> list[str]:
        decoder, carousel = Decoder("s"), Carousel(keep)
        for arrival in decoder.feed(text.encode()) + decoder.close():
            carousel.take(arrival, decoder.ids)
        carousel.prune()
        items = [item for level in carousel.levels.values() for item in level.items.values()]
        assert len(items) == len(carousel)
        return sorted(f"{item.key}@{item.line.split(b'-01T')[1][:2].decode()}" for item in items)

    events = [f"e{hour}@{hour:02}" for hour in range(10)]
    versions = [f"u@{hour:02}" for hour in range(10)]
    assert kept("all") == [*events, "gone@01", "gone@02", *versions]
    assert kept("current") == [*events, "gone@02", "u@09"]  # who missed the removal needs it
    assert kept(3 * 3600 * 10**6) == [*events[6:], *versions[6:]]


def test_a_broker_keeps_structure_and_state_for_who_comes_late(tmp_path: Path) -> None:
    pytest.importorskip("paho.mqtt.client", reason="the mqtt extra is not installed")
    port = free_port()
    with mosquitto(tmp_path, port):
        target = f"mqtt://127.0.0.1:{port}/city"
        feed = Feed(*MESSAGES[:26])
        with cast(sources={"roads": feed}, targets=[target]) as (casting, _):
            until(lambda: casting.hub.streams["roads"].taken >= 26, "the first half")
            source = f"{target}/#"
            assert settle(source, expected(MESSAGES[:26])) == expected(MESSAGES[:26])
            for message in MESSAGES[26:]:
                feed.say(message)
            assert settle(source, expected()) == expected()
            feed.say(None)
        assert settle(source, expected()) == expected()  # nobody casts any more


def test_rounds_repeat_what_is_kept_and_then_the_stream_ends() -> None:
    from websockets.sync.client import connect

    rhythm = Rhythm(repeat=0.01, structure=0.0, rounds=2)
    with cast(sources={"roads": WHOLE}, targets=WEB, rhythm=rhythm) as (casting, (url, *_)):
        until(lambda: casting.hub.done, "the end")
        with connect(url, proxy=None) as one:
            said = "".join(str(message) for message in one)
    assert said.count("<stream:filler") == 20
    assert said.count("<stream:repeat") == 40
    assert said.count("<stream:eos/>") == 1


@pytest.mark.parametrize("rounds", [2, None], ids=["some rounds", "for ever"])
@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_a_run_ends_though_a_carousel_repeats(scheme: str, rounds: int | None) -> None:
    rhythm = Rhythm(repeat=0.05, structure=0.0, rounds=rounds)
    with cast(sources={"roads": WHOLE}, targets=WEB, rhythm=rhythm) as (casting, addresses):
        url = next(one for one in addresses if one.startswith(scheme))
        until(lambda: casting.hub.streams["roads"].ended, "the end of the source")
        _, named = read_sources([f"roads={url}#quiet=500ms"])
    assert sorted(query(QUERY).run(**named).lines()) == sorted(expected())


def test_events_that_have_ended_are_not_sent_to_who_returns() -> None:
    """A listener of events reconnects when a response ends; 204 says that there is no more."""
    rhythm = Rhythm(repeat=0.05, structure=0.0, rounds=2)
    with cast(sources={"roads": WHOLE}, targets=WEB, rhythm=rhythm) as (_, addresses):
        url = next(one for one in addresses if one.startswith("http"))
        running = query(QUERY).watching(None, {"roads": Input(url)}, WatchOptions(seconds=LONG))
        answer = Accumulated(change for changes in running.ticks() for change in changes)
    assert answer.items() == expected()  # the ticks ended with the stream


def test_the_number_of_an_event_is_not_ahead_of_what_the_event_holds() -> None:
    """A listener that loses its connection between two events must be sent the second one."""
    import re

    import httpx

    from xstreamcast.edges.sources.events import EventReader

    large = b"<!--" + b"x" * 400_000 + b"-->"  # the listener is slower than the server
    feed = Feed(*(one.replace(b"</severity>", b"</severity>" + large) for one in MESSAGES))
    with cast(sources={"roads": feed}, targets=WEB, keep="all") as (casting, addresses):
        until(lambda: casting.hub.streams["roads"].taken == 51, "all of it")
        url = next(one for one in addresses if one.startswith("http"))
        reader, numbers = EventReader(), list[tuple[int, int]]()
        headers = {"Accept": "text/event-stream"}
        with httpx.stream("GET", url, headers=headers, timeout=LONG) as response:
            for chunk in response.iter_bytes():
                for event in reader.feed(chunk):
                    last = max(map(int, re.findall(rb' seq="(\d+)"', event.data)))
                    numbers.append((int(event.id), last))
                if len(numbers) == 51:
                    break
        assert [number - last for number, last in numbers] == [0] * len(numbers)
        feed.say(None)


def test_words_that_make_no_sense_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in [
        (["x.xml", "--to", "ftp://x"], "--to must be ws://HOST:PORT"),
        (["x.xml", "--to", "sse", "--rate", "fast"], "a rate must be like 100"),
        (["x.xml", "--to", "sse", "--priority", "5"], "a priority must be TAG=N"),
        (["x.xml", "--to", "sse", "--keep", "some"], "a duration must be like"),
        (["x.xml", "--to", "wss://127.0.0.1:1"], "put a proxy that speaks TLS"),
    ]:
        assert main(["cast", *words]) == 2
        assert said in capsys.readouterr().err


def test_a_source_that_is_not_there_ends_the_cast(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cast", "nowhere.xml", "--to", "ws://127.0.0.1:0"]) == 2
    assert "cannot open nowhere.xml" in capsys.readouterr().err
