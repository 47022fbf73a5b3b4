"""What the places of a query that is spread say to each other."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark import cloudpickle

from xstreamcast.edges.table.schema import arrow
from xstreamcast.spark.watching.packing import read_schema, rows_in

if TYPE_CHECKING:
    from xstreamcast.evaluate.moments import Moment
    from xstreamcast.model.change import Change
    from xstreamcast.model.fragment import Refused
    from xstreamcast.operators.relational.staged import Exchanged

Part: TypeAlias = tuple[Any, ...]  # ("described", stream, structure, now), ("ended", stream), …


class Arrived:
    """What arrived in a batch: packs, each of a stream; as a table, and as bytes to keep."""

    def __init__(self, packs: Sequence[tuple[str, bytes]]) -> None:
        self.packs = list(packs)

    @cached_property
    def table(self) -> Any:
        tables = [rows_in(*pack) for pack in self.packs]
        return arrow().concat_tables([read_schema().empty_table(), *tables])

    @cached_property
    def blob(self) -> bytes:
        return pickle.dumps(self.packs)

    @staticmethod
    def of(blob: bytes) -> Arrived:
        return Arrived(pickle.loads(blob))


@dataclass(frozen=True, slots=True)
class Sent:
    """To a bucket: what arrived for it, and where the whole stream is by now."""

    turn: int
    now: Moment
    newest: Mapping[str, tuple[int, bool]]  # of the streams that are partitioned
    parts: tuple[Part, ...] = ()
    refused: tuple[Refused, ...] = ()
    beside: Mapping[str, int] = field(default_factory=dict)  # what else there is to say at the end


@dataclass(frozen=True, slots=True)
class Whole:
    """To the first bucket: all that arrived and that it has not got; `anew`: it was spread."""

    turn: int
    tables: tuple[tuple[bytes, int | None], ...]
    anew: bool = False


Given: TypeAlias = Sent | Whole


@dataclass(frozen=True, slots=True)
class Back:
    """From a bucket: what its units became, None if an error broke it off; or changes."""

    turn: int
    bucket: int
    now: Moment
    found: Exchanged | None = None
    parts: tuple[Part, ...] = ()  # what was said of structures and ends
    refused: tuple[Refused, ...] = ()
    said: tuple[Mapping[str, int], ...] = ()  # at the end, to be added up
    changes: tuple[Change, ...] | None = None  # of a query that is in one place
    anew: bool = False
    ended: bool = False


def packed(message: Any) -> bytes:
    """A message as bytes; functions of users go along by value."""
    raw = cloudpickle.dumps(message)  # type: ignore[no-untyped-call]
    return bytes(len(raw).to_bytes(8, "big") + arrow().compress(raw, "zstd", asbytes=True))


def unpacked(raw: bytes) -> Any:
    """The message."""
    size = int.from_bytes(raw[:8], "big")
    return pickle.loads(arrow().decompress(raw[8:], size, "zstd", asbytes=True))
