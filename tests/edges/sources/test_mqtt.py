"""A broker of MQTT, the real one: sessions, retained messages, wildcards, kills."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.edges.sources.commands import watch
from tests.edges.sources.roads import MESSAGES, WHOLE, expected, settle
from tests.edges.sources.servers import free_port, mosquitto, mosquitto_program
from xstreamcast import query
from xstreamcast.cli.run import read_sources
from xstreamcast.errors import Error

paho = pytest.importorskip("paho.mqtt.client", reason="the mqtt extra is not installed")


@contextmanager
def publisher(port: int) -> Iterator[Any]:
    """A client whose `say` returns when the broker has the message."""
    client = paho.Client(paho.CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", port)
    client.loop_start()

    def say(topic: str, message: bytes, retain: bool = False) -> None:
        client.publish(topic, message, qos=1, retain=retain).wait_for_publish(30)

    try:
        yield say
    finally:
        client.disconnect()
        client.loop_stop()


def test_what_a_broker_retains_is_what_is_there(tmp_path: Path) -> None:
    port = free_port()
    with mosquitto(tmp_path, port):
        with publisher(port) as say:
            for number, message in enumerate(MESSAGES):
                say(f"roads/{number % 2}/{number}", message, retain=True)
        _, named = read_sources([f"roads=mqtt://127.0.0.1:{port}/roads/+/%23?quiet=500ms"])
        assert list(query('count(stream("roads")//incident)').run(**named).lines()) == ["50"]
        # The topic may as well be written as it is.
        assert settle(f"mqtt://127.0.0.1:{port}/roads/#", expected()) == expected()


def test_killed_again_and_again_it_has_every_message_once(tmp_path: Path) -> None:
    """Sent while it runs, while it is killed, and while it is not there at all."""
    port = free_port()
    source = f"mqtt://127.0.0.1:{port}/roads/#"
    with mosquitto(tmp_path / "broker", port), publisher(port) as say:
        say("roads/first", MESSAGES[0], retain=True)
        with watch(tmp_path, source) as sink:
            sink.until_counted(1)
            for message in MESSAGES[1:11]:
                say("roads/x", message)
            sink.until_counted(6)
        for message in MESSAGES[11:21]:
            say("roads/x", message)
        for end in (31, 41):
            with watch(tmp_path, source) as sink:
                for message in MESSAGES[end - 10 : end]:
                    say("roads/x", message)
                sink.until_counted(end - 8)
        for message in MESSAGES[41:]:
            say("roads/x", message)
        with watch(tmp_path, source) as sink:
            sink.until(expected())
            sink.until_counted(len(MESSAGES))
            assert len(sink.lines()) == len(set(sink.lines()))  # nothing was told twice
    journal = (tmp_path / "state" / "journal").read_text()
    assert journal.count(",-1]") == len(MESSAGES)  # nothing came twice


def test_a_broker_that_starts_anew_is_found_again(tmp_path: Path) -> None:
    port = free_port()
    source = f"mqtt://127.0.0.1:{port}/roads?session=found-again"
    with mosquitto(tmp_path / "broker", port):
        with watch(tmp_path, source) as sink:
            with publisher(port) as say:
                say("roads", MESSAGES[0], retain=True)
            sink.until_counted(1)
        with publisher(port) as say:
            for message in MESSAGES[1:26]:
                say("roads", message)
    with mosquitto(tmp_path / "broker", port):  # with the sessions that it had
        with publisher(port) as say:
            for message in MESSAGES[26:]:
                say("roads", message)
        with watch(tmp_path, source) as sink:
            sink.until(expected())


def test_a_wrong_password_is_refused_and_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = Path(mosquitto_program()).parent / "mosquitto_passwd"
    tool = tool if tool.exists() else Path("/usr/bin/mosquitto_passwd")
    if not tool.exists():
        pytest.skip("mosquitto_passwd is not installed")
    users = tmp_path / "users"
    subprocess.run([tool, "-c", "-b", str(users), "reader", "s3cret"], check=True)
    users.chmod(0o644)
    port = free_port()
    source = f"mqtt://127.0.0.1:{port}/roads"
    with mosquitto(tmp_path / "broker", port, f"password_file {users}"):
        with pytest.raises(Error) as met:
            settle(source.replace("//", "//reader:hunter2@"), None)
        assert "refuses: not authorized" in met.value.message
        assert "hunter2" not in met.value.render()
        known = tmp_path / "credentials.toml"
        known.write_text('["127.0.0.1"]\nuser = "reader"\npassword = "s3cret"\n')
        monkeypatch.setenv("XSTREAMCAST_CREDENTIALS", str(known))
        client = paho.Client(paho.CallbackAPIVersion.VERSION2)
        client.username_pw_set("reader", "s3cret")
        client.connect("127.0.0.1", port)
        client.loop_start()
        client.publish("roads", WHOLE, qos=1, retain=True).wait_for_publish(30)
        client.disconnect()
        client.loop_stop()
        assert settle(source, expected()) == expected()


def test_what_is_no_broker_is_named() -> None:
    def shut(server: socket.socket) -> None:
        server.accept()[0].close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=shut, args=(server,), daemon=True).start()
        with pytest.raises(Error, match="does not answer as a broker of MQTT does"):
            settle(f"mqtt://127.0.0.1:{server.getsockname()[1]}/roads", None)


def test_a_topic_without_messages_is_named_by_run(tmp_path: Path) -> None:
    port = free_port()
    with (
        mosquitto(tmp_path / "broker", port),
        pytest.raises(Error, match="/nothing has nothing to read") as met,
    ):
        read_sources([f"mqtt://127.0.0.1:{port}/nothing"])
    assert met.value.hint == "quiet=1m in the address waits longer"
