"""A fragment table given to tasks: ranges of its units, each with all fragments below them.

The driver reads the root fragment alone. Which fragments stand below which unit, joins from holes
to fillers tell Spark; a task is told files and rows, and reads the payloads itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra.cut import TagCut
from xstreamcast.edges.joining import taken_in
from xstreamcast.edges.table.files import read_files
from xstreamcast.edges.table.reading import structure_in
from xstreamcast.edges.table.schema import FRAGMENT, arrow, file_schema
from xstreamcast.edges.table.wire import wire
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.edges.wire.encoder import fragment_line
from xstreamcast.history.history import History
from xstreamcast.model.instant import show_instant
from xstreamcast.operators.document_feed import Forbidden
from xstreamcast.operators.history_part import Places
from xstreamcast.operators.root import root_of
from xstreamcast.spark.running_task import AGAIN, Question, answered, failing, rows
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.guide import Guide
    from xstreamcast.edges.table.log import File, State
    from xstreamcast.model.structure import TagStructure


@dataclass(frozen=True, slots=True)
class Table:
    """A stream of a table as it stands after a commit."""

    path: Path
    stream: str
    state: State
    structure: TagStructure

    @staticmethod
    def of(path: Path, stream: str, state: State) -> Table:
        return Table(path.absolute(), stream, state, structure_in(state.streams[stream], stream))


@dataclass(frozen=True, slots=True)
class Roots:
    """The root for each range of units: the line that has only their holes; ids with ranges."""

    lines: list[bytes]
    ids: list[str]
    ranges: np.ndarray[Any, Any]

    def __len__(self) -> int:
        return len(self.lines)


def roots(table: Table, until: int | None, count: int) -> Roots | None:
    """The root as of an instant, once for each of at most `count` ranges of its units.

    None where there is no root; Forbidden where it cannot be cut.
    """
    history = _history(table, frozenset({table.structure.root}), until)
    if len(history) == 0:
        return None
    links = Places(history)
    links.catch_up()
    root = root_of(history, links, TagCut(history.structure))
    if root is None or not root.keys:
        return None
    (code,) = root.codes
    f, h = history.fragments, history.holes
    place = max(links.of(code), key=lambda place: (int(f["valid"][place]), place))
    if f["payload"][place] < 0:
        raise Forbidden("the root was removed")
    first = int(f["holes"][place - 1]) if place else 0
    hole_rows = h["row"][first : int(f["holes"][place])]
    c = history.store.tape(int(f["tape"][place])).columns
    begin = int(c.start[f["payload"][place]])
    payload = bytes(c.heap[begin : begin + int(c.length[f["payload"][place]])])
    starts = c.start[hole_rows].astype(np.int64) - begin
    ends = starts + c.length[hole_rows]
    count = max(1, min(count, len(root.keys)))
    edges = np.linspace(0, len(root.keys), count + 1).round().astype(np.int64)
    assert history.ids is not None
    ids = [history.ids.text(unit) for _, unit in root.keys]
    valid = show_instant(int(f["valid"][place]), bool(f["flags"][place] & 1))
    lines = [
        fragment_line(
            history.ids.text(code), table.structure.root,
            _trimmed(payload, starts, ends, int(low), int(high)), valid,
        )
        for low, high in itertools.pairwise(edges)
    ]  # fmt: skip
    ranges = np.repeat(np.arange(count), np.diff(edges))
    return Roots(lines, ids, ranges)


def _trimmed(payload: bytes, starts: Any, ends: Any, low: int, high: int) -> bytes:
    """The payload without the holes that are outside a range."""
    kept = [payload[: int(starts[0])]]
    gaps = [(int(a), int(b)) for a, b in zip(ends[:-1], starts[1:], strict=True)]
    kept += [payload[a:b] for a, b in gaps[:low] if b > a]
    if high > low:
        kept.append(payload[int(starts[low]) : int(ends[high - 1])])
    kept += [payload[a:b] for a, b in gaps[max(high - 1, 0) :] if b > a]
    kept.append(payload[int(ends[-1]) :])
    return b"".join(kept)


def _history(table: Table, tags: frozenset[int], until: int | None) -> History:
    """The fragments of some tags, up to an instant, in a history of their own."""
    found = read_files(table.path, table.state.files_of(table.stream, tags))
    if until is not None:
        pc = arrow().compute
        found = found.filter(pc.less_equal(found["valid"], until))
    return _taken(table.stream, table.structure, wire(found))


def _taken(name: str, structure: TagStructure, pieces: Iterable[bytes]) -> History:
    store = Store()
    decoder = Decoder(name, structure, names=store.names)
    history = History(name, structure, store=store, ids=decoder.ids)
    for lines in pieces:
        taken_in(history, decoder.feed(lines), decoder, store, [])
    taken_in(history, decoder.close(), decoder, store, [])
    return history


class UnitsTask:
    """The query asked of the units of a range."""

    def __init__(
        self, question: Question, table: Table, guide: Guide | None, depth: int,
        known: Sequence[Any] | None = None,
    ) -> None:  # fmt: skip
        self.question, self.guide, self.depth = question, guide, depth
        self.known = known  # the rows of each range, where the driver has followed the links
        self.path, self.stream, self.structure = table.path, table.stream, table.structure
        stream = table.state.streams[table.stream]
        self.newest = stream.newest, stream.zoned
        files = table.state.files_of(table.stream)
        self.files = {(file.tag, Path(file.path).name): file for file in files}

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        if self.known is not None:
            for place in (one for batch in batches for one in batch.column(0).to_pylist()):
                mine = self.known[place]
                yield from failing(lambda mine=mine, place=place: self._range(mine, place))  # type: ignore[misc]
            return
        told = arrow().Table.from_batches(list(batches))
        pc = arrow().compute
        for place in sorted(told["range"].unique().to_pylist()):
            mine = told.filter(pc.equal(told["range"], place))
            yield from failing(lambda mine=mine, place=place: self._range(mine, place))  # type: ignore[misc]

    def _range(self, told: Any, place: int) -> Iterator[Any]:
        pc = arrow().compute
        line = told.filter(pc.is_valid(told["root"]))["root"].to_pylist()[0]
        told = told.filter(pc.is_null(told["root"]))
        found = read_rows(self.path, self.files, told.drop_columns(["root"]))
        if self._is_cut_off(found):
            yield rows(AGAIN, place)
            return
        question = self.question
        history = _taken(question.name, self.structure, _lines(line, found))
        history.newest, history.zoned = self.newest
        if self.guide is not None:
            history._guide = (len(history), history.structure), self.guide
        yield from answered(question, place, history)

    def _is_cut_off(self, found: Any) -> bool:
        """Whether fragments of the last level that was followed have holes themselves."""
        pc = arrow().compute
        last = found.filter(pc.equal(found["level"], self.depth - 1))
        return bool(pc.any(pc.greater(pc.list_value_length(last["holes"]), 0)).as_py())


def _lines(root: bytes, found: Any) -> Iterator[bytes]:
    yield root
    yield from wire(found)


def read_rows(table: Path, files: Mapping[tuple[int, str], File], told: Any) -> Any:
    """Some rows of the files of a table, in order of arrival, each once, with its level."""
    pa = arrow()
    parts = []
    for key in told.select(["tag", "file"]).group_by(["tag", "file"]).aggregate([]).to_pylist():
        mask = pa.compute.and_(
            pa.compute.equal(told["tag"], key["tag"]), pa.compute.equal(told["file"], key["file"])
        )
        mine = told.filter(mask).group_by("row").aggregate([("level", "max")]).sort_by("row")
        parts.append(_read(table / files[key["tag"], key["file"]].path, key["tag"], mine))
    if not parts:
        return _empty()
    return pa.concat_tables(parts).sort_by([("batch", "ascending"), ("ordinal", "ascending")])


def _empty() -> Any:
    pa = arrow()
    schema = file_schema(FRAGMENT).append(pa.field("tag", pa.int32()))
    return schema.append(pa.field("level", pa.int32())).empty_table()


def _read(path: Path, tag: int, wanted: Any) -> Any:
    """The rows of one file: of its row groups only those that have any."""
    pa = arrow()
    file = pa.parquet.ParquetFile(path)
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    ends = np.cumsum(sizes)
    at = wanted["row"].to_numpy()
    groups = np.unique(np.searchsorted(ends, at, side="right"))
    begins = ends - sizes
    first = np.concatenate(([0], np.cumsum(np.array(sizes)[groups])[:-1]))
    which = np.searchsorted(groups, np.searchsorted(ends, at, side="right"))
    found = file.read_row_groups(groups.tolist(), columns=list(FRAGMENT))
    found = found.take(pa.array(at - begins[groups][which] + first[which]))
    found = found.cast(file_schema(FRAGMENT))
    n = found.num_rows
    found = found.append_column("tag", pa.array(np.full(n, tag, np.int32)))
    return found.append_column("level", wanted["level_max"].cast(pa.int32()))
