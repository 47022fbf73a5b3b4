"""WebSockets and plain sockets, called and called by."""

from __future__ import annotations

import socket
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.edges.sources.roads import MESSAGES, WHOLE, expected, settle, watching
from tests.edges.sources.servers import free_port, until, websocket
from xstreamcast import query
from xstreamcast.cli.run import read_sources
from xstreamcast.edges.sources import Burst, joined
from xstreamcast.errors import Error


def test_each_message_of_a_websocket_is_read() -> None:
    def serve(connection: Any) -> None:
        for message in MESSAGES:
            connection.send(message.decode())

    with websocket(serve) as url:
        answer = settle(f"{url}/roads", None)  # to the end: the server closes when it has said all
    assert answer == expected()


def test_a_websocket_that_is_lost_is_called_again(capfd: pytest.CaptureFixture[str]) -> None:
    calls: list[str] = []

    def serve(connection: Any) -> None:
        calls.append(connection.request.path)
        begin = 0 if len(calls) == 1 else 20
        for message in MESSAGES[begin : 25 if len(calls) == 1 else None]:
            connection.send(message)
        if len(calls) == 1:
            connection.close(1012)  # the server starts anew

    with websocket(serve) as url:
        assert settle(f"{url}/roads", None) == expected()
    assert calls == ["/roads", "/roads"]
    assert "the connection was lost; reconnecting" in capfd.readouterr().err


def test_a_server_may_want_a_word_first() -> None:
    def serve(connection: Any) -> None:
        if connection.recv(10) == "subscribe roads":
            connection.send(WHOLE)

    with websocket(serve) as url:
        assert settle(f"{url}/#send=subscribe%20roads", expected()) == expected()


def test_a_message_that_is_broken_costs_only_itself() -> None:
    broken = [*MESSAGES[:3], b'<filler id="5" tsid="2"><incident>', *MESSAGES[3:]]

    def serve(connection: Any) -> None:
        for message in broken:
            connection.send(message)

    refused: list[Any] = []
    with websocket(serve) as url:
        running = watching(url, seconds=60.0, keep=refused.append)
        for _ in running.ticks():
            pass
    assert [one.code for one in refused] == ["XSCF0001"]


def serve_bytes(server: socket.socket, parts: list[bytes]) -> None:
    for part in parts:
        connection, _ = server.accept()
        with connection:
            for at in range(0, len(part), 700):
                connection.sendall(part[at : at + 700])


def test_a_socket_is_read_to_its_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve_bytes, args=(server, [WHOLE]), daemon=True).start()
        source = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        assert settle(source, None) == expected()


def test_a_peer_that_went_away_is_called_again_with_follow() -> None:
    half = len(b"".join(MESSAGES[:20]))
    with socket.create_server(("127.0.0.1", 0)) as server:
        parts = [WHOLE[:half], WHOLE[half:]]
        threading.Thread(target=serve_bytes, args=(server, parts), daemon=True).start()
        source = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        assert settle(source, expected(), follow=True) == expected()


def test_peers_that_call_are_listened_to() -> None:
    port = free_port()

    def call() -> None:
        for message in (WHOLE[:900], WHOLE):  # the first is cut off
            until(partial(called, message), "a call")

    def called(message: bytes) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as peer:
                peer.sendall(message)
                return True
        except OSError:
            return False

    threading.Thread(target=call, daemon=True).start()
    assert settle(f"tcp://127.0.0.1:{port}?listen", expected()) == expected()


def test_run_reads_one_connection_of_those_that_call() -> None:
    port = free_port()

    def call() -> bool:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as peer:
                peer.sendall(b"<a><b/><b/></a>")
                return True
        except OSError:
            return False

    threading.Thread(target=lambda: until(call, "a call"), daemon=True).start()
    place = f"tcp://127.0.0.1:{port}?listen"
    assert list(query("count(//b)").run(read_sources([place])[0]).lines()) == ["2"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("http://127.0.0.1/x#evry=3s", "there is no option evry"),
        ("http://127.0.0.1/x#every=soon", "every must be like 30s"),
        ("mqtt://127.0.0.1", "names no topic"),
        ("kafka://127.0.0.1", "names no topic"),
        ("tcp://127.0.0.1", "must be tcp://HOST:PORT"),
        ("ws://127.0.0.1:x/", "the host or the port is not valid"),
        ("kafka://127.0.0.1/x?from=middle", "from must be beginning or end"),
        ("mqtt://127.0.0.1/x?qos=much", "qos must be 0, 1 or 2; got much"),
        ("mqtt://127.0.0.1/x?qos=3", "qos must be 0, 1 or 2; got 3"),
        ("mqtt://127.0.0.1/a/#/b", "a/#/b is not a topic"),
        ("mqtt://127.0.0.1/a/b+", "a/b+ is not a topic"),
    ],
)
def test_a_place_that_makes_no_sense_is_named(source: str, said: str) -> None:
    with pytest.raises(Error) as met:
        settle(source, None)
    assert said in met.value.message


def test_whole_fragments_are_joined_and_nothing_else_is() -> None:
    first, second, third = MESSAGES[1:4]
    torn, rooted = b'<filler id="5" tsid="2"><incident>', b"<fragments>" + third + b"</fragments>"
    found = list(joined(Burst([first, second, torn, third, rooted, b"<eos/>", first])))
    assert found == [first + b"\n" + second, torn, third, rooted, b"<eos/>", first]


def test_bytes_of_messages_with_a_mapping_are_counted(tmp_path: Path) -> None:
    mapping = tmp_path / "m.toml"
    mapping.write_text('[unit.u]\npath = "/m/u"\nkey = "@id"\nfrom = "@at"\n')
    messages = [f'<m><u id="{n}" at="2026-05-01T10:00:0{n}Z"/></m>' for n in range(3)]

    def serve(connection: Any) -> None:
        for message in messages:
            connection.send(message)

    with websocket(serve) as url:
        changes = query('count(stream("s")//u)').watch(s=f"{mapping}:{url}", duration="60s")
        assert list(changes)[-1].item == "3"
    assert changes.measured()["inputs"]["s"]["bytes"] == sum(map(len, messages))
