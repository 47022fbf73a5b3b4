"""A stream of a table, read into a history."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from xstreamcast.edges.table.files import read_files
from xstreamcast.edges.table.log import Log, State, Stream
from xstreamcast.edges.table.schema import QUARANTINED
from xstreamcast.edges.table.wire import wire
from xstreamcast.errors import DataPlace, error

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.edges.immutable import TagPath
    from xstreamcast.edges.loading import Keep, Loaded
    from xstreamcast.edges.wire.decoder import OnError
    from xstreamcast.model.fragment import Refused
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.tape.store import Store


def stream_of(state: State, wanted: str | None, table: str) -> str:
    """The stream of a table that is meant: the one of that name, or the only one."""
    if wanted is not None and wanted in state.streams:
        return wanted
    if len(state.streams) == 1:
        return next(iter(state.streams))
    there = ", ".join(sorted(state.streams)) or "none"
    raise error(
        "XSCU0005", f"the table {table} has no stream {wanted}", hint=f"its streams: {there}"
    )


def structure_in(stream: Stream, name: str) -> TagStructure:
    """The tag structure of a stream, as it was said last."""
    from xstreamcast.edges.structures import read_structure

    if stream.structure is None:
        raise error("XSCF0010", at=DataPlace(name))
    return read_structure(stream.structure.encode(), name)


def refused(log: Log, stream: str) -> list[Refused]:
    """What was refused on the way into a table, in order of arrival."""
    from xstreamcast.model.fragment import Refused

    files = [one for one in log.state().refused if one.stream == stream]
    listed = read_files(log.path, files, QUARANTINED).to_pylist()
    return [
        Refused(stream, row["id"], row["position"] or 0, row["code"], row["reason"], row["payload"])
        for row in listed
    ]


def table_pieces(table: str, stream: str | None) -> Iterator[bytes]:
    """What arrived on a stream of a table, in order, as its wire; its structure comes first."""
    log = Log(table)
    state = log.needed()
    which = stream_of(state, stream, table)
    known = state.streams[which].structure
    yield b"" if known is None else known.encode()
    yield from wire(read_files(log.path, state.files_of(which)))


def load_table(
    name: str,
    table: str | os.PathLike[str],
    store: Store,
    *,
    stream: str | None = None,
    query: tuple[Program, str] | None = None,
    on_error: OnError = "quarantine",
    keep: Keep | None = None,
    immutable: tuple[TagPath, ...] = (),
) -> Loaded:
    """Read a stream of a table into a history whose tapes are in `store`.

    The stream is the one called `stream`, or else `name`, or else the only one. With a `query`,
    a program that has no other input and a strategy, only the fragments of the
    tags it needs are read, if that is known; `now` is that of the whole stream all the same.
    """
    from xstreamcast.edges.immutable import ImmutableArrivals
    from xstreamcast.edges.joining import taken_in
    from xstreamcast.edges.loading import Loaded
    from xstreamcast.edges.table.batches import take_rows
    from xstreamcast.edges.table.picking import read_whole
    from xstreamcast.edges.table.pruning import guide_of, keep_guide, needed_tags
    from xstreamcast.edges.table.values.choosing import sifting_of
    from xstreamcast.edges.wire.decoder import Decoder
    from xstreamcast.history.history import History

    log = Log(table)
    state = log.needed()
    which = stream_of(state, stream or name, str(table))
    known = state.streams[which]
    structure = structure_in(known, which)
    decoder = Decoder(name, structure, names=store.names, on_error=on_error)
    history = History(name, structure, store=store, ids=decoder.ids)
    refused: list[Refused] = []
    kept_of = None if query is None else guide_of(log.path, state, which, structure)
    guide = None if kept_of is None else kept_of.guide
    tags = None
    if guide is not None and query is not None:
        tags = needed_tags(query[0], name, guide, query[1])
    files = state.files_of(which, tags) or state.files_of(which)
    paths = tuple(path for path in immutable if path.stream in (None, name))
    kept = ImmutableArrivals(name, paths) if paths else None
    sifting = None
    if guide is not None and query is not None and kept is None:
        sifting = sifting_of(log.path, which, [query[0]], name, guide, query[1])
    rows = read_files(log.path, files) if sifting is None else read_whole(log.path, files, sifting)
    if kept is None:
        plain = kept_of is not None and kept_of.plain
        take_rows(history, decoder, rows, refused, plain=plain)
    else:
        for lines in wire(rows):
            said = [kept.arriving(one) for one in decoder.feed(lines)]
            taken_in(history, said, decoder, store, refused)
    taken_in(history, decoder.close(), decoder, store, refused)
    if keep is not None:
        for one in refused:
            keep(one)
    if len(files) == len(state.files_of(which)) and sifting is None:
        keep_guide(log.path, state.number, which, history)
    elif guide is not None:
        history._guide = (len(history), history.structure), guide
    if known.newest > history.newest:
        history.newest, history.zoned = known.newest, known.zoned
    return Loaded(history, decoder.counts.read, refused, known.shortened)
