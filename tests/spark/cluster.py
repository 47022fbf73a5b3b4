"""A standalone cluster of Spark on this machine, for as long as a test needs it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.spark.killing import ends_within
from xstreamcast.spark.home import spark_home
from xstreamcast.spark.java import cache_folder, find_java, prepared

HERE: Final = "127.0.0.1"
PATIENCE: Final = 120.0  # seconds
_DEPLOY: Final = "org.apache.spark.deploy"
_QUICK: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where it listens, and the folder of its settings, of its events and of its workers."""

    master: str
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a driver has to know beside the address: settings as Spark reads them anywhere."""
        return {**os.environ, "SPARK_CONF_DIR": str(self.folder / "conf")}

    def tasks(self) -> Counter[str]:
        """How many tasks each worker has ended well, of all that ran so far."""
        ended: Counter[str] = Counter()
        for path in sorted((self.folder / "events").rglob("events_*")):
            events = [json.loads(line) for line in path.read_text().splitlines()]
            workers = dict(_executors(events))
            for event in events:
                if event["Event"] == "SparkListenerTaskEnd" and _is_success(event):
                    ended[workers[event["Task Info"]["Executor ID"]]] += 1
        return ended


def _executors(events: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for event in events:
        if event["Event"] == "SparkListenerExecutorAdded":
            log = event["Executor Info"]["Log Urls"]["stdout"]
            yield event["Executor ID"], log.partition("/logPage")[0]


def _is_success(event: dict[str, Any]) -> bool:
    return bool(event["Task End Reason"]["Reason"] == "Success")


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and some workers of a core and a gigabyte; they end with the block."""
    _write_settings(folder)
    port, page = free_port(), free_port()
    at = ("--host", HERE, "--port")
    processes = [spark_process(f"{_DEPLOY}.master.Master", folder, *at, str(port), *_page(page))]
    try:
        master = f"spark://{HERE}:{port}"
        _wait(lambda: _status(page) is not None, processes)
        for number in range(workers):
            kept = ("--work-dir", str(folder / f"worker{number}"), "--cores", "1", "--memory", "1g")
            here = (*at, "0", *_page(0), *kept, master)
            processes.append(spark_process(f"{_DEPLOY}.worker.Worker", folder, *here))
        _wait(lambda: (_status(page) or {}).get("aliveworkers") == workers, processes)
        yield Cluster(master, folder)
    finally:
        for process in reversed(processes):
            end(process)


def _page(port: int) -> tuple[str, str]:
    return "--webui-port", str(port)


def _write_settings(folder: Path) -> None:
    events = folder / "events"
    events.mkdir(parents=True)
    (folder / "conf").mkdir()
    lines = ["spark.executor.memory 700m", "spark.cores.max 2", "spark.eventLog.enabled true"]
    lines += [f"spark.executor.extraJavaOptions {_QUICK}"]
    lines += [f"spark.eventLog.dir file://{events}", "spark.eventLog.compress false"]
    (folder / "conf" / "spark-defaults.conf").write_text("\n".join(lines) + "\n")


def spark_process(
    name: str, folder: Path, *words: str, more: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """A class of Spark's own, started by the Java that we start; its words are in a file."""
    home = spark_home(cache_folder())
    assert home is not None
    ours = {
        "JAVA_HOME": str(prepared(find_java(), folder / "java").home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": HERE,
        "SPARK_DAEMON_JAVA_OPTS": _QUICK,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LAUNCHER_OPTS": _QUICK,
        "PYSPARK_PYTHON": sys.executable,
        **(more or {}),
    }
    with open(folder / f"{name.rpartition('.')[2]}-{time.monotonic_ns()}.log", "wb") as said:
        return subprocess.Popen(
            [str(home / "bin" / "spark-class"), name, *words],
            env={**os.environ, **ours}, stdout=said, stderr=said, start_new_session=True,
        )  # fmt: skip


def end(process: subprocess.Popen[bytes]) -> None:
    """A process and all that it started, whatever they are at."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(10)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind((HERE, 0))
        return int(taken.getsockname()[1])


def listens(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex((HERE, port)) == 0


def _status(page: int) -> dict[str, Any] | None:
    try:
        with urllib.request.urlopen(f"http://{HERE}:{page}/json/", timeout=5) as answer:
            told: dict[str, Any] = json.load(answer)
    except OSError:
        return None
    return told


def _wait(until: Any, processes: list[subprocess.Popen[bytes]]) -> None:
    last = time.monotonic() + PATIENCE
    while not until():
        assert all(one.poll() is None for one in processes), "Spark's own process has ended"
        assert time.monotonic() < last, "Spark's own processes do not come up"
        ends_within(processes[0], 0.1)
