"""The units of a stream and their rows, computed once for a state of its table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from xstreamcast.algebra.analysis.cut import TagCut
from xstreamcast.edges.joining import taken_in
from xstreamcast.edges.table.codes import coded
from xstreamcast.edges.table.files import opened, read_files
from xstreamcast.edges.table.rows import id_texts
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.table.unit_index import (
    Held,
    RootHead,
    UnitIndex,
    index_paths,
    keep,
    kept_index,
    rows_bytes,
    units_bytes,
)
from xstreamcast.edges.table.wire import wire
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.history.history import History
from xstreamcast.history.view import written
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.column import offsets_of, ranges
from xstreamcast.model.fragment import ZONED
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import NOW
from xstreamcast.operators.feeds.document import Forbidden
from xstreamcast.operators.units.history_part import FragmentPlaces, history_part
from xstreamcast.operators.units.root import check_spine, latest_place
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.edges.table.log import File, State
    from xstreamcast.model.structure import TagStructure

# Finds the rows below units outside of this process, and stores them.
Follow: TypeAlias = "Callable[[Sequence[File], Any, Path], tuple[Held, ...]]"


@dataclass(frozen=True, slots=True)
class RootUnits:
    """The root, and its holes in order: ids, the tags they name, their positions."""

    head: RootHead
    ids: Any
    labels: Any
    at: Any


def unit_index(
    table: Path, state: State, stream: str, structure: TagStructure, until: int | None,
    follow: Follow | None = None,
) -> UnitIndex | None:  # fmt: skip
    """The index of a stream, for the root as of an instant: kept, or made and then kept.

    None where there is no root; Forbidden where it cannot be cut into units.
    """
    files = state.files_of(stream)
    above = state.files_of(stream, frozenset({structure.root}))
    top = _top(table, above, until)
    if top is None:
        return None
    units, rows = index_paths(table, stream, state.number, top)
    known = kept_index(units, rows, files)
    if known is not None:
        return known
    found = root_units(table, above, stream, structure, top)
    if found is None:
        return None
    if follow is None:
        below: tuple[Held, ...] = (keep(rows, rows_bytes(rows_below(table, files, found.ids))),)
    else:
        below = follow(files, found.ids, rows)
    valid_times = units_bytes(found.head, files, found.ids, found.labels, found.at)
    return UnitIndex(keep(units, valid_times), below, tuple(files))


def _top(table: Path, files: Sequence[File], until: int | None) -> int | None:
    """The latest valid time of fragments that may be the root; which one it is follows from it."""
    valid = [opened(table, file).read(columns=["valid"])["valid"].to_numpy() for file in files]
    valid_times = np.concatenate([np.zeros(0, np.int64), *valid])
    valid_times = valid_times if until is None else valid_times[valid_times <= until]
    return int(valid_times.max()) if len(valid_times) else None


# -- the root --------------------------------------------------------------------------------------


def root_units(
    table: Path, files: list[File], stream: str, structure: TagStructure, until: int
) -> RootUnits | None:
    """The root as of an instant; None where there is none, or it has no units."""
    history = _history(table, files, stream, structure, until)
    links = FragmentPlaces(history)
    links.catch_up()
    codes = history.roots(until).tolist()
    if len(codes) > 1:
        raise Forbidden("the stream has several roots")
    if not codes:
        return None
    made = written(history_part(history, links, codes, below=False), until, document=False)
    if len(made.instances.place) == 0:
        return None
    check_spine(made.tape, history, TagCut(history.structure))
    return _taken_apart(history, latest_place(history, links, codes[0], until), codes[0])


def _taken_apart(history: History, place: int, code: int) -> RootUnits | None:
    f, h = history.fragments, history.holes
    if f["payload"][place] < 0:
        raise Forbidden("the root was removed")
    first, last = int(f["holes"][place - 1]) if place else 0, int(f["holes"][place])
    if first == last:
        return None
    c = history.store.tape(int(f["tape"][place])).columns
    row = int(f["payload"][place])
    begin, length = int(c.start[row]), int(c.length[row])
    starts = c.start[h["row"][first:last]].astype(np.int64) - begin
    lengths = c.length[h["row"][first:last]].astype(np.int64)
    around = np.zeros(length + 1, np.int64)
    np.add.at(around, starts, 1)
    np.add.at(around, starts + lengths, -1)
    bare = bytes(c.heap[begin : begin + length][np.cumsum(around[:-1]) == 0])
    at = starts - (np.cumsum(lengths) - lengths)
    assert history.ids is not None
    head = RootHead(
        history.ids.text(code), int(f["valid"][place]), bool(f["flags"][place] & ZONED), bare
    )
    ids = id_texts(history.ids).take(arrow().array(h["id"][first:last]))
    return RootUnits(head, ids, h["tsid"][first:last], at)


def _history(
    table: Path, files: list[File], stream: str, structure: TagStructure, until: int
) -> History:
    """The fragments of some files, up to an instant, in a history of their own."""
    rows = read_files(table, files)
    rows = rows.filter(arrow().compute.less_equal(rows["valid"], until))
    store = Store()
    decoder = Decoder(stream, structure, names=store.names)
    history = History(stream, structure, store=store, ids=decoder.ids)
    for lines in wire(rows):
        taken_in(history, decoder.feed(lines), decoder, store, [])
    taken_in(history, decoder.close(), decoder, store, [])
    return history


# -- rows below units -----------------------------------------------------------------------------


def rows_below(table: Path, files: Sequence[File], units: Any) -> Sequence[Any]:
    """Files, rows and units of all that can be reached from units; valid times; which are last."""
    read = [opened(table, file).read(columns=["id", "holes", "valid"]) for file in files]
    holes = [chunk for one in read for chunk in one["holes"].chunks]
    ids = Ids(1 << 14)
    own = coded(ids, (chunk for one in read for chunk in one["id"].chunks))
    children = coded(ids, (chunk.flatten().field("id") for chunk in holes))
    tops = coded(ids, [units.cast(arrow().string())])
    counts = [chunk.value_lengths().fill_null(0).to_numpy() for chunk in holes]
    parents = np.repeat(own, np.concatenate([np.zeros(0, np.int64), *counts]).astype(np.int64))
    code, unit = _reached(tops, parents, children, len(ids))
    first = offsets_of(np.bincount(code, minlength=len(ids)))
    many = first[own + 1] - first[own]
    at = np.repeat(np.arange(len(own)), many)
    begins = offsets_of(np.array([one.num_rows for one in read], np.int64))
    file = np.searchsorted(begins, at, side="right") - 1
    valid = np.concatenate([np.zeros(0, np.int64), *(one["valid"].to_numpy() for one in read)])
    top = np.full(len(ids), NOW if len(own) == 0 else np.iinfo(np.int64).min, np.int64)
    np.maximum.at(top, own, valid)
    last = valid == top[own]
    return file, at - begins[file], unit[ranges(first[own], many)], valid[at], last[at]


def _reached(tops: Any, parents: Any, children: Any, codes: int) -> tuple[Any, Any]:
    """Pairs of an id and a unit that it is below, or is, by id and then by unit."""
    order = np.argsort(parents, kind="stable")
    first, inner = offsets_of(np.bincount(parents, minlength=codes)), children[order]
    wide = max(len(tops), 1)
    met = np.zeros(0, np.int64)
    fresh = np.unique(tops * wide + np.arange(len(tops)))
    while len(fresh):
        met = np.sort(np.concatenate((met, fresh)))
        code, unit = np.divmod(fresh, wide)
        many = first[code + 1] - first[code]
        below = inner[ranges(first[code], many)] * wide + np.repeat(unit, many)
        below = np.unique(below)
        at = np.minimum(np.searchsorted(met, below), len(met) - 1)
        fresh = below[met[at] != below]
    return np.divmod(met, wide)
