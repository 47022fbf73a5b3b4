"""Another process that measures, and says line by line what it found; it may die or say nothing."""

import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from bench.processes import tree


class Broken(Exception):
    """It ended, or was ended, before it had said all; why, in a few words."""


def said(
    words: Sequence[str], patience: float, env: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    """What it says, a line of JSON each; other lines are for nobody. `patience`: between two."""
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env, start_new_session=True
    )
    try:
        for line in _lines(process, patience):
            if line.startswith(b"{"):
                yield json.loads(line)
        if process.wait() != 0:
            raise Broken(f"its process ended with {process.returncode}")
    finally:
        end(process)


def _lines(process: "subprocess.Popen[bytes]", patience: float) -> Iterator[bytes]:
    assert process.stdout is not None
    held = b""
    while True:
        if not select.select([process.stdout], [], [], patience)[0]:
            raise Broken(f"more than {patience:.0f} s")
        piece = os.read(process.stdout.fileno(), 1 << 16)
        if not piece:
            return
        *whole, held = (held + piece).split(b"\n")
        yield from whole


def end(process: "subprocess.Popen[bytes]") -> None:
    """Let nothing of it run on: Java and workers neither."""
    if process.poll() is None:
        for pid in reversed(tree(process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
