"""Which rows of a table belong to which unit: an index in its folder, read by ranges.

units   one row a unit, in the order of the root's holes: id, the tag that the hole says, and where
        the hole was in the payload of the root, which is kept without holes
rows    one row for each unit that a fragment is below: file, row, unit; valid time, and
        whether no fragment of its id is later

Both are made once for a state of the table. Readers skip row groups by their statistics.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import quote

import numpy as np

from xstreamcast.edges.disk import make_folder, put_whole
from xstreamcast.edges.table.insides import FOLDER
from xstreamcast.edges.table.picking import Picked
from xstreamcast.edges.table.schema import FRAGMENT, arrow, file_schema
from xstreamcast.edges.table.skeletons import hole_texts
from xstreamcast.errors import UsageError
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.edges.table.log import File

Held: TypeAlias = "Path | bytes"  # a Parquet file, or its bytes
_FORMAT: Final = b"1"
_GROUP: Final = 1 << 14  # rows that are read at least
ROWS: Final = ("file", "row", "unit", "valid", "last")


@dataclass(frozen=True, slots=True)
class RootHead:
    """The root fragment without its holes."""

    id: str
    valid: int
    zoned: bool
    payload: bytes


@dataclass(frozen=True, slots=True)
class UnitIndex:
    """The units of a stream; files by their number."""

    units: Held
    rows: tuple[Held, ...]
    files: tuple[File, ...]
    kept: bool = False  # it existed before this query

    def labels(self) -> Any:
        """The tag that each unit's hole says, -1 where it says none."""
        found = _opened(self.units).read(columns=["label"])["label"]
        return found.to_numpy()

    def head(self) -> RootHead:
        """The root without its holes."""
        return _head(_opened(self.units))

    def places(self) -> tuple[Any, Any]:
        """The tag that each unit's hole says, and where it is in the root's payload."""
        units = _opened(self.units).read(columns=["label", "at"], use_threads=False)
        return units["label"].to_numpy(), units["at"].to_numpy()

    def root(
        self, low: int, high: int, labels: frozenset[int] | None, tag: Any, bare: bool,
        some: Any = None,
    ) -> Any:  # fmt: skip
        """The root as a row of the table, with the holes of a range that say one of these tags.

        `bare`: nothing is seen of it but its holes; `tag` is that of the root. `some`: the units
        that are seen, if not all are.
        """
        source = _opened(self.units)
        footer, units = _head(source), _slice(source, low, high)
        kept = np.ones(units.num_rows, np.bool_)
        if labels is not None:
            kept = np.isin(units["label"].to_numpy(), list(labels))
        if some is not None:
            kept &= np.isin(np.arange(low, low + len(kept)), some)
        units = units if kept.all() else units.filter(arrow().array(kept))
        return _root_row(footer, units, tag, bare)

    def picked(
        self, low: int, high: int, labels: frozenset[int] | None, tags: Collection[int] | None,
        until: int | None, latest: Collection[int],
    ) -> Iterator[Picked]:  # fmt: skip
        """The rows of files below units of a range, up to an instant.

        `latest`: the tags of which only fragments that none of their id supersedes are seen, where
        no instant is given.
        """
        wanted = [n for n, one in enumerate(self.files) if tags is None or one.tag in tags]
        found = self._below(
            _Selection(low, high, wanted, until), [*ROWS[:3], *_more(until, latest)]
        )
        unit = found["unit"].to_numpy()
        seen = np.ones(len(unit), np.bool_)
        if labels is not None:
            label = _slice(_opened(self.units), low, high, ["label"])["label"].to_numpy()
            seen = np.isin(label, list(labels))[unit - low]
        if until is not None:
            seen &= found["valid"].to_numpy() <= until
        elif latest:
            alone = [n for n in wanted if self.files[n].tag in latest]
            last = found["last"].to_numpy(zero_copy_only=False)
            seen &= last | ~np.isin(found["file"].to_numpy(), alone)
        number, row = found["file"].to_numpy()[seen], found["row"].to_numpy()[seen]
        unit = unit[seen]
        cuts = np.searchsorted(number, [*wanted, len(self.files)])
        for at, file in enumerate(wanted):
            here = slice(cuts[at], np.searchsorted(number, file, side="right"))
            mine = row[here]
            if len(mine):
                yield _picked(self.files[file], mine, unit[here])

    def _below(self, chosen: _Selection, columns: list[str]) -> Any:
        """The index entries of rows of some files below units of a range, in order."""
        pa = arrow()
        parts = [part for held in self.rows for part in _groups(held, chosen, columns)]
        if not parts:
            return pa.schema(_row_fields()).empty_table()
        rows = pa.concat_tables(parts)
        unit, number = rows["unit"].to_numpy(), rows["file"].to_numpy()
        mine = (unit >= chosen.low) & (unit < chosen.high) & np.isin(number, list(chosen.wanted))
        rows = rows.filter(pa.array(mine)) if not mine.all() else rows
        in_order = len(self.rows) == 1
        return rows if in_order else rows.sort_by([("file", "ascending"), ("row", "ascending")])


@dataclass(frozen=True, slots=True)
class _Selection:
    """Rows of some files below units of a range, valid up to an instant."""

    low: int
    high: int
    wanted: Sequence[int]
    until: int | None


def _more(until: int | None, latest: Collection[int]) -> list[str]:
    """The further columns that decide which rows are visible."""
    return ["last"] if until is None and latest else [] if until is None else ["valid"]


def _picked(file: File, rows: Any, units: Any) -> Picked:
    """Each row once: a fragment may be below several units."""
    if (np.diff(rows) > 0).all():
        return Picked.of(file, rows, units)
    return Picked.of(file, np.unique(rows))


def _row_fields() -> list[tuple[str, Any]]:
    pa = arrow()
    kinds = (pa.int32(), pa.int64(), pa.int32(), pa.int64(), pa.bool_())
    return list(zip(ROWS, kinds, strict=True))


def _opened(held: Held) -> Any:
    return arrow().parquet.ParquetFile(io.BytesIO(held) if isinstance(held, bytes) else held)


def _slice(source: Any, low: int, high: int, columns: list[str] | None = None) -> Any:
    """The units of a range."""
    sizes = [source.metadata.row_group(i).num_rows for i in range(source.num_row_groups)]
    ends = np.cumsum(sizes, dtype=np.int64)
    first = int(np.searchsorted(ends, low, side="right"))
    last = int(np.searchsorted(ends, high, side="left"))
    groups = list(range(first, min(last + 1, len(sizes)))) if high > low else []
    found = source.read_row_groups(groups, columns=columns, use_threads=False)
    begin = int(ends[first] - sizes[first]) if groups else 0
    return found.slice(low - begin, high - low) if groups else found


def _groups(held: Held, chosen: _Selection, columns: list[str]) -> Iterator[Any]:
    """Row groups that may have such rows, by their statistics."""
    source = _opened(held)
    at = {source.metadata.schema.column(i).path: i for i in range(len(source.metadata.schema))}
    fields = [one for one in _row_fields() if one[0] in columns]
    for group in range(source.num_row_groups):
        footer = source.metadata.row_group(group)
        file, unit, valid = (
            footer.column(at[name]).statistics for name in ("file", "unit", "valid")
        )
        if _may_have(file, unit, valid, chosen):
            rows = source.read_row_groups([group], columns=columns, use_threads=False)
            yield rows.select(columns).cast(arrow().schema(fields))


def _may_have(file: Any, unit: Any, valid: Any, chosen: _Selection) -> bool:
    if unit is not None and (unit.max < chosen.low or unit.min >= chosen.high):
        return False
    if valid is not None and chosen.until is not None and valid.min > chosen.until:
        return False
    return file is None or any(file.min <= one <= file.max for one in chosen.wanted)


def _head(source: Any) -> RootHead:
    footer = source.schema_arrow.metadata
    one = json.loads(footer[b"root"])
    return RootHead(one["id"], one["valid"], one["zoned"], footer[b"payload"])


def _root_row(head: RootHead, units: Any, tag: Any, bare: bool) -> Any:
    pa = arrow()
    holes = pa.StructArray.from_arrays(
        [_whole(units["id"]), _whole(units["label"])], names=["id", "tag"]
    )
    texts = hole_texts(holes).cast(pa.binary())
    if bare:
        begin, end = f"<{tag.local}>".encode(), f"</{tag.local}>".encode()
        payload = b"".join([begin, _joined(texts), end])
    else:
        payload = _filled(head.payload, _whole(units["at"]).to_numpy(), texts)
    said = {
        "id": head.id, "operation": "filler", "valid": head.valid, "zoned": head.zoned,
        "payload": payload, "batch": 0, "ordinal": 0, "timeless": False, "tag": tag.id,
    }  # fmt: skip
    schema = file_schema(FRAGMENT).append(pa.field("tag", pa.int32()))
    arrays = [
        pa.ListArray.from_arrays([0, len(holes)], _labelled(holes))
        if field.name == "holes"
        else pa.array([said.get(field.name)], field.type)
        for field in schema
    ]
    return pa.table([a.cast(f.type) for a, f in zip(arrays, schema, strict=True)], schema=schema)


def _labelled(holes: Any) -> Any:
    """Holes as written in files: without a tag if they name none."""
    pa = arrow()
    label = holes.field("tag")
    none = pa.scalar(None, pa.int32())
    said = pa.compute.if_else(pa.compute.greater_equal(label, 0), label, none)
    return pa.StructArray.from_arrays([holes.field("id"), said], names=["id", "tag"])


def _whole(column: Any) -> Any:
    found = column.combine_chunks()
    chunks = getattr(found, "chunks", None)
    return found if chunks is None else (chunks[0] if chunks else arrow().array([], found.type))


def _joined(texts: Any) -> bytes:
    """Binary values end to end."""
    if len(texts) == 0:
        return b""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset :]
    return bytes(memoryview(data)[int(ends[0]) : int(ends[len(texts)])])


def _filled(payload: bytes, at: Any, texts: Any) -> bytes:
    """The payload with each text in the place of its hole."""
    if len(texts) == 0:
        return payload
    pa = arrow()
    edges = np.concatenate((np.zeros(1, np.int64), at)).astype(np.int32)
    between = pa.Array.from_buffers(
        pa.binary(), len(at), [None, pa.py_buffer(edges), pa.py_buffer(payload)]
    )
    both = pa.compute.binary_join_element_wise(between, texts, pa.scalar(b"", pa.binary()))
    return _joined(both) + payload[int(at[-1]) :]


# -- stored with the table -------------------------------------------------------------------------


def index_paths(table: Path, stream: str, number: int, top: int) -> tuple[Path, Path]:
    """Where units and rows are kept: of a state, for the root with that latest valid time.

    The format is a part of the names: readers of two versions may share a table.
    """
    name = f"{_FORMAT.decode()}-{quote(stream, safe='')}-{top}-{number:010}"
    return table / FOLDER / f"units-{name}.parquet", table / FOLDER / f"rows-{name}.parquet"


def kept_index(units: Path, rows: Path, files: Sequence[File]) -> UnitIndex | None:
    """The index that is kept there, None where there is none, or one of another format."""
    if not (units.exists() and rows.exists()):
        return None
    footer = _opened(units).schema_arrow.metadata or {}
    if footer.get(b"format") != _FORMAT or footer.get(b"files") != _named(files):
        return None
    parts = tuple(sorted(rows.glob("*.parquet"))) if rows.is_dir() else (rows,)
    return UnitIndex(units, parts, tuple(files), kept=True)


def units_bytes(head: RootHead, files: Sequence[File], ids: Any, labels: Any, at: Any) -> bytes:
    """The file of units."""
    pa = arrow()
    said = {"id": head.id, "valid": head.valid, "zoned": head.zoned}
    footer = {
        b"format": _FORMAT, b"files": _named(files), b"root": json.dumps(said).encode(),
        b"payload": head.payload,
    }  # fmt: skip
    arrays = [ids, pa.array(labels, pa.int32()), pa.array(at, pa.int64())]
    return _written(pa.table(arrays, ["id", "label", "at"]).replace_schema_metadata(footer))


def rows_bytes(columns: Sequence[Any]) -> bytes:
    """The file of rows: numbers of files, rows and units, valid times, which are last."""
    pa = arrow()
    arrays = [pa.array(one, kind) for one, (_, kind) in zip(columns, _row_fields(), strict=True)]
    return _written(pa.table(arrays, list(ROWS)))


def keep(path: Path, data: bytes) -> Held:
    """Where the bytes are kept; they themselves where the table cannot be written."""
    try:
        make_folder(path.parent)
        put_whole(path, data, f".{os.getpid()}")
    except (OSError, UsageError):
        return data
    return path


def _named(files: Sequence[File]) -> bytes:
    return json.dumps([file.path for file in files]).encode()


def _written(table: Any) -> bytes:
    pa = arrow()
    raw = pa.BufferOutputStream()
    pa.parquet.write_table(
        table, raw, compression="zstd", compression_level=1, row_group_size=_GROUP,
        use_dictionary=["label", "file", "valid", "last"],
    )  # fmt: skip
    return bytes(raw.getvalue())
