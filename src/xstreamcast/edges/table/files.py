"""Parquet files of a table: written from rows in Arrow's columns, one for each stream and tag."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from xstreamcast.edges.table.log import File, place, refused_place
from xstreamcast.edges.table.schema import FRAGMENT, QUARANTINED, REFUSED, WORDS, arrow, file_schema

_GROUP: Final = 64 << 10  # rows of a row group: what a reader may skip by its statistics


def write_rows(table: Path, rows: Any, batch: int) -> tuple[list[File], list[File]]:
    """Write the fragments and the refused among rows → the files, which do not count yet."""
    pa = arrow()
    rows = rows.append_column("batch", pa.array([batch], pa.int64()).take([0] * rows.num_rows))
    files, refused = [], []
    for (stream, tag), part in _parts(_with(rows, WORDS), ("stream", "tag")):
        files.append(write_file(table, place(stream, tag), part, batch, FRAGMENT))
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
    """Write one file, on disk when this returns."""
    parquet = arrow().parquet
    where = table / folder
    where.mkdir(parents=True, exist_ok=True)
    path = where / f"{batch:010}-{secrets.token_hex(6)}.parquet"
    chosen = rows.select(columns).cast(file_schema(columns))
    parquet.write_table(
        chosen, path, compression="zstd", compression_level=1, row_group_size=_GROUP,
        use_dictionary=["operation"], write_statistics=["id", "valid", "batch", "ordinal"],
    )  # fmt: skip
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    return File(f"{folder}/{path.name}", rows.num_rows, path.stat().st_size)


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
    rows = pa.parquet.ParquetFile(table / file.path).read(columns=list(columns))
    if columns == FRAGMENT:
        tag = pa.array([file.tag], pa.int32()).take(pa.array([0] * rows.num_rows, pa.int32()))
        rows = rows.append_column("tag", tag)
    return rows.cast(schema)
