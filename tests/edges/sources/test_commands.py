"""Sources on the command line: pipes, addresses into tables, libraries that are missing."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.edges.sources.commands import interruptible, watch
from tests.edges.sources.roads import MESSAGES, QUERY, WHOLE, answered, expected
from tests.edges.sources.servers import LONG, free_port, websocket
from xstreamcast.cli.main import main
from xstreamcast.cli.query_arguments import sources
from xstreamcast.errors import Error

XSC = [sys.executable, "-m", "xstreamcast"]


def written(path: Path, data: bytes) -> threading.Thread:
    """A writer of a named pipe."""

    def write() -> None:
        with open(path, "wb") as pipe:
            pipe.write(data)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def test_run_reads_named_pipes_and_process_substitution(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = written(pipe, WHOLE)
    assert main(["run", "-q", QUERY, "-i", f"roads={pipe}"]) == 0
    writer.join(LONG)
    assert capfd.readouterr().out.splitlines() == expected()
    command = (
        f"{sys.executable} -m xstreamcast run -q 'sum(//b)' -i <(echo '<a><b>1</b><b>2</b></a>')"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=LONG)
    assert done.stdout == "3\n", done.stderr


def test_a_named_pipe_is_kept_by_a_checkpoint(tmp_path: Path) -> None:
    """What ticks that count took in of it is not asked for a second time."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    half = len(b"".join(MESSAGES[:26]))
    writer = written(pipe, WHOLE[:half])
    with watch(tmp_path, str(pipe), "--follow", ends=True) as sink:
        sink.until_counted(1)  # its end: all before it counts
    writer.join(LONG)
    writer = written(pipe, WHOLE[half:])
    words = ["watch", "-q", QUERY, "-i", f"roads={pipe}", "-o", str(tmp_path / "out")]
    words += ["--format", "changes", "--checkpoint", str(tmp_path / "state")]
    done = subprocess.run([*XSC, *words], capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 0, done.stderr
    writer.join(LONG)
    assert answered((tmp_path / "out").read_text().splitlines()) == expected()


def test_a_folder_that_grows_while_it_is_killed(tmp_path: Path) -> None:
    """New files that sort before the old ones are read after them, before and after a restart."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "m.xml").write_bytes(b"".join(MESSAGES[:11]))

    def arrive(name: str, first: int, last: int) -> None:
        part = folder / f".{name}"
        part.write_bytes(b"".join(MESSAGES[first:last]))
        part.rename(folder / name)

    with watch(tmp_path, str(folder), "--follow") as sink:
        sink.until(expected(MESSAGES[:11]))
        arrive("c.xml", 11, 21)
        sink.until(expected(MESSAGES[:21]))
    arrive("b.xml", 21, 36)
    with watch(tmp_path, str(folder), "--follow") as sink:
        sink.until(expected(MESSAGES[:36]))
        arrive("a.xml", 36, 51)
        sink.until(expected())
        lines = sink.lines()
    assert len(lines) == len(set(lines))


def test_a_websocket_into_a_table_each_fragment_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")

    def serve(connection: Any) -> None:
        for message in MESSAGES:
            connection.send(message)

    table = str(tmp_path / "table")
    with websocket(serve) as url:
        for _ in range(2):  # the second time the same messages come: they are repetitions
            words = ["ingest", url, "--table", table, "--stream", "roads", "--runner", "local"]
            assert main(words) == 0
    capfd.readouterr()
    assert main(["run", "-q", QUERY, "-i", f"roads=table:{table}"]) == 0
    assert capfd.readouterr().out.splitlines() == expected()


def test_a_folder_is_followed_into_a_table(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    folder, table = tmp_path / "in", tmp_path / "table"
    folder.mkdir()
    (folder / "1.xml").write_bytes(b"".join(MESSAGES[:26]))
    words = ["ingest", str(folder), "--table", str(table), "--stream", "roads"]
    running = subprocess.Popen(
        [*XSC, *words, "--runner", "local", "--follow"], text=True, stderr=subprocess.PIPE,
        preexec_fn=interruptible,
    )  # fmt: skip
    from tests.edges.sources.servers import until
    from xstreamcast.edges.table.log import Log

    def rows() -> int:
        assert running.poll() is None
        return sum(file.rows for file in Log(table).state().files_of("roads"))

    until(lambda: table.exists() and rows() == 26, "the first file")
    (folder / "2.xml").write_bytes(MESSAGES[0] + b"".join(MESSAGES[26:]))
    until(lambda: rows() >= 51, "the second file")
    running.send_signal(2)
    _, said = running.communicate(timeout=LONG)
    assert running.returncode == 0
    assert "roads: 52 fragments in 2 batches" in said


MISSING = {
    "http://127.0.0.1:1/x": ("httpx", "http"),
    "ws://127.0.0.1:1/x": ("websockets", "ws"),
    "mqtt://127.0.0.1:1/x": ("paho", "mqtt"),
    "kafka://127.0.0.1:1/x": ("confluent_kafka", "kafka"),
    "roads.xml.zst": ("zstandard", "zstd"),
}


@pytest.mark.parametrize("source", MISSING)
def test_a_library_that_is_missing_is_named_with_the_line_that_installs_it(
    source: str, tmp_path: Path
) -> None:
    package, extra = MISSING[source]
    (tmp_path / "roads.xml.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    script = (
        f"import sys; sys.modules[{package!r}] = None; from xstreamcast.cli.main import main; "
        f"sys.exit(main(['run', '-q', 'stream(\"x\")//a', '-i', 'x={source}']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          cwd=tmp_path, timeout=LONG)  # fmt: skip
    assert done.returncode == 2
    assert f"needs the package {package}" in done.stderr
    assert f"pip install 'xstreamcast[{extra}]'" in done.stderr


def test_passwords_are_in_no_message(capfd: pytest.CaptureFixture[str]) -> None:
    for scheme in ("http", "ws", "mqtt"):
        source = f"{scheme}://reader:hunter2@127.0.0.1:{free_port()}/x"
        words = ["-q", 'stream("x")//a', "-i", f"x={source}"]
        assert main(["watch", *words, "--for", "100ms"]) == 0
        assert main(["tune", source, "--for", "100ms"]) == 0
        assert main(["run", *words]) == 2
    said = "".join(capfd.readouterr())
    assert said.count("trying again") == 6
    assert "127.0.0.1" in said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    "address",
    [
        "http://reader:hunter2@127.0.0.1:1/x",
        "ftp://reader:hunter2@127.0.0.1/x",
        "unknown:http://reader:hunter2@127.0.0.1:1/x",
        "http://reader:@hunter2@127.0.0.1:1/x#every=never",
    ],
)
def test_passwords_are_in_no_message_of_commands_that_read_files(
    address: str, capfd: pytest.CaptureFixture[str]
) -> None:
    asking = ["-q", 'doc("x")', "-i", f"x={address}"]
    commands = [
        ["explain", "--stage", "circuit", *asking], ["infer", address], ["map", address],
        ["fragment", "--join", address], ["run", address], ["run", "-q", f'doc("{address}")'],
        ["watch", "--log", "json", "-q", f'doc("{address}")'], ["run", *asking],
    ]  # fmt: skip
    for words in commands:
        assert main(words) != 0
    said = "".join(capfd.readouterr())
    assert said.count("127.0.0.1") >= 6
    assert "hunter2" not in said


def test_stdin_is_one_input() -> None:
    with pytest.raises(Error, match="stdin can be one input only"):
        sources(["a=-", "b=-"])


def test_run_reads_a_named_pipe_that_is_called_compressed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "roads.xml.gz"
    os.mkfifo(pipe)
    writer = written(pipe, gzip.compress(b"<a><b>1</b></a><a><b>2</b></a>"))
    assert main(["run", "-q", "sum(//b)", "-i", str(pipe)]) == 0
    writer.join(LONG)
    assert capfd.readouterr().out == "3\n"
