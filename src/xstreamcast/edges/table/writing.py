"""Batches of rows into a table, each once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal

from xstreamcast.edges.structures import read_structure, write_structure
from xstreamcast.edges.table import delta
from xstreamcast.edges.table.files import write_rows
from xstreamcast.edges.table.log import File, Log, LogEntry, State, Stream
from xstreamcast.edges.table.schema import EOS, HEARTBEAT, REFUSED, STRUCTURE, WORDS, arrow
from xstreamcast.edges.table.seeing import Insides
from xstreamcast.errors import DataPlace, Error, error
from xstreamcast.model.evolution import merged
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import START

OnError = Literal["quarantine", "stop"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Files of a batch that do not count yet, and what its rows say of streams."""

    files: list[File]
    refused: list[File]
    streams: dict[str, Stream]


@dataclass(frozen=True, slots=True)
class Written:
    """What a batch brought."""

    fragments: int = 0
    refused: int = 0
    again: bool = False  # it had been written before; nothing was done


def append(
    path: str | os.PathLike[str],
    rows: Any,
    *,
    writer: str,
    epoch: int,
    offset: Any = None,
    on_error: OnError = "quarantine",
    insides: Insides | None = None,
) -> Written:
    """Append rows of streams as one batch. The same writer's same epoch is written once.

    `insides`: what was seen inside the fragments, if rows are of one stream.
    """
    rows = rows if isinstance(rows, arrow().Table) else arrow().Table.from_batches(list(rows))
    if on_error == "stop":
        _stop_at_refused(rows)
    streams = summaries(rows)

    def write(state: State) -> Batch:
        known = {name: _evolved(state, name, more).structure for name, more in streams.items()}
        known = {name: text or _known(state, name) for name, text in known.items()}
        seen = insides if len(streams) == 1 else None
        return Batch(*write_rows(Log(path).path, rows, state.number, known, seen), streams)

    return commit(path, write, writer=writer, epoch=epoch, offset=offset)


def commit(
    path: str | os.PathLike[str],
    write: Callable[[State], Batch],
    *,
    writer: str,
    epoch: int,
    offset: Any = None,
) -> Written:
    """Write files under the next number and make them count; again if another was first."""
    log = Log(path)
    if log.delta:
        delta.needed()
    while True:
        state = log.state()
        if state.has(writer, epoch):
            update_delta(log)
            return Written(again=True)
        made = write(state)
        streams = {name: _evolved(state, name, more) for name, more in made.streams.items()}
        entry = LogEntry(writer, epoch, tuple(made.files), tuple(made.refused), streams, offset)
        if log.commit(state.number, entry):
            update_delta(log)
            return Written(_rows(made.files), _rows(made.refused))


def update_delta(log: Log) -> None:
    """Update Delta's log, if the table is a Delta table too."""
    if log.delta:
        delta.publish(log)


def _rows(files: Iterable[File]) -> int:
    return sum(file.rows for file in files)


def _evolved(state: State, name: str, more: Stream) -> Stream:
    """A stream's news, with its structure as it is after what was known."""
    known = _known(state, name)
    if more.structure is None or known is None:
        return more
    return replace(more, structure=structure_after(known, more.structure))


def _known(state: State, name: str) -> str | None:
    return state.streams.get(name, Stream()).structure


def structure_after(known: str, new: str) -> str:
    """Two structures of a stream in one; one that contradicts was refused where it came from."""
    if known == new:
        return known
    try:
        both = merged(read_structure(known.encode()), read_structure(new.encode()))
    except Error as refused:
        raise refused.located(DataPlace("table")) from None
    return write_structure(both, None).decode()


def summaries(rows: Any) -> dict[str, Stream]:
    """By stream: the rows that are not fragments."""
    pc = arrow().compute
    found: dict[str, Stream] = {}
    for name in rows["stream"].unique().to_pylist():
        part = rows.filter(pc.equal(rows["stream"], name))
        found[name] = _summary(part)
    return found


def _summary(rows: Any) -> Stream:
    pa = arrow()
    pc, words = pa.compute, rows["operation"]
    timed = rows.filter(pc.is_in(words, value_set=pa.array([*WORDS, HEARTBEAT])))
    counted = pc.is_in(words, value_set=pa.array([*WORDS, REFUSED]))
    structure: str | None = None
    structures = rows.filter(pc.equal(words, STRUCTURE)).sort_by("ordinal")
    for one in structures["payload"].to_pylist():
        structure = one.decode() if structure is None else structure_after(structure, one.decode())
    newest, zoned = START, False
    if timed.num_rows:
        clock = pc.coalesce(timed["clock"], timed["valid"])
        newest = pc.max(clock).as_py()
        at_newest = timed.filter(pc.equal(clock, newest)).sort_by("ordinal")
        zoned = bool(at_newest["zoned"][-1].as_py())
    ended = pc.any(pc.equal(words, EOS)).as_py()
    return Stream(structure, newest, zoned, pc.sum(counted).as_py() or 0, 0, bool(ended))


def _stop_at_refused(rows: Any) -> None:
    pc = arrow().compute
    refused = rows.filter(pc.equal(rows["operation"], REFUSED)).sort_by("ordinal")
    if refused.num_rows:
        raise stopped(refused.slice(0, 1).to_pylist()[0])


def stopped(row: dict[str, Any]) -> Error:
    """The error of a refused row."""
    return error(
        row["code"], row["reason"], at=DataPlace(row["stream"], row["id"], row["position"])
    )
