"""What a decoder hands out, as rows in Arrow's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, assert_never

import numpy as np

from xstreamcast.edges.table.schema import (
    EOS,
    HEARTBEAT,
    REFUSED,
    STRUCTURE,
    WORDS,
    arrow,
    row_schema,
)
from xstreamcast.edges.wire.encoder import more_attributes, payload_of, structure_line
from xstreamcast.model.fragment import (
    REPEATED,
    STREAM,
    TEMPORARY,
    TIMELESS,
    ZONED,
    Arrival,
    Ended,
    FragmentBatch,
    Heartbeat,
    NewStructure,
    Op,
    Refused,
)
from xstreamcast.model.instant import START
from xstreamcast.model.markup import quoteattr
from xstreamcast.tape.layout import KIND, NAMESPACE, Tape

if TYPE_CHECKING:
    from xstreamcast.edges.table.seeing import Insides
    from xstreamcast.kernels.intern import Ids

_HOLE: Final = np.frombuffer(b"<stream:hole", np.uint8)


class RowEncoder:
    """Turns the arrivals of one stream into rows; `first` is the ordinal of the first one.

    `insides` receives the content of the fragments.
    """

    def __init__(
        self, stream: str, ids: Ids, first: int = 0, source: str | None = None,
        insides: Insides | None = None,
    ) -> None:  # fmt: skip
        self.stream, self._ids, self._source, self._insides = stream, ids, source, insides
        self._next = first

    def rows(self, arrival: Arrival) -> Any:
        """A record batch with what arrived."""
        match arrival:
            case FragmentBatch():
                return self._fragments(arrival)
            case NewStructure(structure):
                line = structure_line(structure)
                return self._one(operation=STRUCTURE, payload=line)
            case Heartbeat(instant):
                return self._one(operation=HEARTBEAT, valid=instant)
            case Ended():
                return self._one(operation=EOS)
            case Refused(_, fragment, offset, code, reason, raw):
                return self._one(
                    operation=REFUSED, id=fragment, position=offset, code=code, reason=reason,
                    payload=raw,
                )  # fmt: skip
            case _:
                assert_never(arrival)

    def _ordinals(self, count: int) -> Any:
        first, self._next = self._next, self._next + count
        return np.arange(first, first + count, dtype=np.int64)

    def _one(self, **values: Any) -> Any:
        pa, schema = arrow(), row_schema()
        row = {"stream": self.stream, "source": self._source, **values}
        row["ordinal"] = int(self._ordinals(1)[0])
        arrays = [pa.array([row.get(field.name)], field.type) for field in schema]
        return pa.record_batch(arrays, schema=schema)

    def _fragments(self, batch: FragmentBatch) -> Any:
        pa, schema, n = arrow(), row_schema(), len(batch)
        word = np.where(batch.flags & REPEATED != 0, np.uint8(3), batch.op)
        texts = id_texts(self._ids)
        payloads, as_written = _payloads(batch, self._ids)
        if self._insides is not None:
            self._insides.see(batch, as_written=as_written)
        columns = {
            "stream": pa.array([self.stream], pa.string()).take(np.zeros(n, np.int32)),
            "tag": pa.array(batch.tsid),
            "id": texts.take(pa.array(batch.id)),
            "operation": pa.array(WORDS, pa.string()).take(pa.array(word)),
            "valid": pa.array(batch.valid),
            "zoned": pa.array(batch.flags & ZONED != 0),
            "payload": payloads,
            "holes": _holes(batch, texts),
            "ordinal": pa.array(self._ordinals(n)),
            "source": pa.array([self._source], pa.string()).take(np.zeros(n, np.int32)),
            "position": pa.array(batch.offset),
            "timeless": pa.array(batch.flags & TIMELESS != 0),
            **_more(batch, self._ids),
            **({} if batch.unit is None else {"unit": _named(batch.unit, texts)}),
        }
        arrays = [columns.get(field.name, pa.nulls(n, field.type)) for field in schema]
        return pa.record_batch(arrays, schema=schema)


def _more(batch: FragmentBatch, ids: Ids) -> dict[str, Any]:
    """What only fragments of mapped feeds say, and others that name a parent or an end."""
    pa = arrow()
    found: dict[str, Any] = {}
    if batch.said is not None:
        found["clock"] = pa.array(batch.said, mask=batch.said == START)
    if batch.optional(slice(0)) or (batch.flags & TEMPORARY).any():
        each = (more_attributes(batch, i, ids) for i in range(len(batch)))
        said = ["".join(f" {k}={quoteattr(v)}" for k, v in one.items()) for one in each]
        found["attributes"] = pa.array([one or None for one in said], pa.string())
    return found


def _named(codes: Any, texts: Any) -> Any:
    """Ids by their codes, none where the code is -1."""
    return texts.take(arrow().array(codes, mask=codes < 0))


def id_texts(ids: Ids) -> Any:
    """All ids by their code."""
    pa = arrow()
    heap, start, length = ids.spans()
    if ids.kept:  # codes were taken back: texts are not in their order
        heap, length = ids.packed()
        length = np.maximum(length, 0)
        start = np.cumsum(length, dtype=np.int64) - length
    offsets = np.append(start, start[-1:] + length[-1:] if len(start) else 0).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(heap)]
    return pa.Array.from_buffers(pa.string(), len(start), buffers)


def _holes(batch: FragmentBatch, texts: Any) -> Any:
    pa = arrow()
    ends = np.searchsorted(batch.hole_fragment, np.arange(len(batch) + 1)).astype(np.int32)
    inner = pa.StructArray.from_arrays(
        [texts.take(pa.array(batch.hole_id)), pa.array(batch.hole_tsid)], names=["id", "tag"]
    )
    return pa.ListArray.from_arrays(pa.array(ends), inner)


def _payloads(batch: FragmentBatch, ids: Ids) -> tuple[Any, bool]:
    """The payloads, and whether they are unchanged: in the canonical form already."""
    pa = arrow()
    there = batch.op != Op.REMOVE
    rows = batch.payload[there]
    c = batch.tape.columns
    begin, length = c.start[rows].astype(np.int64), c.length[rows].astype(np.int64)
    if not _stand_canonical(batch, rows, begin, length):
        ends = np.searchsorted(batch.hole_fragment, np.arange(len(batch) + 1)).tolist()
        made = [
            payload_of(batch, i, range(ends[i], ends[i + 1]), ids) if there[i] else None
            for i in range(len(batch))
        ]
        return pa.array(made, pa.binary()), False
    # spans and the bytes between them alternate; every second one is a payload
    edges = np.stack((begin, begin + length), axis=1).ravel()
    low = int(edges[0]) if len(edges) else 0
    heap = c.heap[low : int(edges[-1])] if len(edges) else c.heap[:0]
    buffers = [None, pa.py_buffer((edges - low).astype(np.int32)), pa.py_buffer(heap)]
    spans = pa.Array.from_buffers(pa.binary(), max(len(edges) - 1, 0), buffers)
    which = np.cumsum(there) * 2 - 2
    return spans.take(pa.array(which.astype(np.int32), mask=~there)), True


def _stand_canonical(batch: FragmentBatch, rows: Any, begin: Any, length: Any) -> bool:
    """Whether payloads are in order, their holes have our form, and no namespace is from around."""
    c = batch.tape.columns
    if len(rows) == 0:
        return True
    if (length <= 0).any() or (begin[1:] < (begin + length)[:-1]).any():
        return False
    if int(begin[-1] + length[-1] - begin[0]) >= 2**31:
        return False
    holes = c.start[batch.hole_row].astype(np.int64)
    if len(holes) and not (c.heap[holes[:, None] + np.arange(len(_HOLE))] == _HOLE).all():
        return False
    bound = np.flatnonzero(c.kind & KIND == NAMESPACE)
    owner = np.searchsorted(rows, bound, side="right") - 1
    outside = (owner < 0) | (bound > rows[owner] + c.size[rows[owner]])
    return all(_is_ours(batch.tape, name) for name in np.unique(c.name[bound[outside]]).tolist())


def _is_ours(tape: Tape, name: int) -> bool:
    """Whether a payload that is read elsewhere does not need a binding around it."""
    _, prefix, uri = tape.names.qname(name)
    return not uri or prefix == "xml" or (prefix, uri) == ("stream", STREAM)
