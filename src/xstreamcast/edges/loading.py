"""Inputs as a query names them, taken in: fragments into histories, documents onto tapes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.inputs import arrivals, kind_of, kind_of_source
from xstreamcast.errors import DataPlace, error
from xstreamcast.history.history import History
from xstreamcast.model.fragment import Arrival, Refused
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.edges.wire.decoder import Decoder, OnError

Keep = Callable[[Refused], None]


@dataclass(slots=True)
class Loaded:
    """A stream that was read to its end: its history, and what passed on the way."""

    history: History
    read: int
    refused: list[Refused] = field(default_factory=list)
    shortened: int = 0

    def summary(self) -> str:
        """One line of counts."""
        report, history = self.history.report(), self.history
        parts = [f"{history.name}: {self.read} fragments", f"{report.versions} versions"]
        parts += [f"{report.removals} removals"] if report.removals else []
        parts += [f"{report.repeated} repeated"] if report.repeated else []
        parts += [f"{len(self.refused)} refused"] if self.refused else []
        parts += [f"{self.shortened} valid times shortened"] if self.shortened else []
        return ", ".join(parts)


def is_stream(source: Any) -> bool:
    """Whether a source holds fragments rather than a document."""
    if isinstance(source, bytes | bytearray | memoryview):
        return kind_of(bytes(source[: 1 << 16])) == "fragments"
    return isinstance(source, str | os.PathLike) and kind_of_source(source) == "fragments"


def load(
    name: str,
    source: Any,
    store: Store,
    *,
    on_error: OnError = "quarantine",
    keep: Keep | None = None,
) -> Loaded:
    """Read a stream to its end into a history whose tapes lie in `store`."""
    from xstreamcast.edges.joining import taken_in  # here: these need the compiler
    from xstreamcast.edges.wire.decoder import Decoder

    decoder = Decoder(name, names=store.names, on_error=on_error)
    history: History | None = None
    refused: list[Refused] = []
    for found in _arriving(source, decoder):
        met = len(refused)
        history = taken_in(history, found, decoder, store, refused)
        if keep is not None:
            for one in refused[met:]:
                keep(one)
    if history is None:
        raise error("XSCF0010", at=DataPlace(name), hint="a stream says its structure itself")
    return Loaded(history, decoder.counts.read, refused, decoder.counts.shortened)


def _arriving(source: Any, decoder: Decoder) -> Iterator[Iterable[Arrival]]:
    if isinstance(source, bytes | bytearray | memoryview):
        yield decoder.feed(bytes(source))
        yield decoder.close()
    else:
        yield from arrivals(source, decoder)
