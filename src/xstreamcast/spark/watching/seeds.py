"""State that was moved to another number of partitions: a file for each place that begins with it.

    DIR/moved/facts     from where sources are read, and which batch Spark's first one is
    DIR/moved/seeds/…   a snapshot each, and the batches that a router may read again
    DIR/moved.next      the same, complete, of a move that was not finished

A store to which nothing was written yet begins with the file of its place, and a place reads it
until it has a snapshot of its own.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from xstreamcast.edges.disk import sync_folder
from xstreamcast.edges.partitions.messages import framed, unframed
from xstreamcast.spark.watching.checkpoint import (
    PARTITIONS,
    damaged,
    partitions_before,
    write_partitions,
    write_whole,
)
from xstreamcast.spark.watching.ending import SPARK

SEEDED: Final = "moved"  # the token of a state that was moved
MOVED: Final = "moved"
_NEXT, _PART = f"{MOVED}.next", f"{MOVED}.part"
_FACTS, _SEEDS = "facts", "seeds"


class Seed(NamedTuple):
    """What a place begins with: a compressed snapshot, and the batches that came before it."""

    snapshot: bytes
    batches: Sequence[tuple[bytes, int | None]] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """Where a checkpoint continues since its state was moved.

    `base`: the number of the first batch that Spark counts from 0; `since`: offsets of sources.
    """

    base: int = 0
    since: Mapping[str, str] = field(default_factory=dict)


def moved_of(folder: Path) -> Moved:
    """Of a checkpoint that was never moved: from the beginning."""
    path = folder / MOVED / _FACTS
    if not path.exists():
        return Moved()
    try:
        facts = json.loads(path.read_text("utf-8"))
        return Moved(facts["base"], facts["since"])
    except (ValueError, KeyError, TypeError):
        raise damaged(path) from None


def seeds_of(folder: Path) -> Path | None:
    """The folder of state that was moved, if any was."""
    found = folder / MOVED / _SEEDS
    return found if found.exists() else None


def seed_of(seeds: Path | None, stage: str, key: Sequence[Any]) -> Seed | None:
    """What a place begins with."""
    return None if seeds is None else _read(seeds / _name(stage, key))


@lru_cache(maxsize=4)  # a router reads its batches one by one
def _read(path: Path) -> Seed | None:
    if not path.exists():
        return None
    clocks, snapshot, *batches = unframed(path.read_bytes())
    return Seed(snapshot, list(zip(batches, json.loads(clocks), strict=True)))


def _name(stage: str, key: Sequence[Any]) -> str:
    return quote(" ".join([stage, *map(str, key)]), safe=" ")


def write_moved(
    folder: Path, moved: Moved, partitions: int, seeds: Mapping[tuple[str, tuple[Any, ...]], Seed]
) -> None:
    """Write all that a move needs; it counts when this returns, and `finish_move` finishes it."""
    part = folder / _PART
    shutil.rmtree(part, ignore_errors=True)
    (part / _SEEDS).mkdir(parents=True)
    for (stage, key), seed in seeds.items():
        clocks = json.dumps([now for _, now in seed.batches]).encode()
        raw = framed([clocks, seed.snapshot, *(batch for batch, _ in seed.batches)])
        _write(part / _SEEDS / _name(stage, key), raw)
    sync_folder(part / _SEEDS)
    facts = {"base": moved.base, "since": dict(moved.since), PARTITIONS: partitions}
    write_whole(part / _FACTS, json.dumps(facts))
    part.replace(folder / _NEXT)
    sync_folder(folder)


def _write(path: Path, raw: bytes) -> None:
    with open(path, "wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(file.fileno())


def finish_move(folder: Path) -> None:
    """Let a checkpoint continue from what was moved, if a move was begun; any part may be done."""
    path = folder / _NEXT / _FACTS
    if not path.exists():
        return
    try:
        partitions = int(json.loads(path.read_text("utf-8"))[PARTITIONS])
    except (ValueError, KeyError, TypeError):
        raise damaged(path) from None
    if partitions_before(folder) != partitions:
        write_partitions(folder, partitions)
    shutil.rmtree(folder / SPARK, ignore_errors=True)
    shutil.rmtree(folder / MOVED, ignore_errors=True)
    (folder / _NEXT).replace(folder / MOVED)
    sync_folder(folder)
    _read.cache_clear()
