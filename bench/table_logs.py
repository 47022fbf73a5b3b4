"""`xstreamcast bench table_logs`: our log of commits beside Delta's, in processor time.

Commits of files that are not there: what is measured is the log alone.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from bench.generate import natural
from xstreamcast.edges.table import delta
from xstreamcast.edges.table.log import File, Log, LogEntry, Stream, place

TAGS = 6  # of which each commit has a file
ROWS = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--commits", type=natural, nargs="+", default=[100, 1000], help="how many")


def main(args: argparse.Namespace) -> int:
    lines = [
        "| commits | log | one commit ms | list all files ms | list one tag ms | bytes of log |",
        "| ------: | --- | ------------: | ----------------: | --------------: | -----------: |",
    ]
    for many in args.commits:
        for name, measured in (("ours", _ours), ("Delta's", _delta)):
            folder = Path(mkdtemp(prefix="xstreamcast-logs-"))
            try:
                lines.append(f"| {many:,} | {name} | {' | '.join(measured(folder, many))} |")
            finally:
                shutil.rmtree(folder)
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _files(number: int) -> tuple[File, ...]:
    folders = (place("s", tag) for tag in range(1, TAGS + 1))
    return tuple(File(f"{one}/{number:010}-0.parquet", ROWS, 1 << 16) for one in folders)


def _took(work: Callable[[], Any], times: int = 1) -> float:
    """Milliseconds of processor time of one of so many times."""
    began = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - began) * 1000 / times


def _ours(folder: Path, many: int) -> list[str]:
    log = Log(folder)

    def commit() -> None:
        number = log.numbers()[-1] + 1 if log.exists() else 0
        entry = LogEntry("bench", number, _files(number), (), {"s": Stream("<tag/>", number)}, None)
        assert log.commit(number, entry)

    one = _took(commit, many)
    whole = _took(lambda: log.state().files)
    pruned = _took(lambda: log.state().files_of("s", frozenset({3})))
    assert len(log.state().files) == TAGS * many
    return _shown(one, whole, pruned, log.folder)


def _delta(folder: Path, many: int) -> list[str]:
    found = delta.needed()
    words = delta._words()
    delta._opened(folder)

    def commit(number: int) -> None:
        table = found.DeltaTable(str(folder))
        actions = [
            words.AddAction(
                file.path, file.nbytes, delta._partition(file), 0, True,
                json.dumps({"numRecords": file.rows}),
            )
            for file in _files(number)
        ]  # fmt: skip
        told = words.CommitProperties(app_transactions=[words.Transaction("bench", number)])
        table.create_write_transaction(
            actions, "append", delta._schema(), ["stream", "tag"], commit_properties=told
        )

    began = time.process_time()
    for number in range(many):
        commit(number)
    one = (time.process_time() - began) * 1000 / many
    whole = _took(lambda: found.DeltaTable(str(folder)).file_uris())
    pruned = _took(lambda: found.DeltaTable(str(folder)).file_uris([("tag", "=", "3")]))
    assert len(found.DeltaTable(str(folder)).file_uris()) == TAGS * many
    return _shown(one, whole, pruned, folder / "_delta_log")


def _shown(one: float, whole: float, pruned: float, folder: Path) -> list[str]:
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return [f"{one:.2f}", f"{whole:.1f}", f"{pruned:.1f}", f"{size:,}"]
