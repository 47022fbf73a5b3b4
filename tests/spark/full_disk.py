"""Runs in a mount namespace of its own: commands on disks that are full, and have room later.

full_disk.py FOLDER  →  a line of JSON for each command: its name, exit code, what it said
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

from xstreamcast.cli.main import main

_FILLER = "filler"
QUERY = """for $a in stream("credit")//account
where sum($a/limit?[now]) > 4000 return <a no="{$a/@no}">{$a/limit?[now]/text()}</a>"""


def disk(folder: Path, size: int, left: int) -> Path:
    """A file system of its own, with so many bytes left."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    subprocess.run(mount, check=True)
    (folder / _FILLER).write_bytes(bytes(size - left))
    return folder


def make_room(folder: Path) -> None:
    os.remove(folder / _FILLER)


def tell(name: str, *words: str) -> None:
    """Run a command and say what came of it."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        code = main(list(words))
    print(json.dumps([name, code, said.getvalue()]), flush=True)  # noqa: T201


def play(folder: Path) -> None:
    feed, large = folder / "feed", 32 << 20
    checkpoint, sink = disk(folder / "cp", large, 100 << 10), disk(folder / "sink", 1 << 20, 4096)
    table = disk(folder / "table", large, 150 << 10)
    batches = ("--max-per-batch", "40")
    kept = ("--checkpoint", str(checkpoint / "c"), "-o", str(sink / "told"))
    watch = ("watch", "-q", QUERY, "-i", f"credit={feed}", "--runner", "spark", *batches, *kept)
    tell("checkpoint", *watch)
    make_room(checkpoint)
    tell("sink", *watch)
    make_room(sink)
    tell("watch", *watch)
    (folder / "told").write_bytes((sink / "told").read_bytes())
    ingest = ("ingest", str(feed), "--table", str(table / "t"), "--stream", "credit", *batches)
    tell("table", *ingest)
    make_room(table)
    tell("ingest", *ingest)
    subprocess.run(["cp", "-r", str(table / "t"), str(folder / "kept")], check=True)


if __name__ == "__main__":
    play(Path(sys.argv[1]))
