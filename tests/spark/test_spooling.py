"""What comes through a pipe or a socket is written down, and is in the table once."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.spark.feeds import HEAD, STRUCTURE, fragments

pytest.importorskip("pyarrow", reason="the spark extra is not installed")

from xstreamcast.edges.spooling import Spool
from xstreamcast.edges.table import Log
from xstreamcast.errors import UsageError

WIRE = (HEAD + STRUCTURE + "".join(fragments(40))).encode()


def ingested(source: str, table: Path, wire: bytes = b"") -> str:
    command = [sys.executable, "-m", "xstreamcast", "ingest", source, "--table", str(table)]
    command += ["--runner", "local", "--stream", "credit"]
    return subprocess.run(command, input=wire, capture_output=True, check=True).stderr.decode()


def test_a_pipe_and_what_comes_through_it_next_time(tmp_path: Path) -> None:
    assert ingested("-", tmp_path / "t", WIRE) == "credit: 41 fragments in 1 batch\n"
    more = (HEAD + "".join(fragments(40, seed=2)[:5])).encode()
    assert ingested("-", tmp_path / "t", more) == "credit: 5 fragments in 1 batch\n"
    assert sum(file.rows for file in Log(tmp_path / "t").state().files) == 46


def test_a_socket(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def send() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(WIRE)

        sender = threading.Thread(target=send)
        sender.start()
        port = server.getsockname()[1]
        said = ingested(f"tcp://127.0.0.1:{port}", tmp_path / "t")
        sender.join()
    assert said == "credit: 41 fragments in 1 batch\n"
    assert (tmp_path / "t" / "_received" / "credit" / "000000.xml").read_bytes() == WIRE


def test_nobody_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(UsageError, match="cannot connect"):
        Spool(f"tcp://127.0.0.1:{port}", tmp_path)
    with pytest.raises(UsageError, match="HOST:PORT"):
        Spool("tcp://nowhere", tmp_path)


def test_what_is_in_quarantine_is_shown(tmp_path: Path) -> None:
    bad = b'<stream:filler id="a2"><y>\n<stream:filler id="a1" tsid="9"><x/></stream:filler>\n'
    command = [sys.executable, "-m", "xstreamcast", "ingest", "-", "--table", str(tmp_path / "t")]
    command += ["--runner", "local", "--stream", "credit"]
    assert subprocess.run(command, input=WIRE + bad, check=False).returncode == 4
    show = [sys.executable, "-m", "xstreamcast", "refused", str(tmp_path / "t")]
    shown = subprocess.run(show, capture_output=True, check=True)
    assert shown.stderr == b"2 refused\n"
    assert b"<!-- XSCF0003 credit (fragment a1" in shown.stdout
    assert b'-->\n<stream:filler id="a2"><y>\n' in shown.stdout
    counted = subprocess.run([*show, "--count"], capture_output=True, check=True).stdout
    assert sorted(line.split()[1] for line in counted.splitlines()) == [b"XSCF0001", b"XSCF0003"]


def test_a_peer_that_comes_again_is_called_again(tmp_path: Path) -> None:
    parts = [WIRE, (HEAD + "".join(fragments(40, seed=2)[:5])).encode()]
    with socket.create_server(("127.0.0.1", 0)) as server:
        spool = Spool(f"tcp://127.0.0.1:{server.getsockname()[1]}", tmp_path, again=True)
        spool.start()
        for part in parts:
            connection, _ = server.accept()
            with connection:
                connection.sendall(part)
        server.accept()[0].close()  # it has gone on to a third: the second is written
        spool.close()
    spool.join()
    assert [(tmp_path / f"{n:06}.xml").read_bytes() for n in range(2)] == parts
