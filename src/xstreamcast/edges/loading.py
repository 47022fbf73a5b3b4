"""Inputs as a query names them, loaded: fragments into histories, documents onto tapes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.inputs import Kind, arrivals, kind_of, kind_of_source
from xstreamcast.edges.mapping.finding import mapping_of, split_source
from xstreamcast.edges.sources.received import Received
from xstreamcast.errors import DataPlace, error
from xstreamcast.history.history import History
from xstreamcast.model.counted import CIRCULAR, ORPHANS, counted
from xstreamcast.model.fragment import Arrival, Refused
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.edges.decoding import StreamDecoder
    from xstreamcast.edges.immutable import TagPath
    from xstreamcast.edges.wire.decoder import OnError

Keep = Callable[[Refused], None]


@dataclass(slots=True)
class Loaded:
    """A stream that was read to its end: its history, and what passed on the way."""

    history: History
    read: int
    refused: list[Refused] = field(default_factory=list)
    shortened: int = 0
    said: str = "fragment"
    unfit: str | None = None  # a mapping found nothing, and why

    def summary(self) -> str:
        """One line of counts."""
        report, history = self.history.report(), self.history
        versions = report.versions - (self.said == "message")  # without the root we made
        read = counted(self.read, self.said)
        parts = [f"{history.name}: {read}", counted(versions, "version")]
        parts += [counted(report.removals, "removal")] if report.removals else []
        parts += [f"{report.repeated} repeated"] if report.repeated else []
        counts = {ORPHANS: history.orphans, CIRCULAR: history.circular}
        parts += [counted(count, *what) for what, count in counts.items() if count]
        parts += [f"{len(self.refused)} refused"] if self.refused else []
        parts += [f"{counted(self.shortened, 'valid time')} shortened"] if self.shortened else []
        return ", ".join(parts)


def is_stream(source: Any) -> bool:
    """Whether a source holds a stream rather than a document."""
    mapped = split_source(source)[0] is not None
    return mapped or table_path(source) is not None or _kind(source) != "document"


def table_path(source: Any) -> str | None:
    """The path of the fragment table that a source names: `table:PATH`."""
    word = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
    found = isinstance(word, str) and word.startswith("table:")
    return str(word[len("table:") :]) if found else None


def attaches(source: Any) -> bool:
    """Whether fragments of a source name their parents: a feed with a mapping, a table of one."""
    if split_source(source)[0] is not None:
        return True
    table = table_path(source)
    if table is None:
        return False
    from xstreamcast.edges.table.files import says_more
    from xstreamcast.edges.table.log import Log

    log = Log(table)
    return says_more(log.path, log.needed().files)


def _kind(source: Any) -> Kind:
    if isinstance(source, bytes | bytearray | memoryview):
        return kind_of(bytes(source[: 1 << 16]))
    return kind_of_source(source) if isinstance(source, str | os.PathLike) else "document"


def load(
    name: str,
    source: Any,
    store: Store,
    *,
    on_error: OnError = "quarantine",
    keep: Keep | None = None,
    immutable: tuple[TagPath, ...] = (),
    query: tuple[Program, str] | None = None,
) -> Loaded:
    """Read a stream to its end into a history whose tapes are in `store`.

    `query`, a program that reads nothing else and a strategy: only a part of a table is read.
    """
    table = table_path(source)
    if table is not None:
        from xstreamcast.edges.table.reading import load_table

        whole = query if not immutable else None
        return load_table(
            name, table, store, query=whole, on_error=on_error, keep=keep, immutable=immutable
        )
    from xstreamcast.edges.decoding import decoder_of  # here: these need the compiler
    from xstreamcast.edges.immutable import ImmutableArrivals
    from xstreamcast.edges.joining import taken_in
    from xstreamcast.edges.mapping.decoder import MappingDecoder
    from xstreamcast.edges.mapping.progress import MappingCounts as MessageCounts
    from xstreamcast.edges.mapping.unfit import unfit
    from xstreamcast.edges.wire.decoder import Counts as WireCounts

    mapping, source = mapping_of(source)
    kind = _kind(source) if mapping is None else "fragments"
    decoder = decoder_of(kind, name, store.names, on_error, immutable, mapping, renumbers=True)
    paths = tuple(path for path in immutable if path.stream in (None, name))
    kept = ImmutableArrivals(name, paths) if paths and kind == "fragments" else None
    history: History | None = None
    refused: list[Refused] = []
    for found in _arriving(source, decoder):
        met = len(refused)
        said = found if kept is None else [kept.arriving(one) for one in found]
        history = taken_in(history, said, decoder, store, refused)
        if keep is not None:
            for one in refused[met:]:
                keep(one)
    if history is None:
        raise error("XSCF0010", at=DataPlace(name), hint="a stream contains its own structure")
    counts = decoder.counts
    if isinstance(counts, WireCounts):
        return Loaded(history, counts.read, refused, counts.shortened)
    if isinstance(counts, MessageCounts):
        nothing = unfit(decoder) if isinstance(decoder, MappingDecoder) else None
        return Loaded(history, counts.read, refused, said="message", unfit=nothing)
    return Loaded(history, counts.events, refused, said="event")


def _arriving(source: Any, decoder: StreamDecoder) -> Iterator[Iterable[Arrival]]:
    if isinstance(source, Received):
        for part in source.parts:
            yield decoder.feed(part)
            yield decoder.end_input()
        yield decoder.close()
    elif isinstance(source, bytes | bytearray | memoryview):
        yield decoder.feed(bytes(source))
        yield decoder.close()
    else:
        yield from arrivals(source, decoder)
