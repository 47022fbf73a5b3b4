"""Many small files of a table to few large ones: the same rows, in one commit.

Until the commit nothing has changed; after it, no state contains the old files. They are deleted
by the next compaction, or at once where no reader can still need them.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Final

from xstreamcast.edges.disk import take_away
from xstreamcast.edges.table import delta
from xstreamcast.edges.table.files import read_files, write_file
from xstreamcast.edges.table.insides import FOLDER, keep_inside, kept_inside, together
from xstreamcast.edges.table.log import REFUSED, File, Log, LogEntry, State
from xstreamcast.edges.table.pruning import carried_over
from xstreamcast.edges.table.schema import FRAGMENT, QUARANTINED
from xstreamcast.edges.table.values.definitions import defined
from xstreamcast.edges.table.values.kept import keep_values, stale_values
from xstreamcast.edges.table.writing import update_delta
from xstreamcast.model.frozen import dataclass

_LARGE: Final = 128 << 20  # a file of so many bytes is left as it is
_STALE: Final = 3600.0  # seconds after which a file that is in no commit is taken for abandoned


@dataclass(frozen=True, slots=True)
class Compacted:
    """Files before and after, and bytes that were freed."""

    before: int
    after: int
    deleted: int


Said = Callable[[int, int], None]  # how many of how many files are read


def compact(
    path: str | os.PathLike[str], *, clean: bool = False, report: Said | None = None
) -> Compacted:
    """Rewrite small files; the answers stay. `clean`: delete at once what no longer counts."""
    log = Log(path)
    if log.delta:
        delta.needed()
    while True:
        state = log.needed()
        files = _rewritten(log.path, state.files, state.number, FRAGMENT, report)
        refused = _rewritten(log.path, state.refused, state.number, QUARANTINED, None)
        if files == state.files and refused == state.refused:
            break
        _retire(log.path, state, {*files, *refused})
        entry = LogEntry(
            "compact", state.number, files, refused, state.streams, None, True, state.writers
        )
        if log.commit(state.number, entry):
            for stream in state.streams:  # the fragments are the same
                carried_over(log.path, state.number, state.number + 1, stream)
            update_delta(log)
            break
        _delete(log.path, [*files, *refused], keep=state)
    now = log.state()
    deleted = _clean(log, now, 0.0 if clean else _STALE)
    return Compacted(len(state.files), len(now.files), deleted)


def _rewritten(
    table: Path,
    files: tuple[File, ...],
    number: int,
    columns: tuple[str, ...],
    report: Said | None,
) -> tuple[File, ...]:
    """One file in place of the small ones of each folder, where there are several."""
    found: list[File] = []
    paths = defined(table)
    done = 0
    for folder, group in groupby(sorted(files, key=_folder), key=_folder):
        there = list(group)
        small = [file for file in there if file.nbytes < _LARGE]
        found += [file for file in there if file.nbytes >= _LARGE]
        if len(small) < 2:
            found += small
            continue
        for some in _bins(small):
            rows = read_files(table, some, columns)
            # in order of arrival: what was cut from a document is in its order there, and what
            # came after an instant can be left out by the statistics of valid times
            made = write_file(table, folder, rows, number, columns)
            if columns == FRAGMENT:
                keep_values(table, made, rows, paths)
            found.append(replace(made, inside=_inside(table, some)))
            done += len(some)
            if report is not None:
                report(done, len(files))
    return tuple(found) if len(found) < len(files) else files


def _inside(table: Path, files: list[File]) -> str | None:
    """What the fragments of several files contain."""
    names = {file.inside for file in files}
    if len(names) == 1:
        return next(iter(names))
    known = [None if name is None else kept_inside(table, name) for name in names]
    inside = together(known)
    return None if inside is None else keep_inside(table, inside)


def _retire(table: Path, state: State, kept: set[File]) -> None:
    """From now on readers may miss what is replaced: it is deleted when that is long ago."""
    for file in (*state.files, *state.refused):
        if file not in kept:
            with suppress(FileNotFoundError):
                os.utime(table / file.path)


def _bins(files: list[File]) -> Iterator[list[File]]:
    """Files that are put together: as many as make a large one."""
    held: list[File] = []
    for file in files:
        held.append(file)
        if sum(one.nbytes for one in held) >= _LARGE:
            yield held
            held = []
    if held:
        yield held


def _folder(file: File) -> str:
    return file.path.rpartition("/")[0]


def _delete(table: Path, files: list[File], keep: State) -> None:
    kept = {file.path for file in (*keep.files, *keep.refused)}
    for file in files:
        if file.path not in kept:
            take_away(table / file.path)


def _clean(log: Log, state: State, age: float) -> int:
    """Delete files that do not count and are old: of earlier compactings, and of killed writers."""
    counted = {file.path for file in (*state.files, *state.refused)}
    before, deleted = time.time() - age, 0
    for top in [*log.path.glob("stream=*"), log.path / REFUSED]:
        for path in top.rglob("*.parquet"):
            name = path.relative_to(log.path).as_posix()
            if name not in counted and path.stat().st_mtime <= before:
                take_away(path)
                deleted += 1
    _clean_guides(log, state, before)
    for path in stale_values(log.path, state.files):
        if path.stat().st_mtime <= before:
            take_away(path)
    for left in (log.path / "_staging").glob("*"):
        if left.stat().st_mtime <= before:
            shutil.rmtree(left, ignore_errors=True)
    return deleted


def _clean_guides(log: Log, state: State, before: float) -> None:
    """Delete guides of states that have not been read for long."""
    there = log.path / FOLDER
    for path in [*there.glob("guide-*.json"), *there.glob("units-*"), *there.glob("rows-*")]:
        if int(path.stem[-10:]) >= state.number or path.stat().st_mtime > before:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            take_away(path)
