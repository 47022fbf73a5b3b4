"""Parquet files of a table: written from rows in Arrow's columns, one for each stream and tag."""

from __future__ import annotations

import os
import secrets
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from xstreamcast.edges.disk import make_folder, put_new, sync_folder
from xstreamcast.edges.table.insides import keep_inside, tried
from xstreamcast.edges.table.log import File, place, refused_place
from xstreamcast.edges.table.schema import (
    FRAGMENT,
    LATER,
    QUARANTINED,
    REFUSED,
    WORDS,
    arrow,
    file_schema,
)
from xstreamcast.edges.table.seeing import Insides
from xstreamcast.edges.table.values.definitions import defined
from xstreamcast.edges.table.values.kept import keep_values
from xstreamcast.errors import Error, error

# What a reader may skip by its statistics, and what a task reads at least.
_GROUP: Final = 64 << 10  # rows of a row group, at most
_GROUP_BYTES: Final = 4 << 20  # and about so many bytes of it


def write_rows(
    table: Path, rows: Any, batch: int, structures: Mapping[str, str | None],
    insides: Insides | None = None,
) -> tuple[list[File], list[File]]:  # fmt: skip
    """Write the fragments and the refused among rows → the files, which do not count yet.

    What the fragments contain is kept in its own file: as it was seen when they were decoded, or
    by the structures of their streams.
    """
    pa = arrow()
    rows = rows.append_column(
        "batch", pa.array([batch], pa.int64()).take(pa.array([0] * rows.num_rows, pa.int32()))
    )
    files, refused = [], []
    paths = defined(table)
    for (stream, tag), part in _parts(_with(rows, WORDS), ("stream", "tag")):
        file = write_file(table, place(stream, tag), part, batch, FRAGMENT)
        keep_values(table, file, part, paths)
        inside = None if insides is None else insides.of(tag)
        inside = inside or tried(part, tag, structures.get(stream))
        kept = None if inside is None else keep_inside(table, inside)
        files.append(replace(file, inside=kept))
    for (stream,), part in _parts(_with(rows, (REFUSED,)), ("stream",)):
        refused.append(write_file(table, refused_place(stream), part, batch, QUARANTINED))
    return files, refused


def _with(rows: Any, words: tuple[str, ...]) -> Any:
    pa = arrow()
    return rows.filter(pa.compute.is_in(rows["operation"], value_set=pa.array(words)))


def _parts(rows: Any, by: tuple[str, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The rows that agree in some columns, in their order."""
    pc = arrow().compute
    for key in rows.select(by).group_by(by).aggregate([]).to_pylist():
        mask = None
        for name in by:
            same = pc.equal(rows[name], key[name])
            mask = same if mask is None else pc.and_(mask, same)
        yield tuple(key[name] for name in by), rows.filter(mask)


def write_file(
    table: Path, folder: str, rows: Any, batch: int, columns: tuple[str, ...] = FRAGMENT
) -> File:
    """Write one file; it and its name are on disk when this returns."""
    pa = arrow()
    where = table / folder
    make_folder(where)
    path = where / f"{batch:010}-{secrets.token_hex(6)}.parquet"
    chosen = rows.select(columns).cast(file_schema(columns))
    raw = pa.BufferOutputStream()
    pa.parquet.write_table(
        chosen, raw, compression="zstd", compression_level=1, row_group_size=_group(chosen),
        use_dictionary=["operation", "attributes"], write_page_checksum=True,
        write_statistics=["id", "valid", "batch", "ordinal", "attributes"],
    )  # fmt: skip
    held = memoryview(raw.getvalue())
    put_new(path, held)
    sync_folder(where)
    return File(f"{folder}/{path.name}", rows.num_rows, len(held), footer=_footer(held))


def _footer(held: memoryview) -> int:
    """The CRC-32 of the end of a Parquet file: its metadata, their length, and the magic word."""
    return zlib.crc32(held[-(int.from_bytes(held[-8:-4], "little") + 8) :])


def _has_its_footer(path: Path, file: File) -> bool:
    """Whether the end of a file is what was written; one of another size was written by others."""
    if file.footer is None or path.stat().st_size != file.nbytes:
        return True
    with open(path, "rb") as opened:
        opened.seek(-8, os.SEEK_END)
        length = int.from_bytes(opened.read(4), "little") + 8
        opened.seek(-min(length, file.nbytes), os.SEEK_END)
        return zlib.crc32(opened.read()) == file.footer


def _group(rows: Any) -> int:
    """Rows of a row group: few where they are large."""
    return min(_GROUP, max(256, int(_GROUP_BYTES * rows.num_rows // (rows.nbytes + 1))))


def opened(table: Path, file: File, columns: tuple[str, ...] = FRAGMENT) -> TableFile:
    """A file of the table, open for reading, if it is what the log says."""
    pa, path = arrow(), table / file.path
    try:
        if not _has_its_footer(path, file):
            raise OSError("its metadata differ from what was written")
        found = pa.parquet.ParquetFile(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise _other(table, file, "is missing") from None
    except (pa.ArrowException, OSError, ValueError) as refused:
        size = path.stat().st_size if path.exists() else 0
        cut = f"has {size} bytes, where {file.nbytes} were written"
        why = cut if size != file.nbytes else f"cannot be read: {str(refused).splitlines()[0]}"
        raise _other(table, file, why) from None
    schema, there = file_schema(columns), found.schema_arrow
    for name in columns:
        if name not in there.names and name in LATER:
            continue  # written by an earlier version
        if name not in there.names:
            raise _other(table, file, f"has no column {name}", _COLUMNS)
        if not _fits(there.field(name).type, schema.field(name).type):
            got, must = there.field(name).type, schema.field(name).type
            raise _other(table, file, f"has a column {name} of {got}; must be {must}", _COLUMNS)
    if found.metadata.num_rows != file.rows:
        raise _other(table, file, f"has {found.metadata.num_rows} rows; must have {file.rows}")
    return TableFile(found, table, file)


class TableFile:
    """A file of a table, open; bytes that are not those that were written are an error in words."""

    def __init__(self, parquet: Any, table: Path, file: File) -> None:
        self._parquet, self._table, self._file = parquet, table, file
        self.metadata, self.schema_arrow = parquet.metadata, parquet.schema_arrow
        self.num_row_groups: int = parquet.num_row_groups

    def read(self, columns: Sequence[str]) -> Any:
        """All rows, some columns."""
        with self._whole():
            return self._parquet.read(columns=list(columns))

    def read_row_groups(self, groups: Sequence[int], columns: Sequence[str]) -> Any:
        """The rows of some row groups."""
        with self._whole():
            return self._parquet.read_row_groups(groups, columns=list(columns), use_threads=False)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        try:
            yield
        except (arrow().ArrowException, OSError, ValueError) as refused:
            why = f"cannot be read: {str(refused).splitlines()[0]}"
            raise _other(self._table, self._file, why) from None


def filled(rows: Any, columns: Sequence[str]) -> Any:
    """These columns of rows; those that an earlier version did not write say nothing."""
    pa, schema = arrow(), file_schema()
    for name in columns:
        if name in LATER and name not in rows.column_names:
            rows = rows.append_column(name, pa.nulls(rows.num_rows, schema.field(name).type))
    return rows.select(list(columns))


def says_more(table: Path, files: Iterable[File]) -> bool:
    """Whether fragments name their parents or ends: holes do not show all links then."""
    return any(_says_more(opened(table, file)) for file in files)


def _says_more(file: Any) -> bool:
    names = file.schema_arrow.names
    if "attributes" not in names:
        return False
    at = [file.metadata.schema.column(i).path for i in range(len(file.metadata.schema))]
    column = at.index("attributes")
    for group in range(file.num_row_groups):
        chunk = file.metadata.row_group(group).column(column)
        if chunk.statistics is None or chunk.statistics.null_count < chunk.num_values:
            return True
    return False


def _fits(got: Any, must: Any) -> bool:
    """Whether a column may be read as ours: the same, or the same in Arrow's larger types."""
    types = arrow().types
    if types.is_list(must):
        is_list = types.is_list(got) or types.is_large_list(got)
        return is_list and (
            types.is_struct(got.value_type)
            and {f.name for f in got.value_type} >= {f.name for f in must.value_type}
            and all(_fits(got.value_type.field(f.name).type, f.type) for f in must.value_type)
        )
    text, raw = types.is_large_string(got), types.is_large_binary(got)
    return bool(got == must or (text and types.is_string(must)) or (raw and types.is_binary(must)))


_COLUMNS: Final = (
    "the table was changed by something other than xstreamcast, or by another version: restore "
    "the file, or ingest the source into a new table"
)
_AWAY: Final = (
    "if compact --clean ran meanwhile, run the query again; otherwise restore the file from a "
    "copy: the rest of the table is unchanged"
)


def _other(table: Path, file: File, why: str, hint: str = _AWAY) -> Error:
    return error("XSCU0003", f"table {table}: its file {file.path} {why}", hint=hint)


def read_files(table: Path, files: list[File], columns: tuple[str, ...] = FRAGMENT) -> Any:
    """The rows of some files in order of arrival; fragments with their tag."""
    pa = arrow()
    schema = file_schema(columns)
    schema = schema.append(pa.field("tag", pa.int32())) if columns == FRAGMENT else schema
    parts = [_read(table, file, columns, schema) for file in files]
    if not parts:
        return schema.empty_table()
    rows = pa.concat_tables(parts)
    return rows.sort_by([("batch", "ascending"), ("ordinal", "ascending")])


def _read(table: Path, file: File, columns: tuple[str, ...], schema: Any) -> Any:
    pa = arrow()
    rows = filled(opened(table, file, columns).read(columns=list(columns)), columns)
    if columns == FRAGMENT:
        tag = pa.array([file.tag], pa.int32()).take(pa.array([0] * rows.num_rows, pa.int32()))
        rows = rows.append_column("tag", tag)
    return rows.cast(schema)
