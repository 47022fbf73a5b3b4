"""Servers with certificates of their own: read where somebody vouches for them, else refused."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from tests.edges.sources.roads import MESSAGES, WHOLE, expected, settle
from tests.edges.sources.servers import (
    Certificate,
    certificate,
    free_port,
    http,
    kafka,
    mosquitto,
    websocket,
)
from tests.edges.sources.test_http import answer
from xstreamcast import query
from xstreamcast.cli.run import read_sources
from xstreamcast.errors import Error

COUNT = 'count(stream("roads")//incident)'


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("certificate"))


def counted(source: str) -> list[str]:
    _, named = read_sources([f"roads={source}"])
    return list(query(COUNT).run(**named).lines())


def refuses(source: str) -> str:
    with pytest.raises(Error) as caught:
        counted(source)
    return f"{caught.value.message} {caught.value.hint or ''}"


def test_a_document_over_https(trusted: Certificate, monkeypatch: pytest.MonkeyPatch) -> None:
    with http(lambda handler: answer(handler, WHOLE), trusted) as url:
        assert counted(f"{url}/roads.xml#ca={trusted.cert}") == ["50"]
        assert "ca=FILE" in refuses(f"{url}/roads.xml")
        monkeypatch.setenv("XSTREAMCAST_ROADS_CA", str(trusted.cert))
        assert counted(f"{url}/roads.xml") == ["50"]


def test_messages_over_wss(trusted: Certificate) -> None:
    def serve(connection: Any) -> None:
        for message in MESSAGES:
            connection.send(message.decode())

    with websocket(serve, trusted) as url:
        assert settle(f"{url}/roads#ca={trusted.cert}", None) == expected()
        assert "ca=FILE" in refuses(f"{url}/roads")


def test_a_file_that_holds_no_certificate_is_named(trusted: Certificate, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    assert "holds no certificate" in refuses(f"https://127.0.0.1:1/#ca={tmp_path / 'ca.pem'}")
    assert "cannot open" in refuses(f"wss://127.0.0.1:1/#ca={tmp_path / 'gone.pem'}")


# paho leaves the socket of a handshake that failed to the garbage collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_messages_over_mqtts(trusted: Certificate, tmp_path: Path) -> None:
    paho = pytest.importorskip("paho.mqtt.client", reason="the mqtt extra is not installed")
    port = free_port()
    lines = (f"certfile {trusted.cert}", f"keyfile {trusted.key}")
    with mosquitto(tmp_path / "broker", port, *lines):
        client = paho.Client(paho.CallbackAPIVersion.VERSION2)
        client.tls_set(ca_certs=str(trusted.cert))
        client.connect("127.0.0.1", port)
        client.loop_start()
        for number, message in enumerate(MESSAGES):
            client.publish(f"roads/{number}", message, qos=1, retain=True).wait_for_publish(30)
        client.disconnect()
        client.loop_stop()
        place = f"mqtts://127.0.0.1:{port}/roads/%23?quiet=500ms"
        assert counted(f"{place}&ca={trusted.cert}") == ["50"]
        assert "ca=FILE" in refuses(place)
    gc.collect()


def test_records_over_kafkas(trusted: Certificate, tmp_path: Path) -> None:
    client = pytest.importorskip("confluent_kafka", reason="the kafka extra is not installed")
    with kafka(tmp_path / "kafka", trusted) as broker:
        settings = {"security.protocol": "SSL", "ssl.ca.location": str(trusted.cert)}
        producer = client.Producer({"bootstrap.servers": broker, "linger.ms": 0, **settings})
        for message in MESSAGES:
            producer.produce("roads", message, partition=0)
        assert producer.flush(60) == 0
        del producer  # it would go on calling
        assert counted(f"kafkas://{broker}/roads?ca={trusted.cert}") == ["50"]
        assert "certificate" in refuses(f"kafkas://{broker}/roads")
