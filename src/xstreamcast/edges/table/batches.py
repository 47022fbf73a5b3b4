"""Rows of a table as batches of fragments, without the wire between: payloads are one document.

What does not look as our own writer leaves it is not judged here: it goes the way of the wire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.joining import taken_in
from xstreamcast.edges.table.codes import codes_of
from xstreamcast.edges.table.schema import WORDS, arrow
from xstreamcast.edges.table.wire import wire
from xstreamcast.edges.wire.words import HOLE, MEANING, Words
from xstreamcast.errors import Error
from xstreamcast.model.fragment import REPEATED, STREAM, TIMELESS, ZONED, FragmentBatch, Refused
from xstreamcast.tape.layout import ELEMENT, KIND, Tape
from xstreamcast.tape.reading.read import read

if TYPE_CHECKING:
    from xstreamcast.edges.wire.decoder import Decoder
    from xstreamcast.history.history import History
    from xstreamcast.kernels.intern import Ids

_OPEN: Final = f'<stream:fragments xmlns:stream="{STREAM}">'.encode()
_CLOSE: Final = b"</stream:fragments>"
_ROWS: Final = 100_000  # on one tape
_ROOT: Final = 1  # the row of the element around all payloads; the document is 0


def take_rows(
    history: History, decoder: Decoder, rows: Any, refused: list[Refused], *, plain: bool
) -> None:
    """Take rows of a table into a history.

    `plain`: nothing can contain itself, so that fragments need not be looked at for that.
    """
    words, made = Words(decoder.names), list[FragmentBatch | Any]()
    for some in rows.to_batches(max_chunksize=_ROWS):
        one = batch_of(some, history, decoder.ids, words) if plain else None
        made.append(some if one is None else one)
    unrepeated = _are_unrepeated(history, made)
    for one in made:
        if isinstance(one, FragmentBatch):
            history.add(one, unrepeated=unrepeated)
            decoder.counts.read += len(one)
        else:
            for lines in wire(arrow().Table.from_batches([one])):
                taken_in(history, decoder.feed(lines), decoder, history.store, refused)


def _are_unrepeated(history: History, made: list[FragmentBatch | Any]) -> bool:
    """Whether no id has two fragments: then nothing repeats another."""
    if len(history) or not all(isinstance(one, FragmentBatch) for one in made):
        return False
    codes = np.concatenate([np.zeros(0, np.int32), *(one.id for one in made)])
    return bool(np.bincount(codes, minlength=1).max() <= 1)


def batch_of(rows: Any, history: History, ids: Ids, words: Words) -> FragmentBatch | None:
    """The fragments of a record batch; None where its payloads are not what the columns say."""
    pc, n = arrow().compute, rows.num_rows
    if rows["attributes"].null_count < n:
        return None
    content = np.flatnonzero(pc.is_valid(rows["payload"]).to_numpy(zero_copy_only=False))
    try:
        tape = read(payload_bytes(rows["payload"]), names=words._names)
    except Error:
        return None
    words.catch_up()
    c = tape.columns
    top = np.flatnonzero(c.parent == _ROOT)
    inner = top[c.kind[top] & KIND == ELEMENT]
    holes = np.flatnonzero((words.elements[c.name] & MEANING == HOLE) & (c.kind & KIND == ELEMENT))
    counts = rows["holes"].value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    owner = np.repeat(np.arange(n), counts)
    if len(inner) != len(content) or len(holes) != len(owner):
        return None
    if not np.array_equal(content[np.searchsorted(inner, holes, side="right") - 1], owner):
        return None
    tags = rows["tag"].to_numpy()
    if not _have_their_names(tape, inner, tags[content], history):
        return None
    payload = np.full(n, -1, np.int32)
    payload[content] = inner
    word, links = _words(rows["operation"]), rows["holes"].flatten()
    if ((word == WORDS.index("remove")) != (payload < 0)).any():
        return None
    zoned = rows["zoned"].to_numpy(zero_copy_only=False)
    again = word == WORDS.index("repeat")
    timeless = rows["timeless"].fill_null(False).to_numpy(zero_copy_only=False)
    return FragmentBatch(
        tape, codes_of(ids, rows["id"]), tags, rows["valid"].to_numpy(),
        (zoned * ZONED | again * REPEATED | timeless * TIMELESS).astype(np.uint8),
        np.where(again, 0, word),
        payload, np.zeros(n, np.int64), owner.astype(np.int32), codes_of(ids, links.field("id")),
        links.field("tag").fill_null(-1).to_numpy(zero_copy_only=False), holes.astype(np.int32),
    )  # fmt: skip


def payload_bytes(payloads: Any) -> bytes:
    """The payloads end to end, below one element."""
    _, offsets, data = payloads.buffers()
    if data is None or len(payloads) == 0:
        return _OPEN + _CLOSE
    ends = np.frombuffer(offsets, np.int32)[payloads.offset :]
    begin, end = int(ends[0]), int(ends[len(payloads)])
    return b"".join([_OPEN, memoryview(data)[begin:end], _CLOSE])


def _words(operations: Any) -> Any:
    """The numbers of operations."""
    pa = arrow()
    found = pa.compute.index_in(operations, value_set=pa.array(WORDS))
    return found.fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint8)


def _have_their_names(tape: Tape, rows: Any, tags: Any, history: History) -> bool:
    """Whether payloads are elements of the tags of their files."""
    structure = history.structure
    for tag in np.unique(tags).tolist():
        if tag not in structure.tags or not structure.travels(tag):
            return False
        for name in np.unique(tape.columns.name[rows[tags == tag]]).tolist():
            _, local, uri = tape.names.qname(name)
            if (uri, local) != (structure[tag].uri, structure[tag].local):
                return False
    return True
