"""Servers that are not there yet, that never will be, and that redirect to another."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.edges.sources.roads import MESSAGES, WHOLE, expected, settle
from tests.edges.sources.servers import free_port, http, mosquitto, websocket
from tests.edges.sources.test_http import answer
from tests.edges.sources.test_sockets import serve_bytes
from xstreamcast.cli.run import read_sources
from xstreamcast.edges.notes import notes_by
from xstreamcast.errors import Error

SCHEMES = ("tcp", "ws", "http", "mqtt")


@contextmanager
def noted() -> Iterator[queue.Queue[str]]:
    """The notes of sources, as they come."""
    notes: queue.Queue[str] = queue.Queue()
    with notes_by(notes.put):
        yield notes


@contextmanager
def server(scheme: str, port: int, folder: Path) -> Iterator[None]:
    """A server that sends all there is."""
    with ExitStack() as stack:
        match scheme:
            case "tcp":
                listening = stack.enter_context(socket.create_server(("127.0.0.1", port)))
                thread = threading.Thread(
                    target=serve_bytes, args=(listening, [WHOLE]), daemon=True
                )
                thread.start()
            case "ws":
                stack.enter_context(websocket(lambda one: one.send(WHOLE), port=port))
            case "http":
                stack.enter_context(http(lambda one: answer(one, WHOLE), port=port))
            case "mqtt":
                paho = pytest.importorskip("paho.mqtt.client")
                stack.enter_context(mosquitto(folder, port))
                client = paho.Client(paho.CallbackAPIVersion.VERSION2)
                client.connect("127.0.0.1", port)
                client.loop_start()
                stack.callback(client.loop_stop)
                client.publish("x", WHOLE, qos=1, retain=True).wait_for_publish(30)
        yield


@pytest.mark.parametrize("scheme", SCHEMES)
def test_watch_waits_for_a_server_that_is_not_there_yet(scheme: str, tmp_path: Path) -> None:
    port, done = free_port(), threading.Event()
    url = f"{scheme}://127.0.0.1:{port}/{'' if scheme == 'tcp' else 'x'}"
    said: list[str] = []

    def start(notes: queue.Queue[str]) -> None:
        said.append(notes.get(timeout=60))
        with server(scheme, port, tmp_path):
            done.wait(60)

    with noted() as notes:
        thread = threading.Thread(target=start, args=(notes,), daemon=True)
        thread.start()
        try:
            assert settle(url, expected()) == expected()
        finally:
            done.set()
            thread.join(60)
    assert len(said) == 1
    assert f"127.0.0.1:{port}" in said[0]
    assert said[0].endswith("; trying again")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_run_does_not_wait_for_a_server(scheme: str) -> None:
    url = f"{scheme}://127.0.0.1:{free_port()}/x"
    with pytest.raises(Error, match=r"127\.0\.0\.1") as met:
        read_sources([f"roads={url}"])
    assert met.value.code == "XSCU0003"


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a" * 70 + ".invalid"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_name_without_an_address_is_an_error_at_once(scheme: str, host: str) -> None:
    with pytest.raises(Error) as met, noted() as notes:
        settle(f"{scheme}://{host}:1234/x", None)
    assert met.value.code == "XSCU0003"
    assert f"{scheme}://{host}:1234" in met.value.message
    assert notes.empty()


@pytest.mark.parametrize("status", [401, 403, 404])
@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_a_server_that_refuses_is_an_error_at_once(scheme: str, status: int) -> None:
    with (
        http(lambda handler: answer(handler, b"no", status)) as url,
        pytest.raises(Error, match=str(status)) as met,
        noted() as notes,
    ):
        settle(url.replace("http", scheme), None)
    assert (met.value.hint is not None and "XSTREAMCAST_TOKEN" in met.value.hint) == (status < 404)
    assert notes.empty()


def test_a_websocket_of_a_busy_server_is_called_again() -> None:
    from websockets.sync.server import serve

    turns: list[int] = []

    def busy(connection: Any, _: Any) -> Any:
        turns.append(1)
        unavailable = HTTPStatus.SERVICE_UNAVAILABLE
        return connection.respond(unavailable, "busy") if len(turns) < 3 else None

    with serve(lambda one: one.send(WHOLE), "127.0.0.1", 0, process_request=busy) as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        url = f"ws://127.0.0.1:{made.socket.getsockname()[1]}/"
        with noted() as notes:
            assert settle(url, expected()) == expected()
        made.shutdown()
        thread.join(20)
    assert len(turns) == 3
    assert "503" in notes.get_nowait()


def test_a_websocket_of_a_server_that_hangs_up_is_called_again() -> None:
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as first, noted() as notes:
        port = first.getsockname()[1]

        def start() -> None:
            first.accept()[0].close()
            first.close()
            with server("ws", port, Path()):
                done.wait(60)

        thread = threading.Thread(target=start, daemon=True)
        thread.start()
        try:
            assert settle(f"ws://127.0.0.1:{port}/x", expected()) == expected()
        finally:
            done.set()
            thread.join(60)
        assert notes.get_nowait().endswith("; trying again")


@contextmanager
def redirecting(to: str, asked: list[dict[str, str]]) -> Iterator[int]:
    """A server that has moved; the port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append({word.lower(): value for word, value in self.headers.items()})
            self.send_response(307)
            self.send_header("Location", to)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=made.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield made.server_address[1]
    finally:
        made.shutdown()
        made.server_close()
        thread.join(20)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("kind", ["http", "events", "ws"])
def test_keys_do_not_travel_to_another_server(
    kind: str, host: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "credentials.toml"
    file.write_text('["127.0.0.1"]\ntoken = "t0"\nheaders = {X-Api-Key = "k1", Apikey = "k2"}\n')
    monkeypatch.setenv("XSTREAMCAST_CREDENTIALS", str(file))
    first: list[dict[str, str]] = []
    second: list[dict[str, str]] = []

    def serve(handler: Any) -> None:
        second.append({word.lower(): value for word, value in handler.headers.items()})
        if kind == "http":
            answer(handler, WHOLE)
        else:
            events = b"".join(b"data: " + m.replace(b"\n", b"\ndata: ") + b"\n\n" for m in MESSAGES)
            named: dict[str, Any] = {"Content-Type": "text/event-stream"}
            answer(handler, events, **named)

    def talk(connection: Any) -> None:
        headers = connection.request.headers.raw_items()
        second.append({word.lower(): value for word, value in headers})
        connection.send(WHOLE)

    with websocket(talk) if kind == "ws" else http(serve) as url:
        to = url.replace("127.0.0.1", host) + "/moved"
        with redirecting(to, first) as port:
            scheme = "ws" if kind == "ws" else "http"
            assert settle(f"{scheme}://127.0.0.1:{port}/feed", expected()) == expected()
    assert first[0]["x-api-key"] == "k1"
    assert first[0]["authorization"] == "Bearer t0"
    assert second
    assert not {"x-api-key", "apikey", "authorization"} & set(second[0])
