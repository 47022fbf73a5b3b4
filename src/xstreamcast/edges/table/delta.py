"""A fragment table as a Delta table too: each commit of our log is added to Delta's log once.

The files are the same, in the folders that Delta gives its partitions. Our log is the one that
counts; commit n of it is transaction n of the application `xstreamcast` in Delta's, so that what a
killed writer did not enter, the next one does.
"""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.table.schema import arrow, file_schema
from xstreamcast.errors import error

if TYPE_CHECKING:
    from pathlib import Path

    from xstreamcast.edges.table.log import File, Log

APP: Final = "xstreamcast"
FOLDER: Final = "_delta_log"
_BY: Final = ["stream", "tag"]


def needed() -> Any:
    """The package that writes Delta's log, or what to do to have it."""
    try:
        return import_module("deltalake")
    except ImportError:
        hint = "pip install 'xstreamcast[delta]'"
        raise error("XSCU0006", "a Delta table needs the package deltalake", hint=hint) from None


def publish(log: Log) -> None:
    """Enter in Delta's log every commit that it does not have."""
    with _alone(log.path):
        table = _opened(log.path)
        committed = table.transaction_version(APP)
        for number in range(0 if committed is None else committed + 1, log.numbers()[-1] + 1):
            _tell(table, log, number)
            table.update_incremental()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One process writes to the log at a time."""
    (path / FOLDER).mkdir(parents=True, exist_ok=True)
    with open(path / FOLDER / "_xstreamcast.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _opened(path: Path) -> Any:
    delta = needed()
    if not delta.DeltaTable.is_deltatable(str(path)):
        delta.DeltaTable.create(str(path), _schema(), partition_by=_BY, name="fragments")
    return delta.DeltaTable(str(path))


def _schema() -> Any:
    pa = arrow()
    return file_schema().append(pa.field("stream", pa.string())).append(pa.field("tag", pa.int32()))


def _tell(table: Any, log: Log, number: int) -> None:
    words, entry = _words(), log.entry(number)
    before = {file.path: file for file in log.state(number).files} if entry.whole else {}
    after = {file.path: file for file in entry.files}
    actions = [
        _added(log.path, file, data_change=not entry.whole)
        for path, file in after.items()
        if path not in before
    ]
    actions += [_removed(file) for path, file in before.items() if path not in after]
    table.create_write_transaction(
        actions, "append", _schema(), _BY,
        commit_properties=words.CommitProperties(app_transactions=[words.Transaction(APP, number)]),
    )  # fmt: skip


def _words() -> Any:
    return import_module("deltalake.transaction")


def _partition(file: File) -> dict[str, str | None]:
    return {"stream": file.stream, "tag": str(file.tag)}


def _added(table: Path, file: File, *, data_change: bool) -> Any:
    when = int((table / file.path).stat().st_mtime * 1000) if (table / file.path).exists() else 0
    stats = json.dumps({"numRecords": file.rows})
    return _words().AddAction(file.path, file.nbytes, _partition(file), when, data_change, stats)


def _removed(file: File) -> Any:
    now = int(time.time() * 1000)
    return _words().RemoveAction(file.path, False, now, file.nbytes, _partition(file))
