"""Many rows as one: Spark hands rows to stateful Python one by one, which costs more than ours do.

A source packs what a task reads; what comes as a DataFrame is packed by a step of its own. Where
fragments say by themselves which unit they are, there is a pack for each partition.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np

from xstreamcast.edges.partitions.unit_keys import Inside, links_of, partitions_of, unit_keys
from xstreamcast.edges.table.schema import HEARTBEAT, REFUSED, WORDS, arrow, row_schema
from xstreamcast.model.instant import START

# part: the partition that a pack is for, or EVERYONE. count: fragments among the rows. newest: the
# latest instant that a task read, with its time zone, in packs for everyone; else START, because
# pandas has integers only where none is missing. links: what is said of the units of ids.
PACKED: Final = (
    "stream string, part int, count bigint, rows binary, newest bigint, zoned boolean, links binary"
)
EVERYONE: Final = -1
NOT_ROOT: Final = frozenset({-1})  # in place of tags: all but 0, the root's, whatever they will be
READ: Final = (
    "stream", "tag", "id", "operation", "valid", "zoned", "payload", "ordinal", "position", "code",
    "reason", "timeless", "clock", "attributes",
)  # fmt: skip
_INSIDE: Final = READ[1:]  # without the stream: each query has its own name for it
KEYED: Final = ("unit", "holes")  # read while rows are packed, and not packed themselves
_MOST: Final = 32 << 20  # bytes in one, about


@dataclass(frozen=True, slots=True)
class Parting:
    """Into how many partitions fragments go as they are read: by their ids, if they are units, or
    by the units that they name.
    """

    partitions: int = 1
    tags: Mapping[str, frozenset[int]] = field(default_factory=dict)  # of units, by stream
    inside: Mapping[str, Inside] = field(default_factory=dict)

    def options(self, stream: str) -> dict[str, str]:
        """As the option of a source."""
        if stream not in self.tags:
            return {}
        found = {"partitions": str(self.partitions), "unitTags": _numbers(self.tags[stream])}
        if stream in self.inside:
            inside = self.inside[stream]
            found |= {"insideTags": _numbers(inside.tags), "rootTag": str(inside.root)}
        return found

    @staticmethod
    def of(options: Any, stream: str) -> Parting:
        if options.get("unitTags") is None:
            return Parting()
        tags, inside = {stream: _tags(options["unitTags"])}, dict[str, Inside]()
        if options.get("insideTags") is not None:
            inside[stream] = Inside(_tags(options["insideTags"]), int(options["rootTag"]))
        return Parting(int(options["partitions"]), tags, inside)


def _numbers(tags: Iterable[int]) -> str:
    return ",".join(map(str, sorted(tags)))


def _tags(text: str) -> frozenset[int]:
    return frozenset(map(int, text.split(","))) if text else frozenset()


@cache
def read_schema() -> Any:
    """The columns that operators read."""
    known = row_schema()
    return arrow().schema([known.field(name) for name in READ])


def packs(stream: str, batches: Iterable[Any], parting: Parting | None = None) -> Iterator[Any]:
    """Record batches of a stream's rows → a few rows, each of which holds many."""
    held: list[Any] = []
    parting = parting or Parting()
    columns = [*_INSIDE, *(KEYED if stream in parting.inside else ())]
    for batch in batches:
        held.append(batch.select(columns))
        if sum(one.nbytes for one in held) > _MOST:
            yield _pack({"stream": stream}, held, parting)
            held = []
    if any(one.num_rows for one in held):
        yield _pack({"stream": stream}, held, parting)


def _pack(known: Mapping[str, str], batches: list[Any], parting: Parting) -> Any:
    pa = arrow()
    table = pa.Table.from_batches(batches).combine_chunks()
    parts, links = _parted(table, parting, known["stream"])
    newest, zoned = _newest(table)
    columns = {name: pa.array([value] * len(parts), pa.string()) for name, value in known.items()}
    columns["part"] = pa.array(list(parts), pa.int32())
    columns["count"] = pa.array([_fragments(one) for one in parts.values()], pa.int64())
    columns["rows"] = pa.array([_written(one) for one in parts.values()], pa.binary())
    said = [newest if part == EVERYONE else START for part in parts]
    columns["newest"] = pa.array(said, pa.int64())
    columns["zoned"] = pa.array([zoned] * len(parts), pa.bool_())
    said_links = [_written(links[part]) if part in links else None for part in parts]
    columns["links"] = pa.array(said_links, pa.binary())
    return pa.record_batch(columns)


def _fragments(table: Any) -> int:
    pa = arrow()
    return int(pa.compute.sum(pa.compute.is_in(table["operation"], pa.array(WORDS))).as_py() or 0)


def _parted(
    table: Any, parting: Parting, stream: str
) -> tuple[dict[int, Any], dict[int, Any]]:  # fmt: skip
    """The rows for everyone and those of each partition; the units of ids that each receives."""
    pc, rows = arrow().compute, table.select(list(_INSIDE))
    if stream not in parting.tags:
        return {EVERYONE: rows}, {}
    inside, many = parting.inside.get(stream), parting.partitions
    keys = keys_of(table, parting, stream)
    links = {} if inside is None else _shared(links_of(table, keys, inside), many)
    # what was refused is said by one place, too
    refused = pc.equal(table["operation"], REFUSED)
    keys = pc.if_else(refused, pc.fill_null(table["id"], ""), keys)
    part = partitions_of(keys, many)
    found = {EVERYONE: rows.take(np.flatnonzero(part == EVERYONE))}
    for number in range(many):
        mine = np.flatnonzero(part == number)
        if len(mine) or number in links:
            found[number] = rows.take(mine)
    return found, links


def keys_of(table: Any, parting: Parting, stream: str) -> Any:
    """The unit of each row of a stream that is partitioned; null where all partitions need it."""
    own, inside = parting.tags[stream], parting.inside.get(stream)
    return _own_keys(table, own) if inside is None else unit_keys(table, own, inside)


def link_packs(links: Any, partitions: int) -> Iterator[tuple[int, bytes, int, bytes]]:
    """What was said of the units of ids: (part, no rows, no instant, links)."""
    nothing = arrow().schema([read_schema().field(name) for name in _INSIDE]).empty_table()
    for part, mine in _shared(links, partitions).items():
        yield part, _written(nothing), START, _written(mine)


def _own_keys(table: Any, tags: frozenset[int]) -> Any:
    """The ids of rows that are units."""
    pa = arrow()
    pc = pa.compute
    tagged = pc.is_in(table["tag"], pa.array(sorted(tags), pa.int32()))
    tagged = pc.greater(table["tag"], 0) if tags == NOT_ROOT else tagged
    is_unit = pc.and_(tagged, pc.is_in(table["operation"], pa.array(WORDS)))
    return pc.if_else(pc.fill_null(is_unit, False), table["id"], pa.scalar(None, pa.string()))


def _shared(links: Any, partitions: int) -> dict[int, Any]:
    """Links by the partition of their ids."""
    part = partitions_of(links["id"], partitions)
    each = {number: np.flatnonzero(part == number) for number in range(partitions)}
    return {number: links.take(at) for number, at in each.items() if len(at)}


def _newest(table: Any) -> tuple[int, bool]:
    """The latest instant among rows that move the clock, and its time zone."""
    pa = arrow()
    pc = pa.compute
    moves = pc.is_in(table["operation"], pa.array([*WORDS, HEARTBEAT]))
    clock = pc.coalesce(table["clock"], table["valid"])
    at = np.flatnonzero(pc.and_(moves, pc.is_valid(clock)).to_numpy())
    if len(at) == 0:
        return START, False
    instants = clock.take(at).to_numpy()
    last = len(instants) - 1 - int(np.argmax(instants[::-1]))
    return int(instants[last]), bool(table["zoned"][int(at[last])].as_py())


def _written(table: Any) -> bytes:
    pa = arrow()
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def rows_in(stream: str, rows: bytes) -> Any:
    """The rows in one, under the name that the query has for their stream."""
    pa = arrow()
    table = pa.ipc.open_stream(rows).read_all()
    name = pa.repeat(pa.scalar(stream, pa.string()), table.num_rows)
    return table.add_column(0, "stream", name).cast(read_schema())


class Packing:
    """What a task does with its rows; found by name where it is unpickled."""

    def __init__(self, parting: Parting | None = None) -> None:
        self._parting = parting or Parting()

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pa = arrow()
        held = list(batches)
        if not held:
            return
        table = pa.Table.from_batches(held).combine_chunks()
        outside = [name for name in ("query", "stream") if name in table.column_names]
        grouped = table.select(outside).group_by(outside, use_threads=False).aggregate([])
        for group in grouped.to_pylist():
            mine = table
            for name, value in group.items():
                mine = mine.filter(pa.compute.equal(mine[name], value))
            inside = [one for one in (*_INSIDE, *KEYED) if one in mine.column_names]
            yield _pack(group, mine.select(inside).to_batches(), self._parting)


def said(stream: str, operation: str, ordinal: int, valid: int | None = None) -> dict[str, Any]:
    """One row that says something of a stream, packed, for a file of JSON."""
    pa = arrow()
    cells = {"operation": operation, "ordinal": ordinal, "valid": valid}
    fields = [read_schema().field(name) for name in _INSIDE]
    arrays = [pa.array([cells.get(field.name)], field.type) for field in fields]
    batch = pa.record_batch(arrays, schema=pa.schema(fields))
    rows = base64.b64encode(_written(pa.Table.from_batches([batch]))).decode()
    found = {"stream": stream, "part": EVERYONE, "count": 0, "rows": rows}
    return found | {"newest": START, "zoned": False, "links": None}
