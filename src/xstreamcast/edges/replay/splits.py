"""A part of a source that one task reads by itself, and the rows it gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.inputs import Kind, chunks
from xstreamcast.edges.replay.messages import FilePart, file_bytes
from xstreamcast.edges.replay.offset import StreamFacts
from xstreamcast.edges.table.rows import Rows
from xstreamcast.edges.table.schema import SPLIT
from xstreamcast.model.fragment import Arrival, FragmentBatch, NewStructure, Refused
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.edges.table.seeing import Insides
    from xstreamcast.edges.wire.decoder import Decoder

_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Split:
    """Bytes of a file from `begin` to `end`, None for its end, with what was said before them."""

    index: int
    path: str
    begin: int
    end: int | None
    tag: str
    said: StreamFacts
    kind: Kind = "fragments"
    valid: str | None = None  # for a document: the instant or path of its valid times
    more: bool = False  # whether other files may follow: then an eos ends this one alone
    mapping: str | None = None  # files hold messages, which it makes units of
    parts: tuple[FilePart, ...] = ()  # of these files
    before: tuple[FilePart, ...] = ()  # of earlier batches: what they said last is needed
    number: int = 0  # how many batches were before


def split_rows(stream: str, split: Split, insides: Insides | None = None) -> Iterator[Any]:
    """What arrives in a split, in record batches; `insides` receives the content of fragments."""
    from xstreamcast.edges.structures import read_structure
    from xstreamcast.edges.wire.decoder import Decoder

    if split.mapping is not None:
        from xstreamcast.edges.replay.mapped import mapped_rows  # here: few feeds have a mapping

        yield from mapped_rows(stream, split, split.mapping, insides)
        return
    if split.kind in ("updates", "changes"):
        yield from _other(stream, split, insides)
        return
    said = split.said
    known = None if said.structure is None else read_structure(said.structure.encode())
    decoder = Decoder(stream, known)
    decoder.ended, decoder.counts.read, decoder.more = said.ended, said.read, split.more
    rows = Rows(stream, decoder.ids, split.index << SPLIT, split.path, insides)
    if split.index == 0 and known is not None:
        yield rows.rows(NewStructure(known))
    shift = 0 if split.kind == "document" else split.begin - len(split.tag.encode())
    for arrival in _arrivals(split, decoder):
        if isinstance(arrival, Refused):
            at = max(arrival.offset + shift, 0)
            arrival = replace(arrival, offset=at, line=None, column=None)  # lines begin elsewhere
        elif isinstance(arrival, FragmentBatch):
            arrival = replace(arrival, offset=arrival.offset + shift, place=None)
        yield rows.rows(arrival)


def _other(stream: str, split: Split, insides: Insides | None) -> Iterator[Any]:
    """A stream in another form than fragments: it is read as one."""
    from xstreamcast.edges.decoding import decoder_of
    from xstreamcast.tape.names import Names

    decoder = decoder_of(split.kind, stream, Names(), "quarantine")
    rows = Rows(stream, decoder.ids, split.index << SPLIT, split.path, insides)
    for chunk in chunks(split.path):
        yield from map(rows.rows, decoder.feed(chunk))
    yield from map(rows.rows, decoder.close())


def _arrivals(split: Split, decoder: Decoder) -> Iterator[Arrival]:
    if split.tag:
        yield from decoder.feed(split.tag.encode())
    whole = split.kind == "document"
    given = file_bytes(split.path, split.begin, split.end)
    for chunk in _cut(split, decoder) if whole else given:
        yield from decoder.feed(chunk)
    yield from decoder.close()


def _cut(split: Split, decoder: Decoder) -> Iterable[bytes]:
    """The fragments that a document is cut into."""
    from xstreamcast.edges.cutting import cut
    from xstreamcast.edges.valid_time import valid_time

    assert decoder.structure is not None, "a document is cut by a structure"
    valid = None if split.valid is None else valid_time(split.valid)
    held: list[bytes] = []
    size = 0
    for line in cut(chunks(split.path), decoder.structure, valid=valid, name=split.path):
        held.append(line)
        size += len(line)
        if size > _CHUNK:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)
