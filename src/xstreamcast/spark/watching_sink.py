"""Where changes go: each batch once, however often it is tried, and what is said beside them."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from xstreamcast.edges.watching.journal import cut_sink, sink_position
from xstreamcast.model.change import Change
from xstreamcast.model.instant import NOW
from xstreamcast.spark.watching_state import FAILED, REFUSED, SAID

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from xstreamcast.errors import Error
    from xstreamcast.model.fragment import Refused

Named = tuple[str, Change]  # a query, and a change of its answer
Write = Callable[[int, list[Named]], None]


@dataclass(slots=True)
class Told:
    """What came of batches, beside the changes that were written."""

    changes: int = 0
    batches: int = 0
    refused: list[Refused] = field(default_factory=list)
    failed: list[Error] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)


def once_each(write: Write, told: Told) -> Callable[[DataFrame, int], None]:
    """For foreachBatch: hand the changes of a batch on, in order."""

    def take(batch: DataFrame, epoch: int) -> None:
        # computed in any case: state that a batch does not compute is not there for the next one
        rows = batch.toArrow().sort_by([("query", "ascending"), ("nth", "ascending")]).to_pylist()
        refused = [pickle.loads(_beside(row)) for row in rows if row["key"] == REFUSED and _is(row)]
        for row in rows:
            if _is(row) and row["key"] == FAILED:
                told.failed.append(pickle.loads(_beside(row)))
                raise told.failed[-1]
            if _is(row) and row["key"] == SAID:
                told.said[row["query"]] = pickle.loads(_beside(row))
        changes = [_change(row) for row in rows if not _is(row)]
        write(epoch, changes)
        told.refused += refused
        told.changes += len(changes)
        told.batches += 1

    return take


def _is(row: dict[str, Any]) -> bool:
    """Whether a row is no change."""
    return bool(row["diff"] == 0)


def _beside(row: dict[str, Any]) -> bytes:
    return bytes.fromhex(row["item"])


def _change(row: dict[str, Any]) -> Named:
    instant = NOW if row["time"] is None else row["time"]
    return row["query"], Change(instant, row["diff"], row["key"], row["after"], row["item"])


class Lines:
    """A file of lines, and beside the checkpoint how long it was after which batch.

    A batch that was written counts when its line in the journal is on disk. One that is tried
    again is written no second time; one that does not count is cut off by the next start.
    """

    def __init__(self, out: BinaryIO, journal: Path | None, line: Callable[[Named], str]) -> None:
        self._out, self._journal, self._line = out, journal, line
        self.last, position = self._reached()
        if journal is not None:
            cut_sink(out, position)

    def __call__(self, epoch: int, changes: list[Named]) -> None:
        if epoch <= self.last:
            return
        self._out.write("".join(self._line(one) + "\n" for one in changes).encode())
        self._out.flush()
        self.last = epoch
        if self._journal is not None:
            self._remember(epoch)

    def _remember(self, epoch: int) -> None:
        assert self._journal is not None
        where = sink_position(self._out)
        if where:
            os.fsync(self._out.fileno())
        part = self._journal.with_suffix(".part")
        with open(part, "w") as file:
            json.dump([epoch, where], file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._journal)

    def _reached(self) -> tuple[int, int]:
        if self._journal is None or not self._journal.exists():
            return -1, 0
        epoch, where = json.loads(self._journal.read_text())
        return int(epoch), int(where)
