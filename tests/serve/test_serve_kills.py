"""A server of answers as a process: killed at any time, interrupted, refused."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
from functools import partial
from pathlib import Path

import pytest

from tests.edges.sources.roads import MESSAGES, QUERY, WHOLE, expected
from tests.edges.sources.servers import LONG, free_port, until
from tests.serve.casts import cast
from tests.serve.served import Client, Command, Growing, Server, queries
from tests.serve.test_cast import Feed
from xstreamcast import query
from xstreamcast.cli.main import main
from xstreamcast.edges.watching.bound import Input
from xstreamcast.model.change import Accumulated

pytest.importorskip("uvicorn", reason="the serve extra is not installed")

COUNT = 'count(stream("roads")//incident?[now])'


def caught_up(client: Client, server: Server, wanted: list[str]) -> None:
    """What a client knows, what a plain request gives, and what `run` says are the same."""
    client.until(server, wanted)
    server.until(client.name, wanted)
    assert client.last == server.state(client.name)["id"]


def killed_often(
    folder: Path, seed: int, words: list[str], say: object, client: Client, texts: dict[str, str]
) -> None:
    """Kill a server while a client follows it, again and again, until all messages have come."""
    chance, at = random.Random(seed), 1
    files = queries(folder / "q", **texts)
    while at < len(MESSAGES):
        with Command(folder, *files, *words, "--checkpoint", str(folder / "state")) as command:
            server = command.server()
            with client.connected(server) as events:
                burst = chance.randint(3, 14)
                say(*MESSAGES[at : at + burst])  # type: ignore[operator]
                at += burst
                wanted = list(query(texts[client.name]).run(roads=b"".join(MESSAGES[:at])).lines())
                for _ in range(chance.randint(0, 6)):
                    if client.last and client.items() == wanted:
                        break
                    next(events)
                assert command.end() == -signal.SIGKILL


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_killed_at_any_time_a_client_misses_nothing_and_gets_nothing_twice(
    tmp_path: Path, seed: int
) -> None:
    feed, client = Growing(tmp_path, MESSAGES[0]), Client("hot")
    words = [*feed.words, "--batch", "1"]
    texts = {"hot": QUERY, "many": COUNT}
    killed_often(tmp_path, seed, words, feed.say, client, texts)
    files = queries(tmp_path / "q", **texts)
    with Command(tmp_path, *files, *words, "--checkpoint", str(tmp_path / "state")) as command:
        server = command.server()
        caught_up(client, server, expected())
        assert server.items("many") == ["19"]
        assert client.connections >= 4
        assert client.restarts == 1  # each time it was sent what it missed
        assert client.changes == server.state("hot")["changes"]
        assert command.end(signal.SIGTERM) == -signal.SIGTERM


@pytest.mark.slow
def test_with_snapshots_a_client_gets_what_it_missed_or_the_whole_answer(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="snapshots need the table extra")
    feed, client = Growing(tmp_path, MESSAGES[0]), Client("hot")
    words = [*feed.words, "--batch", "1", "--snapshot-every", "1"]
    killed_often(tmp_path, 3, words, feed.say, client, {"hot": QUERY, "many": COUNT})
    assert list((tmp_path / "state" / "snapshots").iterdir())
    files = queries(tmp_path / "q", hot=QUERY, many=COUNT)
    with Command(tmp_path, *files, *words, "--checkpoint", str(tmp_path / "state")) as command:
        server = command.server()
        caught_up(client, server, expected())
        restarts = client.restarts
        assert command.end(signal.SIGINT) == 130
    with Command(tmp_path, *files, *words, "--checkpoint", str(tmp_path / "state")) as command:
        server = command.server()
        server.until("hot", expected())
        feed.say(MESSAGES[1].replace(b"09:00:00", b"10:00:00"))
        late = [*MESSAGES, MESSAGES[1].replace(b"09:00:00", b"10:00:00")]
        caught_up(client, server, expected(late))
        assert client.restarts == restarts  # a snapshot knows where its clients are


@pytest.mark.slow
def test_what_came_from_a_network_is_not_lost_either(tmp_path: Path) -> None:
    pytest.importorskip("websockets", reason="the ws extra is not installed")
    feed, client = Feed(MESSAGES[0]), Client("hot")

    def say(*messages: bytes) -> None:
        for message in messages:
            feed.say(message)

    with cast(sources={"roads": feed}, targets=["ws://127.0.0.1:0"], keep="all") as (_, (url, *_)):
        words = ["-i", f"roads={url}"]
        killed_often(tmp_path, 4, words, say, client, {"hot": QUERY})
        files = queries(tmp_path / "q", hot=QUERY)
        with Command(tmp_path, *files, *words, "--checkpoint", str(tmp_path / "state")) as command:
            caught_up(client, command.server(), expected())
            assert client.restarts == 1
        feed.say(None)


def test_a_query_that_reads_an_answer_survives_its_server(tmp_path: Path) -> None:
    """Without a checkpoint, the next server has other numbers: the reader begins again."""
    feed = Growing(tmp_path, *MESSAGES[:26])
    at = f"127.0.0.1:{free_port()}"
    words = [*queries(tmp_path, hot=QUERY), *feed.words, "--listen", at]
    names = 'for $h in stream("hot")/answer/hot return string($h/@n)'
    wanted = [[item.split('"')[1] for item in expected(part)] for part in (MESSAGES[:26], MESSAGES)]
    answer, again = Accumulated(), None
    with Command(tmp_path, *words) as first:
        first.server()
        source = Input(f"http://{at}/queries/hot/changes")
        with query(names).watch(hot=source, duration="100s") as changes:
            for change in changes:
                answer.apply(change)
                if answer.items() == wanted[0] and again is None:
                    assert first.end() == -signal.SIGKILL
                    feed.say(*MESSAGES[26:])
                    again = Command(tmp_path, *words, "--batch", "7")
                if again is not None and answer.items() == wanted[1]:
                    break
    assert again is not None
    with again:
        assert answer.items() == wanted[1]


def test_a_checkpoint_of_watch_is_not_one_of_serve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    feed, state = Growing(tmp_path, WHOLE), str(tmp_path / "state")
    queries(tmp_path / "q", hot=QUERY)
    words = ["-i", f"roads={feed.path}", "--checkpoint", state]
    assert main(["serve", str(tmp_path / "q"), *words, "--for", "1s", "--listen", "0"]) == 0
    out = str(tmp_path / "out")
    assert main(["watch", str(tmp_path / "q"), *words, "-o", out]) == 2
    assert "was begun with serve, not changes" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_what_was_read_is_reported(tmp_path: Path, number: int) -> None:
    feed = Growing(tmp_path, WHOLE)
    with Command(tmp_path, *queries(tmp_path, hot=QUERY), *feed.words) as command:
        server = command.server()
        server.until("hot", expected())
        client = Client("hot")
        with client.connected(server) as events:
            next(events)
            assert command.end(number) == (130 if number == signal.SIGINT else -number)
            assert list(events) == []  # the connection was closed, not lost
        assert "bytes of state" in command.said()
        assert "Traceback" not in command.said()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_though_an_input_never_begins(tmp_path: Path, number: int) -> None:
    os.mkfifo(tmp_path / "pipe")
    words = [*queries(tmp_path, hot=QUERY), "-i", f"roads={tmp_path / 'pipe'}"]
    with Command(tmp_path, *words) as command:
        assert command.server().get("/health").json()["status"] == "starting"
        assert command.end(number) == (130 if number == signal.SIGINT else -number)


def test_a_port_that_is_in_use_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed = Growing(tmp_path, WHOLE)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        words = [*queries(tmp_path, hot=QUERY), "-i", f"roads={feed.path}", "--listen", at]
        assert main(["serve", *words]) == 2
    assert f"cannot listen at {at}: Address already in use" in capsys.readouterr().err


def test_words_that_make_no_sense_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Growing(tmp_path, WHOLE)
    hot, wrong = queries(tmp_path, hot=QUERY, wrong="for $x in")
    (other,) = queries(tmp_path / "other", hot="1")
    given = ["-i", f"roads={feed.path}", "--listen", "127.0.0.1:0"]
    for words, status, said in [
        ([wrong, *given], 3, "XPST0003"),
        ([hot, "--listen", "here"], 2, "--listen must be HOST:PORT; got here"),
        ([hot, "--listen", "127.0.0.1:99999"], 2, "--listen must be HOST:PORT"),
        ([hot, other, *given], 2, "two queries are called hot"),
        ([str(tmp_path / "none.xq"), *given], 2, "none.xq: no such file"),
        ([hot, "--listen", "127.0.0.1:0"], 2, "an input that is not given: -i roads=SOURCE"),
        ([hot, "-i", "roads=nowhere.xml", "--listen", "127.0.0.1:0"], 2, "cannot open nowhere"),
        ([hot, *given, "--max-clients", "0"], 2, "--max-clients must be 1 or more"),
    ]:
        assert main(["serve", *words]) == status
        assert said in capsys.readouterr().err
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    assert main(["serve", hot, *given]) == 2
    assert "pip install 'xstreamcast[serve]'" in capsys.readouterr().err


def test_too_much_memory_ends_it_with_an_error(tmp_path: Path) -> None:
    feed, files = Growing(tmp_path, WHOLE), queries(tmp_path, hot=QUERY)
    words = [*feed.words, "--log", "json", "--max-memory", "1"]
    with Command(tmp_path, *files, *words) as command:
        assert command.process.wait(LONG) == 1
    last = json.loads(command.said().splitlines()[-1])
    assert (last["kind"], last["code"]) == ("error", "XSCD0003")


def test_time_ends_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    feed = Growing(tmp_path, WHOLE)
    words = [*queries(tmp_path, hot=QUERY), *feed.words, "--listen", "127.0.0.1:0"]
    assert main(["serve", *words, "--for", "2s"]) == 0
    assert "serving 1 query at http://127.0.0.1:" in capsys.readouterr().err


def test_refused_fragments_are_in_the_quarantine_once(tmp_path: Path) -> None:
    feed, kept = Growing(tmp_path, *MESSAGES[:5]), tmp_path / "refused.xml"
    feed.say(b'<filler id="5" tsid="2"><x></filler>\n', *MESSAGES[5:7])
    files = queries(tmp_path, hot=QUERY)
    words = [*feed.words, "--checkpoint", str(tmp_path / "state"), "--quarantine", str(kept)]
    for _ in range(2):
        with Command(tmp_path, *files, *words) as command:
            server = command.server()
            server.until("hot", expected(MESSAGES[:7]))
            until(partial(_has_refused, server), "what is refused")
            assert command.end() == -signal.SIGKILL
    assert kept.read_text().count("<x></filler>") == 1


def _has_refused(server: Server) -> bool:
    return bool(server.get("/metrics").json().get("refused") == 1)
