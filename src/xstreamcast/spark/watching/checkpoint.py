"""The folder of a continuous query on Spark: its owner, and the position of its sink.

DIR/query     the query and its options: others are refused
DIR/moved     what state was moved to another number of partitions (`seeds`)
DIR/reached   the last batch whose changes are in the sink, and how long the sink was then
DIR/spark     Spark's own
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from xstreamcast.edges.disk import sync_folder
from xstreamcast.edges.sources.place import shown
from xstreamcast.errors import Error, error

_VERSION: Final = "version"
PARTITIONS: Final = "number of partitions"
_HINT: Final = "give another folder, or empty this one"


@dataclass(slots=True)
class Reached:
    """The last batch whose changes are in the sink, how long the sink was then, and how many
    changes it had been.
    """

    path: Path
    epoch: int = -1
    sink: int = 0
    changes: int = 0

    @staticmethod
    def of(path: Path) -> Reached:
        if not path.exists():
            return Reached(path)
        try:
            epoch, sink, *changes = json.loads(path.read_text())
        except (ValueError, TypeError):
            raise damaged(path) from None
        return Reached(path, int(epoch), int(sink), int(changes[0]) if changes else 0)

    @property
    def is_new(self) -> bool:
        """Whether nothing was said before this process."""
        return not self.path.exists()

    def begin_sink(self, length: int) -> None:
        """Say how long the sink is before anything is written."""
        self.write(self.epoch, length)

    def write(self, epoch: int, sink: int, changes: int = 0) -> None:
        """The batch counts when this returns."""
        self.epoch, self.sink, self.changes = epoch, sink, changes
        write_whole(self.path, json.dumps([epoch, sink, changes]))


def begin(folder: Path, given: Mapping[str, Any]) -> None:
    """Open a folder for a query; an existing one belongs to the query that created it."""
    folder.mkdir(parents=True, exist_ok=True)
    path, wanted = folder / "query", {"runner": "spark", _VERSION: version("xstreamcast"), **given}
    if not path.exists():
        write_whole(path, json.dumps(wanted, indent=1))
        return
    try:
        known = json.loads(path.read_text("utf-8"))
    except ValueError:
        known = None
    if not isinstance(known, dict):
        raise error("XSCU0005", f"the checkpoint {folder} is not one of Spark's", hint=_HINT)
    _compare(folder, known, wanted)


def partitions_before(folder: Path) -> int | None:
    """The partitions that a checkpoint was begun with; None if it is new, or says it nowhere."""
    try:
        known = json.loads((folder / "query").read_text("utf-8"))
    except (OSError, ValueError):
        return None  # the first one that reads it reports what is wrong with it
    found = known.get(PARTITIONS) if isinstance(known, dict) else None
    return found if isinstance(found, int) else None


def write_partitions(folder: Path, partitions: int) -> None:
    """From now on the state is that of so many."""
    known = json.loads((folder / "query").read_text("utf-8"))
    write_whole(folder / "query", json.dumps(known | {PARTITIONS: partitions}, indent=1))


def _compare(folder: Path, known: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    if known.get("query") != wanted["query"]:
        raise error("XSCU0005", f"the checkpoint {folder} is that of another query", hint=_HINT)
    for name, now in wanted.items():
        if name == PARTITIONS:
            continue  # state moves to another number when the query starts
        before = known.get(name)
        if json.loads(json.dumps(now)) != before:
            raise error(
                "XSCU0005",
                f"the checkpoint {folder} was begun with another {name}: {before}, not {now}",
                hint=f"start it as before, or {_HINT}",
            )


def other_partitions(folder: Path, before: int, now: int) -> Error:
    """State that Spark keeps in a checkpoint of the caller cannot be moved."""
    return error(
        "XSCU0005",
        f"the checkpoint {folder} was begun with another {PARTITIONS}: {before}, not {now}",
        hint="state is moved by `start` and by the command, not in a streaming DataFrame",
    )


def address(source: Any) -> str:
    """What an input is called, from wherever one looks; a DataFrame has no name."""
    if not isinstance(source, str | os.PathLike):
        return "a DataFrame"
    before, at, path = os.fspath(source).partition("table:")
    if "://" in before:
        return shown(before)  # a password in it belongs in no file
    return f"table:{os.path.abspath(path)}" if at and not before else os.path.abspath(source)


def damaged(path: Path) -> Error:
    """What is written in a checkpoint cannot be read."""
    return error(
        "XSCU0005", f"the checkpoint is damaged: {path} cannot be read",
        hint="restore it, or start with an empty folder and a new sink",
    )  # fmt: skip


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all, even if the power goes."""
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as failed:
        failed.filename = str(path)
        raise
    part.replace(path)
    sync_folder(path.parent)
