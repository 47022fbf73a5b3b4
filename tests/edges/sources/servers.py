"""Real servers for the tests: started on loopback, ended by them; skipped where not installed."""

from __future__ import annotations

import base64
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
LONG = 120.0  # seconds that anything may take on a machine that is busy


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def until(condition: Callable[[], bool], what: str, seconds: float = LONG) -> None:
    """Wait for something that another thread or process does."""
    end, turn = time.monotonic() + seconds, threading.Event()
    while not condition():
        assert time.monotonic() < end, f"{what} did not happen in {seconds} s"
        turn.wait(0.02)


def _said(server: subprocess.Popen[str], word: str) -> threading.Thread:
    """Read what a server says until it says that it is ready → what lets it talk from then on."""
    said: list[str] = []
    assert server.stdout is not None
    for line in server.stdout:
        said.append(line)
        if word in line:
            break
    else:
        raise AssertionError("".join(said[-20:]))

    def drain() -> None:
        assert server.stdout is not None
        for _ in server.stdout:
            pass

    return threading.Thread(target=drain, daemon=True)


@contextmanager
def running(command: list[str], ready: str) -> Iterator[subprocess.Popen[str]]:
    """A server while it is needed."""
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"LC_ALL": "C"},
    )  # fmt: skip
    drain: threading.Thread | None = None
    try:
        drain = _said(server, ready)
        drain.start()
        yield server
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(20)
        if drain is not None:
            drain.join(20)
        assert server.stdout is not None
        server.stdout.close()


def mosquitto_program() -> str:
    path = shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if path is None:
        pytest.skip("mosquitto is not installed (.ci/install-servers installs it)")
    return path


@contextmanager
def mosquitto(folder: Path, port: int, *more: str) -> Iterator[None]:
    """A broker that keeps sessions and retained messages in a folder."""
    program = mosquitto_program()
    folder.mkdir(parents=True, exist_ok=True)
    anonymous = [] if any("password_file" in line for line in more) else ["allow_anonymous true"]
    conf = folder / "mosquitto.conf"
    lines = [f"listener {port} 127.0.0.1", "persistence true", f"persistence_location {folder}/"]
    lines += [
        "autosave_interval 1",
        "autosave_on_changes true",
        "max_queued_messages 0",
        "user root",
    ]
    conf.write_text("\n".join([*lines, *anonymous, *more]) + "\n")
    with running([program, "-v", "-c", str(conf)], "running"):
        yield


def kafka_jars() -> str:
    folder = Path(os.environ.get("KAFKA_JARS", ROOT / ".venv" / "share" / "kafka"))
    if not list(folder.glob("kafka_*.jar")):
        pytest.skip("the jars of Kafka are not there (.ci/install-servers fetches them)")
    if shutil.which("java") is None:
        pytest.skip("java is not installed")
    return f"{folder}/*"


@contextmanager
def kafka(folder: Path, trusted: Certificate | None = None) -> Iterator[str]:
    """A broker that is its own controller."""
    way = "PLAINTEXT" if trusted is None else "SSL"
    safe = "" if trusted is None else (
        f"ssl.keystore.type=PKCS12\nssl.keystore.location={trusted.pkcs12()}\n"
        "ssl.keystore.password=secret\nssl.key.password=secret\nssl.truststore.type=PEM\n"
        f"ssl.truststore.location={trusted.cert}\n"
        "inter.broker.listener.name=SSL\n"
    )  # fmt: skip
    jars, port, control = kafka_jars(), free_port(), free_port()
    folder.mkdir(parents=True, exist_ok=True)
    conf = folder / "server.properties"
    conf.write_text(
        f"""process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{control}
listeners={way}://127.0.0.1:{port},CONTROLLER://127.0.0.1:{control}
advertised.listeners={way}://127.0.0.1:{port}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL
{safe}controller.listener.names=CONTROLLER
log.dirs={folder}/logs
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""
    )
    java = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", jars]
    # 16 bytes in base64, as Kafka writes its numbers.
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    cluster = "A" + cluster[1:]  # one that begins with - is taken for an option
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(conf)],
        check=True, capture_output=True, timeout=LONG,
    )  # fmt: skip
    quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=info"
    with running([*java[:1], quiet, *java[1:], "kafka.Kafka", str(conf)], "Kafka Server started"):
        yield f"127.0.0.1:{port}"


@dataclass(frozen=True)
class Certificate:
    """A certificate that vouches for itself, and its key."""

    cert: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(self.cert, self.key)
        return made

    def pkcs12(self) -> Path:
        """Both in one file, as Java reads them; the password is `secret`."""
        made = self.cert.with_suffix(".p12")
        subprocess.run(
            ["openssl", "pkcs12", "-export", "-in", self.cert, "-inkey", self.key, "-out", made,
             "-passout", "pass:secret", "-name", "server"],
            check=True, capture_output=True, timeout=LONG,
        )  # fmt: skip
        return made


def certificate(folder: Path) -> Certificate:
    """One for 127.0.0.1, made here."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    made = Certificate(folder / "server.pem", folder / "server.key")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", made.key, "-out", made.cert],
        check=True, capture_output=True, timeout=LONG,
    )  # fmt: skip
    return made


@contextmanager
def http(
    answer: Callable[[Any], None], trusted: Certificate | None = None, port: int = 0
) -> Iterator[str]:
    """A server whose GET is answered by a function."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that goes away is no error."""

    server = Server(("127.0.0.1", port), Handler)
    if trusted is not None:
        # the handshake is the handler's, so that one that fails closes its own connection
        server.socket = trusted.context().wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http{'s' if trusted else ''}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(20)


@contextmanager
def websocket(
    handle: Callable[[Any], None], trusted: Certificate | None = None, port: int = 0
) -> Iterator[str]:
    """A WebSocket server whose connections are handled by a function."""
    from websockets.sync.server import serve

    context = None if trusted is None else trusted.context()
    with serve(handle, "127.0.0.1", port, ssl=context) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"ws{'s' if trusted else ''}://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()
        thread.join(20)
