"""Appends lines of a file to another at an even rate, from a process of its own, and says when."""

import json
import sys
import time
from pathlib import Path

STEP = 0.01  # seconds between two appends


def feed(lines: list[bytes], sink: Path, rate: int, stop: Path) -> list[tuple[int, int]]:
    """(monotonic nanoseconds, bytes there then) of each append, until `stop` is there.

    The first counts from the append on; what the system held up is made up for.
    """
    said = []
    with sink.open("ab", buffering=0) as file:
        size, sent, began = sink.stat().st_size, 0, time.monotonic()
        while sent < len(lines) and not stop.exists():
            due = min(len(lines), int((time.monotonic() - began) * rate) + 1)
            if due > sent:
                size += file.write(b"".join(lines[sent:due]))
                said.append((time.monotonic_ns(), size))
                sent = due
            time.sleep(STEP)
    return said


def main(words: list[str]) -> int:
    source, sink, rate, stop = words
    with open(source, "rb") as file:
        lines = file.readlines()
    json.dump(feed(lines, Path(sink), int(rate), Path(stop)), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
