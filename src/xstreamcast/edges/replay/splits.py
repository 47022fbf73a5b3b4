"""A part of a source that one task reads by itself, and the rows it gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.inputs import Kind, chunks, opened
from xstreamcast.edges.replay.offset import Said
from xstreamcast.edges.table.rows import Rows
from xstreamcast.edges.table.schema import SPLIT
from xstreamcast.model.fragment import Arrival, Described, FragmentBatch, Refused
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
    said: Said
    kind: Kind = "fragments"
    valid: str | None = None  # for a document: the instant or path of its valid times
    more: bool = False  # whether other files may follow: then an eos ends this one alone
    mapping: str | None = None  # files hold messages, which it makes units of
    behind: tuple[str, ...] = ()  # files that are read after the first one
    before: tuple[str, ...] = ()  # files of earlier batches: what they said last is needed


def split_rows(stream: str, split: Split, insides: Insides | None = None) -> Iterator[Any]:
    """What arrives in a split, in record batches; `insides` receives the content of fragments."""
    from xstreamcast.edges.structures import read_structure
    from xstreamcast.edges.wire.decoder import Decoder

    if split.mapping is not None:
        yield from _mapped(stream, split, split.mapping, insides)
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
        yield rows.rows(Described(known))
    shift = 0 if split.kind == "document" else split.begin - len(split.tag.encode())
    for arrival in _arrivals(split, decoder):
        if isinstance(arrival, Refused):
            at = max(arrival.offset + shift, 0)
            arrival = replace(arrival, offset=at, line=None, column=None)  # lines begin elsewhere
        elif isinstance(arrival, FragmentBatch):
            arrival = replace(arrival, offset=arrival.offset + shift, place=None)
        yield rows.rows(arrival)


def _mapped(stream: str, split: Split, word: str, insides: Insides | None) -> Iterator[Any]:
    """Messages as units; those of earlier batches are mapped again, and say nothing."""
    from xstreamcast.edges.mapping.decoder import MappingDecoder
    from xstreamcast.edges.mapping.finding import named_mapping

    decoder = MappingDecoder(stream, named_mapping(word))
    for _ in decoder.files((path, chunks(path)) for path in split.before):
        pass  # what they said last is known now
    rows = Rows(stream, decoder.ids, split.index << SPLIT, split.path, insides)
    if split.before:
        yield rows.rows(Described(decoder.structure))
    for found in decoder.files((path, chunks(path)) for path in (split.path, *split.behind)):
        yield from map(rows.rows, found)
    if not split.before:
        yield from map(rows.rows, decoder.close())


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
    source = _cut(split, decoder) if split.kind == "document" else _bytes(split)
    for chunk in source:
        yield from decoder.feed(chunk)
    yield from decoder.close()


def _bytes(split: Split) -> Iterator[bytes]:
    with opened(split.path) as file:
        file.seek(split.begin)
        left = None if split.end is None else split.end - split.begin
        while left is None or left > 0:
            chunk = file.read(_CHUNK if left is None else min(left, _CHUNK))
            if not chunk:
                return
            left = None if left is None else left - len(chunk)
            yield chunk


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
