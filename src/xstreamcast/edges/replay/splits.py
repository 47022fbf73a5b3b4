"""A part of a source that one task reads by itself, and the rows it gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.inputs import Kind, chunks
from xstreamcast.edges.replay.messages import FilePart, file_bytes
from xstreamcast.edges.replay.offset import StreamFacts
from xstreamcast.edges.table.rows import RowEncoder
from xstreamcast.edges.table.schema import SPLIT
from xstreamcast.errors import Error
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
    called: str | None = None  # what messages call the file


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
    rows = RowEncoder(stream, decoder.ids, split.index << SPLIT, split.path, insides)
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
    rows = RowEncoder(stream, decoder.ids, split.index << SPLIT, split.path, insides)
    for chunk in chunks(split.path):
        yield from map(rows.rows, decoder.feed(chunk))
    yield from map(rows.rows, decoder.close())


def _arrivals(split: Split, decoder: Decoder) -> Iterator[Arrival]:
    if split.tag:
        yield from decoder.feed(split.tag.encode())
    given = file_bytes(split.path, split.begin, split.end)
    for chunk in _cut(split, given, decoder) if split.kind == "document" else given:
        yield from decoder.feed(chunk)
    yield from decoder.close()


def _cut(split: Split, given: Iterable[bytes], decoder: Decoder) -> Iterable[bytes]:
    """The fragments that documents are cut into."""
    from xstreamcast.edges.cutting_documents import cut_documents
    from xstreamcast.edges.valid_time import valid_time

    assert decoder.structure is not None, "a document is cut by a structure"
    lines = cut_documents(
        given, decoder.structure, name=split.called or split.path,
        valid=None if split.valid is None else valid_time(split.valid),
        number=split.said.documents, at_once=True,
    )  # fmt: skip
    held: list[bytes] = []
    size = 0
    for line in _placed(lines, split):
        held.append(line)
        size += len(line)
        if size > _CHUNK:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


def _placed(lines: Iterable[bytes], split: Split) -> Iterator[bytes]:
    """The lines; an error is placed in the file, not in the part of it that is read."""
    from xstreamcast.tape.expat.following import DocumentStart, moved

    try:
        yield from lines
    except Error as refused:
        before = b"".join(file_bytes(split.path, 0, split.begin))
        column = len(before[before.rfind(b"\n") + 1 :].decode(errors="replace"))
        begin = DocumentStart(split.begin, before.count(b"\n"), column)
        raise moved(refused, begin) from None
