"""Documents that are fetched again, server-sent events, responses without end."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from tests.edges.sources.roads import FIRST, MESSAGES, REST, WHOLE, expected, settle
from tests.edges.sources.servers import http
from xstreamcast import query
from xstreamcast.cli.run import read_sources
from xstreamcast.edges.sources.events import EventReader
from xstreamcast.errors import Error


def answer(handler: Any, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def test_a_document_is_asked_for_with_what_is_known_of_the_last_one() -> None:
    asked: list[tuple[str | None, int]] = []
    versions = [WHOLE[: len(FIRST)], WHOLE]

    def serve(handler: Any) -> None:
        known = handler.headers["If-None-Match"]
        version = 0 if len(asked) < 3 else 1
        status = 304 if known == f'"v{version}"' else 200
        asked.append((known, status))
        body = b"" if status == 304 else versions[version]
        answer(handler, body, status, ETag=f'"v{version}"', Content_Type="application/xml")

    with http(serve) as url:
        assert settle(f"{url}/roads.xml#every=10ms", expected()) == expected()
    assert asked[:4] == [(None, 200), ('"v0"', 304), ('"v0"', 304), ('"v0"', 200)]


def test_a_document_is_asked_for_since_it_was_last_changed() -> None:
    asked: list[str | None] = []
    then = "Sun, 15 Nov 2026 08:00:00 GMT"

    def serve(handler: Any) -> None:
        asked.append(handler.headers["If-Modified-Since"])
        if asked[-1] == then and len(asked) < 4:
            answer(handler, b"", 304)
        else:
            body = FIRST.encode() if len(asked) == 1 else WHOLE
            answer(handler, body, Last_Modified=then)

    with http(serve) as url:
        assert settle(f"{url}/roads.xml#every=10ms", expected()) == expected()
    assert asked[:4] == [None, then, then, then]


def test_a_server_without_tags_sends_the_same_again_and_it_counts_once() -> None:
    turns = 0

    def serve(handler: Any) -> None:
        nonlocal turns
        turns += 1
        answer(handler, WHOLE if turns > 4 else FIRST.encode(), Content_Type="text/xml")

    with http(serve) as url:
        from tests.edges.sources.roads import watching

        running = watching(f"{url}/#every=1ms", seconds=30.0)
        for _ in running.ticks():
            break
    assert running._arriving["roads"].files <= 2  # the first, and the other one


def test_a_busy_server_is_waited_for_as_long_as_it_says() -> None:
    import time

    times: list[float] = []

    def serve(handler: Any) -> None:
        times.append(time.monotonic())
        if len(times) == 2:
            answer(handler, b"", 429, Retry_After="1")
        else:
            answer(handler, WHOLE if len(times) > 2 else FIRST.encode())

    with http(serve) as url:
        assert settle(f"{url}/#every=1ms", expected()) == expected()
    assert times[2] - times[1] >= 1.0


def test_a_server_that_fails_later_is_asked_again(capfd: pytest.CaptureFixture[str]) -> None:
    turns = 0

    def serve(handler: Any) -> None:
        nonlocal turns
        turns += 1
        status = 503 if turns in (2, 3) else 200
        answer(handler, WHOLE if turns > 3 else FIRST.encode(), status)

    with http(serve) as url:
        assert settle(f"{url}/#every=1ms", expected()) == expected()
    assert "503 Service Unavailable; trying again" in capfd.readouterr().err


@pytest.mark.parametrize(("status", "said"), [(404, "404 Not Found"), (401, "401 Unauthorized")])
def test_an_address_that_is_wrong_is_a_mistake(status: int, said: str) -> None:
    with http(lambda handler: answer(handler, b"no", status)) as url, pytest.raises(Error) as met:
        settle(f"{url}/roads.xml", None)
    assert met.value.code == "XSCU0003"
    assert said in met.value.message


def test_events_are_messages_and_numbers_say_where_to_go_on() -> None:
    asked: list[str | None] = []

    def serve(handler: Any) -> None:
        last = handler.headers["Last-Event-ID"]
        asked.append(last)
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        begin = 0 if last is None else int(last) + 1
        handler.wfile.write(b"retry: 1\n\n")
        for number in range(begin, min(begin + 20, len(MESSAGES))):
            lines = MESSAGES[number].decode().splitlines()
            data = "".join(f"data: {line}\r\n" for line in lines)
            handler.wfile.write(f": a comment\nid: {number}\n{data}\n".encode())
        handler.close_connection = True

    with http(serve) as url:
        assert settle(f"{url}/events", expected()) == expected()
    assert asked[:3] == [None, "19", "39"]


def test_a_response_without_end_is_read_as_it_comes() -> None:
    go_on = threading.Event()

    def serve(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()

        def chunk(data: bytes) -> None:
            handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

        chunk(WHOLE)
        go_on.wait(60)  # the response has not ended when the answer is there
        chunk(b"")

    with http(serve) as url:
        assert settle(f"{url}/", expected()) == expected()
        go_on.set()


def test_a_query_is_run_over_what_an_address_has() -> None:
    with http(lambda handler: answer(handler, b"<a><b>1</b><b>2</b></a>")) as url:
        document, _ = read_sources([f"{url}/a.xml"])
        assert list(query("sum(//b)").run(document).lines()) == ["3"]
        _, named = read_sources([f"n={url}/a.xml"])
        assert list(query('doc("n")//b/text()').run(**named).lines()) == ["1", "2"]


def test_several_addresses_are_one_source() -> None:
    def serve(handler: Any) -> None:
        half = FIRST.encode() + "".join(REST[:25]).encode()
        answer(handler, half if handler.path == "/a" else WHOLE)

    with http(serve) as url:
        assert settle(f"{url}/a#every=5ms,{url}/b#every=5ms", expected()) == expected()


def test_one_address_that_has_ended_does_not_end_the_others() -> None:
    """`run` reads until nothing has come for a while: the end of one address is no silence."""
    first = threading.Event()

    def serve(handler: Any) -> None:
        if handler.path == "/late":
            assert first.wait(20)
        answer(handler, f"<m><u k='{handler.path}'/></m>".encode())
        if handler.path == "/early":
            threading.Timer(0.3, first.set).start()

    with http(serve) as url:
        _, named = read_sources([f"s={url}/early,{url}/late"])
        texts = [part.decode() for part in named["s"].parts]
    assert texts == ["<m><u k='/early'/></m>", "<m><u k='/late'/></m>"]


def test_a_page_in_place_of_a_feed_is_named() -> None:
    page = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><br></html>"
    with http(lambda handler: answer(handler, page)) as url, pytest.raises(Error) as met:
        settle(f"{url}/feed.xml", None)
    assert 'looks like a page in HTML ("Sign in")' in met.value.message


def test_credentials_come_from_the_environment_and_are_not_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    seen: list[str | None] = []

    def serve(handler: Any) -> None:
        seen.append(handler.headers["Authorization"])
        answer(handler, WHOLE, 200 if seen[-1] == "Bearer s3cret" else 401)

    with http(serve) as url:
        with pytest.raises(Error) as met:
            settle(url.replace("//", "//reader:hunter2@") + "/x", None)
        assert "401" in met.value.message
        assert "hunter2" not in met.value.render()
        assert seen == ["Basic cmVhZGVyOmh1bnRlcjI="]
        monkeypatch.setenv("XSTREAMCAST_ROADS_TOKEN", "s3cret")
        assert settle(f"{url}/x#every=5ms", expected()) == expected()
    assert "s3cret" not in "".join(capfd.readouterr())


def test_events_cut_anywhere_are_the_same() -> None:
    text = b"data: a\r\ndata: b\r\n\r\nid: 7\rdata:c\r\rdata\n\ndata: \n\ndata: e\n\n"
    whole = list(EventReader().feed(text))
    assert [(one.data, one.id) for one in whole] == [(b"a\nb", b""), (b"c", b"7"), (b"e", b"7")]
    for cut in range(len(text)):
        reader = EventReader()
        assert [*reader.feed(text[:cut]), *reader.feed(text[cut:])] == whole


def test_a_server_that_does_not_answer_is_waited_for_as_long_as_timeout_says() -> None:
    silent = threading.Event()

    def handle(handler: Any) -> None:
        silent.wait(30)

    with http(handle) as url:
        began = time.monotonic()
        with pytest.raises(Error, match="timed out"):
            read_sources([f"{url}/x#timeout=300ms"])
        assert time.monotonic() - began < 8
        silent.set()


def test_what_is_silent_after_it_began_is_no_failure(capfd: pytest.CaptureFixture[str]) -> None:
    def handle(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        for number in (1, 2):
            handler.wfile.write(b"id: %d\ndata: <a><b/></a>\n\n" % number)
            handler.wfile.flush()
            threading.Event().wait(1.2)

    counted = query('count(stream("s")//b)')
    with http(handle) as url, counted.watch(s=f"{url}/x#timeout=300ms") as changes:
        assert any(change.item == "2" for change in changes)
    assert "trying again" not in capfd.readouterr().err


def test_who_may_not_read_is_told_how_to_say_who_asks() -> None:
    with http(lambda handler: answer(handler, b"", 401)) as url, pytest.raises(Error) as met:
        read_sources([f"{url}/x"])
    assert "401" in met.value.message
    assert "XSTREAMCAST_TOKEN" in str(met.value.hint)
