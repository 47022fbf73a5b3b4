"""How long a query on Spark takes to tell something new after it was killed, by size of its state.

python -m bench.recovery 100     # megabytes of what it remembers
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

_HEAD: Final = '<stream:fragments xmlns:stream="urn:xstreamcast:stream">\n'
_STRUCTURE: Final = (
    '<stream:structure><tag id="1" name="entries" type="snapshot">'
    '<tag id="2" name="entry" type="temporal"/></tag></stream:structure>\n'
)
_QUERY: Final = (
    'for $e in stream("feed")//entry?[now] where $e/@n mod 100 = 0 '
    'return <e n="{$e/@n}">{string-length($e)}</e>'
)
_EACH: Final = 1000  # characters of an entry
_FILE: Final = 20_000  # entries of a file, and of a batch
_PATIENCE: Final = 3600.0  # seconds


@dataclass(frozen=True, slots=True)
class Recovery:
    """What was measured; `fresh` is the same start with nothing to remember."""

    entries: int
    payload: int  # bytes that the query remembers
    stored: int  # bytes of Spark's state store
    build: float  # seconds until all of it was taken in
    seconds: float  # from the start after the kill to the first new change
    fresh: float  # from a start with an empty checkpoint to the first change

    def told(self) -> str:
        return (
            f"{self.payload / 1e6:.0f} MB in {self.entries} entries ({self.stored / 1e6:.0f} MB "
            f"stored, taken in within {self.build:.0f} s): {self.seconds:.1f} s after kill -9 "
            f"until the first new change; {self.fresh:.1f} s for a start with nothing to remember"
        )


def recovery(megabytes: int, folder: Path, *more: str) -> Recovery:
    """Fill a state, kill the query, start it again, and measure; `more` are words for `watch`."""
    entries = max(100, megabytes * 1_000_000 // _EACH // 100 * 100)
    fresh = _fresh(folder / "fresh", *more)
    feed = folder / "feed"
    feed.mkdir(parents=True)
    _write(feed, entries)
    began = time.monotonic()
    process = _start(feed, folder, *more)
    build = _until(process, folder, entries // 100) - began
    known = _lines(folder)
    stored = _size(folder / "cp" / "spark" / "state")
    (feed / "new.xml").write_text(f"{_HEAD}{_entry(0, 700, '2004-01-01')}</stream:fragments>\n")
    seconds = _first(feed, folder, known, *more)
    return Recovery(entries, entries * _EACH, stored, build, seconds, fresh)


def _fresh(folder: Path, *more: str) -> float:
    feed = folder / "feed"
    feed.mkdir(parents=True)
    _write(feed, 100)
    return _first(feed, folder, 0, *more)


def _first(feed: Path, folder: Path, known: int, *more: str) -> float:
    """Seconds from a start to the first change beyond those that are known; then it is killed."""
    began = time.monotonic()
    return _until(_start(feed, folder, *more), folder, known + 1) - began


def _until(process: subprocess.Popen[bytes], folder: Path, lines: int) -> float:
    """When so many changes are in the sink; then it is killed, and it is killed in any case."""
    try:
        _wait(process, folder, lines)
        return time.monotonic()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _start(feed: Path, folder: Path, *more: str) -> subprocess.Popen[bytes]:
    words = ["watch", "-q", _QUERY, "-i", f"feed={feed}", "--runner", "spark", "--follow"]
    words += ["--checkpoint", str(folder / "cp"), "-o", str(folder / "told")]
    words += ["--max-per-batch", str(_FILE), *more]
    command = [sys.executable, "-m", "xstreamcast", *words]
    with open(folder / "said", "wb") as said:
        return subprocess.Popen(command, start_new_session=True, stderr=said)


def _wait(process: subprocess.Popen[bytes], folder: Path, lines: int) -> None:
    until = time.monotonic() + _PATIENCE
    while _lines(folder) < lines:
        if process.poll() is not None or time.monotonic() > until:
            said = (folder / "said").read_text(errors="replace")
            raise RuntimeError(f"the query has ended or does not come on: {said}")
        time.sleep(0.02)


def _lines(folder: Path) -> int:
    path = folder / "told"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _write(feed: Path, entries: int) -> None:
    """Entries of text that cannot be made smaller, a file for each batch."""
    for number, first in enumerate(range(0, entries, _FILE)):
        with open(feed / f"{number:05}.xml", "w") as file:
            file.write(_HEAD)
            if first == 0:
                file.writelines(_root(entries))
            for n in range(first, min(entries, first + _FILE)):
                file.write(_entry(n, _EACH, "2003-01-02"))
            file.write("</stream:fragments>\n")


def _root(entries: int) -> Iterator[str]:
    yield _STRUCTURE
    yield '<stream:filler id="root" tsid="1" validTime="2003-01-01"><entries>'
    yield from (f'<stream:hole id="{n}" tsid="2"/>' for n in range(entries))
    yield "</entries></stream:filler>\n"


def _entry(n: int, length: int, valid: str) -> str:
    text = Random(n).randbytes(length // 2).hex()
    head = f'<stream:filler id="{n}" tsid="2" validTime="{valid}">'
    return f'{head}<entry n="{n}">{text}</entry></stream:filler>\n'


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recovery", description=__doc__)
    parser.add_argument("megabytes", type=int, nargs="?", default=100)
    parser.add_argument("words", nargs="*", help="further words for `watch`, after --")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="xstreamcast-recovery-") as folder:
        found = recovery(arguments.megabytes, Path(folder), *arguments.words)
    sys.stdout.write(found.told() + "\n")


if __name__ == "__main__":
    main()
