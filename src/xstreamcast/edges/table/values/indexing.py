"""Values of paths extracted from the files that a table has: what the command `index` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.table.files import opened
from xstreamcast.edges.table.log import Log
from xstreamcast.edges.table.pruning import guide_of
from xstreamcast.edges.table.reading import stream_of, structure_in
from xstreamcast.edges.table.values.definitions import (
    ValuePath,
    define,
    defined,
    drop,
    paths_of,
)
from xstreamcast.edges.table.values.kept import KeptValues, keep_values
from xstreamcast.errors import error
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    import os

    from xstreamcast.algebra.analysis.guide import Guide
    from xstreamcast.edges.table.log import File


@dataclass(frozen=True, slots=True)
class IndexedPath:
    """A path whose values a table keeps: of how many of the files that have its fragments."""

    path: ValuePath
    kept: int
    files: int
    rows: int


Said = Callable[[int, int], None]  # how many of how many files are read


def index(
    table: str | os.PathLike[str], words: Sequence[str], *, stream: str | None = None,
    report: Said | None = None,
) -> list[IndexedPath]:  # fmt: skip
    """Keep the values of paths, from now on and of all files that do not have them."""
    log = Log(table)
    define(log.path, named_paths(log, words, stream))
    state, kept, paths = log.needed(), KeptValues(log.path), defined(log.path)
    files = [(file, _missing(kept, file, paths)) for file in state.files]
    todo = [(file, missing) for file, missing in files if missing]
    for done, (file, missing) in enumerate(todo, start=1):
        _extract(log.path, file, missing)
        if report is not None:
            report(done, len(todo))
    return indexed(log)


def _extract(table: Path, file: File, paths: Sequence[ValuePath]) -> None:
    keep_values(table, file, opened(table, file).read(["payload"]), paths)


class FileValues:
    """What tasks of a writer do: numbers of its files in, the values of these files kept."""

    def __init__(self, table: Path, files: Sequence[File]) -> None:
        self.table, self.paths = table, defined(table)
        wanted = {(path.stream, path.tag) for path in self.paths}
        self.files = [file for file in files if (file.stream, file.tag) in wanted]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                _extract(self.table, self.files[number], self.paths)
            yield batch


def _missing(kept: KeptValues, file: File, paths: Sequence[ValuePath]) -> list[ValuePath]:
    mine = [one for one in paths if (one.stream, one.tag) == (file.stream, file.tag)]
    return [one for one in mine if kept.of(file, one) is None]


def drop_paths(
    table: str | os.PathLike[str], words: Sequence[str], *, stream: str | None = None
) -> list[IndexedPath]:
    """Keep the values of paths no longer; without paths: of none."""
    log = Log(table)
    log.needed()
    drop(log.path, named_paths(log, words, stream) if words else defined(log.path))
    return indexed(log)


def indexed(log: Log) -> list[IndexedPath]:
    """The paths whose values a table keeps."""
    state, kept = log.needed(), KeptValues(log.path)
    found = []
    for path in defined(log.path):
        mine = [f for f in state.files if (f.stream, f.tag) == (path.stream, path.tag)]
        has = [file for file in mine if kept.of(file, path) is not None]
        found.append(IndexedPath(path, len(has), len(mine), sum(file.rows for file in has)))
    return found


def named_paths(log: Log, words: Sequence[str], stream: str | None) -> list[ValuePath]:
    """The paths that words mean, in fragments of the stream."""
    state = log.needed()
    if not words:
        return []
    which = stream_of(state, stream, str(log.path))
    structure = structure_in(state.streams[which], which)
    found = [path for word in words for path in paths_of(word, which, structure)]
    kept = guide_of(log.path, state, which, structure)
    for path in found if kept is not None else ():
        assert kept is not None
        _refuse_outside(path, kept.guide)
    return found


def _refuse_outside(path: ValuePath, guide: Guide) -> None:
    """A value must be in the fragment of its element."""
    below = guide.below(link.child for link in guide.links.get(path.tag, ())) - {path.tag}
    other = next((guide.name[t][1] for t in below if guide.name[t][1] in path.steps), None)
    if other is not None:
        raise error(
            "XSCU0005", f"{path.text} leads to fragments of their own: {other}",
            hint=f"keep values in these: //{other}/…",
        )  # fmt: skip
