"""A source to be cast: its arrivals, in any input format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from xstreamcast.edges.cutting_documents import cut_documents
from xstreamcast.edges.decoding import StreamDecoder, decoder_of
from xstreamcast.edges.inputs import kind_of
from xstreamcast.edges.mapping.finding import mapping_of
from xstreamcast.edges.structures import read_structure
from xstreamcast.edges.watching.pieces import files_of, pieces
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.edges.wire.encoder import structure_line
from xstreamcast.errors import error
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.fragment import Arrival
from xstreamcast.tape.names import Names

Receive = Callable[[list[Arrival], Ids], None]


def read_into(
    receive: Receive,
    name: str,
    source: Any,
    *,
    follow: bool = False,
    structure: str | os.PathLike[str] | None = None,
    closed: Callable[[], bool] = lambda: False,
) -> None:
    """Pass on arrivals, to the end of the source or until `closed`."""
    stream = pieces(source, follow=follow, patience=lambda: 0.1, name=name)
    head = _head(stream, closed)
    mapping = mapping_of(source)[0]
    first = b"".join(piece for piece in head if piece)
    kind = kind_of(first, name) if mapping is None else "fragments"
    if kind == "document":
        _cut_into(receive, name, chain(head, stream), structure)
        return
    decoder = decoder_of(kind, name, Names(), "quarantine", mapping=mapping)
    files, of = 0, files_of(source, follow)
    for piece in chain(head, stream):
        decoder.more = files + 1 < of
        if piece is None:
            files += 1
        found = decoder.end_input() if piece is None else decoder.feed(piece)
        if found:
            receive(found, decoder.ids)
        if closed():
            return
    receive(decoder.close(), decoder.ids)


def _head(stream: Iterator[bytes | None], closed: Callable[[], bool]) -> list[bytes | None]:
    head: list[bytes | None] = []
    for piece in stream:
        head += [piece] if piece != b"" else []
        if piece is None or b">" in piece or closed():
            break
    return head


def _cut_into(
    receive: Receive,
    name: str,
    coming: Iterator[bytes | None],
    structure: str | os.PathLike[str] | None,
) -> None:
    """Documents are cut into fragments while they are read."""
    if structure is None:
        raise error(
            "XSCU0001", f"{name} is a document; it is cut by a tag structure: --structure TS",
            hint="xstreamcast infer FILE -o TS proposes one",
        )  # fmt: skip
    known = read_structure(structure)
    decoder: StreamDecoder = Decoder(name, names=Names())
    receive(decoder.feed(structure_line(known)), decoder.ids)
    for line in cut_documents((piece for piece in coming if piece), known, name=name):
        receive(decoder.feed(line), decoder.ids)
    receive(decoder.close(), decoder.ids)
