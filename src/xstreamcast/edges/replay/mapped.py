"""The messages of a batch as rows of units, by a decoder that has read the batches before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.edges.replay.messages import FilePart, file_bytes, form_of
from xstreamcast.edges.table.rows import RowEncoder
from xstreamcast.edges.table.schema import SPLIT
from xstreamcast.model.fragment import Arrival, NewStructure

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.decoder import MappingDecoder
    from xstreamcast.edges.replay.splits import Split
    from xstreamcast.edges.table.seeing import Insides

_UNITS: Final = 10**9  # of a batch, at most: those without a key are numbered by batch

Known = tuple[tuple[str, int | None], ...]  # files, and up to where they were read


# The decoder of the last batch of each feed: the next batch need not map all of it again.
_LEFT: Final[dict[tuple[str, str], tuple[Known, MappingDecoder]]] = {}


def mapped_rows(stream: str, split: Split, word: str, insides: Insides | None) -> Iterator[Any]:
    """Messages as units; what earlier batches read is known, and says nothing."""
    decoder = _decoder(stream, word, split.before)
    decoder.number_from(split.number * _UNITS)
    rows = RowEncoder(stream, decoder.ids, split.index << SPLIT, split.path, insides)
    if split.before:
        yield rows.rows(NewStructure(decoder.structure))
    for found in _read(decoder, split.parts):
        yield from map(rows.rows, found)
    if not split.before and all(part.over for part in split.parts):  # else units may still come
        yield from map(rows.rows, decoder.empty_root())
    read = {part.path: part.end for part in (*split.before, *split.parts)}
    _LEFT[stream, word] = tuple(read.items()), decoder


def _decoder(stream: str, word: str, before: tuple[FilePart, ...]) -> MappingDecoder:
    """One that knows what was read before; the last one, if it knows that and nothing else."""
    from xstreamcast.edges.mapping.decoder import MappingDecoder
    from xstreamcast.edges.mapping.finding import named_mapping

    mapping, left = named_mapping(word), _LEFT.pop((stream, word), None)
    wanted = tuple((part.path, part.end) for part in before)
    if left is not None and left[0] == wanted and left[1].mapping == mapping:
        return left[1]
    decoder = MappingDecoder(stream, mapping)
    for _ in _read(decoder, before):
        pass
    return decoder


def _read(decoder: MappingDecoder, parts: tuple[FilePart, ...]) -> Iterator[list[Arrival]]:
    """What parts of files say; one that is read on is parsed from its beginning."""
    if form_of(decoder.mapping) in ("documents", "json"):
        yield from decoder.files((part.path, part.pieces(True)) for part in parts)
        return
    for part in parts:
        if decoder.open_at != (part.path, part.begin):
            decoder.pass_by(part.path, file_bytes(part.path, 0, part.begin))
        for piece in part.pieces(False):
            yield decoder.feed(piece)
        decoder.open_at = part.path, part.end
        if part.over:
            yield decoder.end_input()
