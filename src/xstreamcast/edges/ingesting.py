"""A source into a fragment table, in this process; it continues where it stopped."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from xstreamcast.edges.inputs import stream_name
from xstreamcast.edges.mapping.finding import split_source
from xstreamcast.edges.replay import Offset, Replay, split_rows
from xstreamcast.edges.structures import read_structure, write_structure
from xstreamcast.edges.table.log import Log
from xstreamcast.edges.table.schema import arrow, row_schema
from xstreamcast.edges.table.seeing import Insides
from xstreamcast.edges.table.writing import OnError, Written, append


@dataclass(slots=True)
class Ingested:
    """What went into a table."""

    stream: str
    fragments: int = 0
    refused: int = 0
    batches: int = 0
    left: list[tuple[str, int]] = field(default_factory=list)  # files with an unfinished end

    def add(self, written: Written) -> None:
        self.fragments += written.fragments
        self.refused += written.refused
        self.batches += not written.again

    def summary(self) -> str:
        """One line of counts."""
        batches = f"{self.batches} batch{'es' if self.batches != 1 else ''}"
        fragments = f"{self.fragments} fragment{'s' if self.fragments != 1 else ''}"
        parts = [f"{self.stream}: {fragments} in {batches}"]
        parts += [f"{self.refused} refused, kept in the table's quarantine"] if self.refused else []
        parts += [f"{name}: {n} bytes of an unfinished fragment left" for name, n in self.left]
        return ", ".join(parts)


def structure_text(path: str | os.PathLike[str] | None) -> str | None:
    """The tag structure in a file, in canonical form."""
    return None if path is None else write_structure(read_structure(path), None).decode()


def ingest(
    source: str | os.PathLike[str],
    table: str | os.PathLike[str],
    *,
    stream: str | None = None,
    structure: str | os.PathLike[str] | None = None,
    valid: str | None = None,
    most: int | None = None,
    on_error: OnError = "quarantine",
    report: Callable[[Ingested], None] | None = None,
    done: Ingested | None = None,
    follow: bool = False,
    called: str | None = None,
) -> Ingested:
    """Read what is there in batches of at most `most` fragments; each is written once.

    Each batch is counted in `done` when it is in the table, before `report` is called. `follow`:
    this is called again, so a message at the end that is not whole is awaited. `called`: what
    messages call a file that was written down first.
    """
    name = stream or stream_name(split_source(source)[1])
    replay = Replay(
        os.fspath(source), structure_text(structure), 1, valid, follow=follow, called=called
    )
    writer = f"{name} from {os.path.abspath(source)}"
    epoch, offset = _resumed(Log(table), writer)
    done = Ingested(name) if done is None else done
    while (end := replay.advance(offset, most)) != offset:
        insides, plan = Insides(), replay.plan(offset, end)
        rows = [rows for split in plan for rows in split_rows(name, split, insides)]
        whole = arrow().Table.from_batches(rows, row_schema())
        epoch += 1
        end_offset = end.json()
        written = append(
            table, whole, writer=writer, epoch=epoch, offset=end_offset, on_error=on_error,
            insides=insides,
        )  # fmt: skip
        done.add(written)
        offset = end
        if report is not None:
            report(done)
    done.left = list(replay.left_over(offset))
    return done


def _resumed(log: Log, writer: str) -> tuple[int, Offset]:
    known: tuple[int, Any] | None = log.state().writers.get(writer)
    return (-1, Offset()) if known is None else (known[0], Offset.of(known[1]))
