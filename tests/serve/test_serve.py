"""Answers served by a real server to real clients."""

from __future__ import annotations

import csv
import io
import json
import os
import socket
from pathlib import Path

import httpx
import pytest
from lxml import etree

from tests.edges.sources.roads import MESSAGES, QUERY, WHOLE, expected
from tests.edges.sources.servers import LONG, until
from tests.serve.served import Client, Growing, Server, queries, served
from xstreamcast import query
from xstreamcast.edges.columns import csv_lines, json_lines
from xstreamcast.edges.watching.bound import Input
from xstreamcast.model.change import Accumulated
from xstreamcast.serve.answers import Answers
from xstreamcast.serve.follower import Follower

pytest.importorskip("uvicorn", reason="the serve extra is not installed")

COUNT = 'count(stream("roads")//incident?[now])'


def test_who_registers_gets_the_answer_then_its_changes(tmp_path: Path) -> None:
    feed = Growing(tmp_path, *MESSAGES[:26])
    with served(*queries(tmp_path, hot=QUERY), *feed.words) as server:
        client = Client("hot")
        server.until("hot", expected(MESSAGES[:26]))
        with client.connected(server) as events:
            next(events)
            assert (client.items(), client.restarts) == (expected(MESSAGES[:26]), 1)
            feed.say(*MESSAGES[26:])
            while client.items() != expected():
                next(events)
        assert client.restarts == 1
        state = server.state("hot")
        assert state["items"] == len(expected())
        assert client.last == state["id"]
        assert state["state"] == "running"


def test_who_reconnects_gets_what_it_missed(tmp_path: Path) -> None:
    feed = Growing(tmp_path, *MESSAGES[:11])
    with served(*queries(tmp_path, hot=QUERY), *feed.words) as server:
        client = Client("hot")
        for end in range(11, 52, 8):
            feed.say(*MESSAGES[end - 8 : end] if end > 11 else [])
            server.until("hot", expected(MESSAGES[:end]))
            client.until(server, expected(MESSAGES[:end]))
        assert client.connections == 6
        assert client.restarts == 1
        assert client.changes == server.state("hot")["changes"]


def test_what_is_no_longer_kept_is_sent_as_the_whole_answer(tmp_path: Path) -> None:
    feed = Growing(tmp_path, *MESSAGES[:11])
    words = [*queries(tmp_path, hot=QUERY), *feed.words, "--backlog", "100"]
    with served(*words) as server:
        client, other = Client("hot"), Client("hot")
        for one in (client, other):
            one.until(server, expected(MESSAGES[:11]))
        other._events.id = b"7-0123456789abcdef"  # another server's, or another run's
        with other.connected(server) as events:
            next(events)
        assert (other.restarts, other.items()) == (2, expected(MESSAGES[:11]))
        feed.say(*MESSAGES[11:])
        server.until("hot", expected())
        client.until(server, expected())
        assert client.restarts == 2


def test_when_the_inputs_end_clients_are_sent_the_rest_and_no_more(tmp_path: Path) -> None:
    feed = Growing(tmp_path, WHOLE)
    with served(*queries(tmp_path, hot=QUERY), "-i", f"roads={feed.path}") as server:
        until(lambda: server.state("hot")["state"] == "ended", "the end")
        client = Client("hot")
        with client.connected(server) as events:
            assert list(events) == [None]  # the response ends
        assert client.items() == expected()
        response = server.get("/queries/hot/changes", last_event_id=client.last)
        assert response.status_code == 204
        assert server.get("/health").json()["status"] == "ended"
        assert server.items("hot") == expected()


def test_an_answer_is_the_input_of_another_query(tmp_path: Path) -> None:
    feed = Growing(tmp_path, *MESSAGES[:26])
    count = 'for $h in stream("hot")/answer/hot return string($h/@n)'
    with served(*queries(tmp_path, hot=QUERY), *feed.words) as server:
        url = f"{server.url}/queries/hot/changes"
        running = query(count).watch(hot=Input(url), duration="60s")
        names = [
            [item.split('"')[1] for item in expected(part)] for part in (MESSAGES[:26], MESSAGES)
        ]
        answer, grown = [], False
        seen = Accumulated()
        for change in running:
            seen.apply(change)
            answer = seen.items()
            if answer == names[0] and not grown:
                grown = True
                feed.say(*MESSAGES[26:])
            if grown and answer == names[1]:
                break
        running.close()
        assert grown
        assert answer == names[1]


FORMS = """for $i in stream("roads")//incident?[now] order by number($i/@n)
return <incident n="{$i/@n}"><severity>{$i/severity/text()}</severity></incident>"""


def test_formats_are_those_of_run(tmp_path: Path) -> None:
    feed = Growing(tmp_path, WHOLE)
    answer = query(FORMS).run(roads=WHOLE)
    rows, lines = answer.rows(), list(answer.lines())
    with served(*queries(tmp_path, all=FORMS), "-i", f"roads={feed.path}") as server:
        server.until("all", lines)
        assert server.get("/queries/all").text.splitlines() == lines
        assert server.get("/queries/all", accept="application/x-ndjson").text.splitlines() == list(
            json_lines(rows)
        )
        table = server.get("/queries/all?format=csv")
        assert table.text.splitlines() == list(csv_lines(rows))
        assert table.headers["content-type"].startswith("text/csv")
        assert [one["n"] for one in csv.DictReader(io.StringIO(table.text))] == [
            str(row["n"]) for row in rows
        ]
        xml = server.get("/queries/all", accept="text/html;q=0.1, application/xml")
        assert xml.headers["content-type"].startswith("application/xml")
        found = etree.fromstring(xml.content).findall("item/incident")
        assert [one.get("n") for one in found] == [str(row["n"]) for row in rows]
        assert server.get("/queries/all?format=json").json() == lines
        assert server.get("/queries/all?format=pdf").status_code == 406
        assert server.get("/queries/all", accept="image/png").status_code == 406


def test_who_has_the_answer_is_not_sent_it_again(tmp_path: Path) -> None:
    feed = Growing(tmp_path, *MESSAGES[:26])
    with served(*queries(tmp_path, hot=QUERY), *feed.words) as server:
        server.until("hot", expected(MESSAGES[:26]))
        tag = server.get("/queries/hot").headers["etag"]
        assert server.get("/queries/hot", if_none_match=tag).status_code == 304
        assert server.get("/queries/hot?format=csv", if_none_match=tag).status_code == 200
        feed.say(*MESSAGES[26:])
        server.until("hot", expected())
        assert server.get("/queries/hot", if_none_match=tag).text.splitlines() == expected()


def test_a_name_that_there_is_not_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    feed = Growing(tmp_path, WHOLE)
    secret = tmp_path / "secret.xq"
    secret.write_text("7")
    words = [*queries(tmp_path / "q", hot=QUERY, many=COUNT), "-i", f"roads={feed.path}"]
    with served(*words) as server:
        for name in ("cold", "..%2Fsecret", "%2e%2e/secret", "..%2f..%2fetc%2fpasswd", "hot.xq"):
            for path in ("", "/changes", "/text", "/circuit"):
                response = server.get(f"/queries/{name}{path}")
                assert response.status_code == 404
                error = response.json()["error"]
                assert error.get("queries", ["hot", "many"]) == ["hot", "many"]
        assert server.get("/nowhere").status_code == 404
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            for path in ("/", "/queries", "/queries/hot", "/queries/new", "/metrics"):
                assert httpx.request(method, server.url + path).status_code == 405


def test_another_host_is_not_answered_by_a_server_of_this_machine(tmp_path: Path) -> None:
    """A page of another site whose name leads here must not read answers."""
    feed = Growing(tmp_path, WHOLE)
    with served(*queries(tmp_path, hot=QUERY), "-i", f"roads={feed.path}") as server:
        assert server.get("/queries", host="evil.example").status_code == 403
        assert server.get("/queries", host="localhost:80").status_code == 200
        for path in ("/", "/queries", "/queries/hot", "/health"):
            headers = server.get(path).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert "default-src 'none'" in headers["content-security-policy"]
            assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("host", ["[::1]", "0.0.0.0", "localhost"])
def test_it_listens_where_it_should(tmp_path: Path, host: str) -> None:
    if host == "[::1]" and not _has_ipv6():
        pytest.skip("this machine has no IPv6")
    feed = Growing(tmp_path, WHOLE)
    words = [*queries(tmp_path, hot=QUERY), "-i", f"roads={feed.path}"]
    with served(*words, "--listen", f"{host}:0") as server:
        assert server.url.startswith(f"http://{host}:")
        server.until("hot", expected())
        other = server.get("/queries", host="answers.example").status_code
        assert other == (200 if host == "0.0.0.0" else 403)


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_metrics_are_those_of_watch_and_clients(tmp_path: Path) -> None:
    feed = Growing(tmp_path, WHOLE, b'<filler id="x" tsid="2"><incident/></filler><filler id=')
    with served(*queries(tmp_path, hot=QUERY), "-i", f"roads={feed.path}") as server:
        until(lambda: server.state("hot")["state"] == "ended", "the end")
        numbers = server.get("/metrics").json()
        assert numbers["inputs"]["roads"]["arrived"] == 53
        assert numbers["inputs"]["roads"]["orphaned"] == 1
        assert numbers["refused"] == 1
        assert numbers["clients"] == {"now": 0, "most": 0, "stuck": 0}


def test_before_the_inputs_begin_there_is_no_answer_yet(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with served(*queries(tmp_path, hot=QUERY), "-i", f"roads={pipe}") as server:
        health = server.get("/health")
        assert (health.status_code, health.json()["status"]) == (503, "starting")
        assert server.get("/queries/hot").status_code == 503
        client = Client("hot")
        with client.connected(server) as events:  # it waits
            pipe.write_bytes(WHOLE)
            while client.items() != expected():
                next(events)


def test_two_hundred_clients_and_one_that_reads_nothing(tmp_path: Path) -> None:
    count = 200
    feed = Growing(tmp_path, *MESSAGES[:2])
    large = "x" * 4000
    many = f"""for $i in stream("roads")//incident return <n i="{{$i/@n}}">{large}</n>"""
    with served(*queries(tmp_path, all=many), *feed.words, "--backlog", "100000") as server:
        import asyncio

        assert server.serving is not None
        listeners = server.serving.served.listeners
        port = int(server.url.rsplit(":", 1)[1])
        silent = socket.create_connection(("127.0.0.1", port))
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        silent.sendall(b"GET /queries/all/changes HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = asyncio.run(_follow(server, count, feed))
        wanted = list(query(many).run(roads=WHOLE).lines())
        assert [one == wanted for one in got] == [True] * count
        assert listeners.most == count + 1
        until(lambda: listeners.listening == 1, "the end of the others")  # the silent one
        silent.close()


async def _follow(server: Server, count: int, feed: Growing) -> list[list[str]]:
    import asyncio

    from xstreamcast.edges.changes import ChangeReader
    from xstreamcast.edges.sources.events import EventReader

    limits = httpx.Limits(max_connections=count)
    listening = asyncio.Semaphore(0)

    async def follow(client: httpx.AsyncClient) -> list[str]:
        answer, reader = ChangeReader(), EventReader()
        async with client.stream("GET", f"{server.url}/queries/all/changes") as response:
            async for chunk in response.aiter_bytes():
                for event in reader.feed(chunk):
                    if not answer.counts.lines:
                        listening.release()
                    for line in event.data.split(b"\n"):
                        answer.take(line)
                if len(answer) == 50:
                    return answer.items()
        return []

    async with httpx.AsyncClient(limits=limits, timeout=LONG) as client:
        following = [asyncio.create_task(follow(client)) for _ in range(count)]
        for _ in range(count):
            await asyncio.wait_for(listening.acquire(), LONG)
        for message in MESSAGES[2:]:
            feed.say(message)
        return await asyncio.wait_for(asyncio.gather(*following), LONG)


def test_a_slow_client_is_sent_the_whole_answer_in_place_of_what_is_gone() -> None:
    """A client is a place, and nothing is kept for it: it skips what it was too slow for."""
    from xstreamcast.model.change import Accumulated, Change

    answers = Answers(["a"], backlog=2000, holds=False)
    answers.started = True
    slow, quick = Follower(answers, "a"), Follower(answers, "a")
    slow.next(0.0)
    for i in range(1000):
        changes = [Change(0, -1, "k", None, str(i - 1), "a")] if i else []
        answers.take([*changes, Change(0, 1, "k", None, str(i), "a")])
        assert quick.next(0.0)
    assert quick.restarts == 1
    (event,) = slow.next(0.0)
    assert slow.restarts == 2
    assert slow.at == quick.at
    lines = [line.removeprefix(b"data: ") for line in event.splitlines() if b"data: " in line]
    assert [json.loads(line)["diff"] for line in lines] == [0, 1]
    assert Accumulated([Change.from_json(lines[1].decode())]).items() == ["999"]
    assert slow.next(1.0) == []
    assert slow.next(16.0) == [b":\n\n"]  # a proxy sees that the connection is used


def test_there_are_as_many_clients_as_may_be(tmp_path: Path) -> None:
    feed = Growing(tmp_path, *MESSAGES[:26])
    words = [*queries(tmp_path, hot=QUERY), *feed.words, "--max-clients", "2"]
    with served(*words) as server:
        first, second = Client("hot"), Client("hot")
        with first.connected(server) as one, second.connected(server) as other:
            next(one), next(other)
            response = server.get("/queries/hot/changes")
            assert response.status_code == 503
            assert response.headers["retry-after"] == "5"
            assert server.items("hot") == expected(MESSAGES[:26])  # requests are answered
        assert server.serving is not None
        listeners = server.serving.served.listeners
        until(lambda: listeners.listening == 0, "they have gone")
        second.until(server, expected(MESSAGES[:26]))


def test_queries_that_differ_in_constants_run_as_one(tmp_path: Path) -> None:
    text = 'for $i in stream("roads")//incident?[now] where $i/@n = "{}" return string($i/severity)'
    texts = {f"n{i}": text.format(i) for i in range(19)}
    feed = Growing(tmp_path, *MESSAGES[:26])
    queries(tmp_path / "all", **texts)
    with served(str(tmp_path / "all"), *feed.words) as server:
        client = Client("n7")
        now = {
            n: list(query(one).run(roads=b"".join(MESSAGES[:26])).lines())
            for n, one in texts.items()
        }
        for name, wanted in now.items():
            server.until(name, wanted)
        client.until(server, now["n7"])
        feed.say(*MESSAGES[26:])
        then = {n: list(query(one).run(roads=WHOLE).lines()) for n, one in texts.items()}
        assert now != then
        for name, wanted in then.items():
            server.until(name, wanted)
        client.until(server, then["n7"])
        assert "one program answers 19 queries" in server.get("/queries/n7/circuit").text


def test_a_feed_through_a_mapping(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text('[unit.it]\npath = "/r/it"\nkey = "@k"\n')
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "1.xml").write_text('<r><it k="a">1</it><it k="b">2</it></r>')
    words = [*queries(tmp_path, its='stream("f")//it?[now] ! string()')]
    with served(*words, "-i", f"f={tmp_path}/m.toml:{folder}", "--follow") as server:
        server.until("its", ["1", "2"])
        (folder / "2.xml").write_text('<r><it k="a">3</it></r>')
        server.until("its", ["3", "2"])


def test_settle_reads_the_answer_as_polled_xml(tmp_path: Path) -> None:
    """A plain GET is an input as well: a document that is fetched again."""
    feed = Growing(tmp_path, WHOLE)
    with served(*queries(tmp_path, hot=QUERY), "-i", f"roads={feed.path}") as server:
        server.until("hot", expected())
        url = f"{server.url}/queries/hot?format=xml"
        found = query("//hot/@n/string()").run(httpx.get(url).content)
        assert list(found.lines()) == [item.split('"')[1] for item in expected()]
