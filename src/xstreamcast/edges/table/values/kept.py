"""Values of one file of a table, in a Parquet file of their own: a row for each row of the file.

Its name has the CRC-32 of its bytes: values that were damaged are those of no file, and payloads
are read then.
"""

from __future__ import annotations

import hashlib
import io
import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.disk import make_folder, put_whole
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.table.values.definitions import FOLDER, ValuePath
from xstreamcast.edges.table.values.extracting import value_schema, values_of

if TYPE_CHECKING:
    from xstreamcast.edges.table.log import File

_GROUP: Final = 1 << 12  # rows of which the statistics may say that none is seen


def keep_values(table: Path, file: File, rows: Any, paths: Sequence[ValuePath]) -> None:
    """Keep the values of the file's rows, in its order, for each path of its stream and tag."""
    for path in paths:
        if (path.stream, path.tag) != (file.stream, file.tag):
            continue
        values = values_of(rows, path)
        if values is None:
            continue
        data = _written(values)
        make_folder(table / FOLDER)
        name = f"{_name(file)}-{path.key}-{zlib.crc32(data):08x}.parquet"
        put_whole(table / FOLDER / name, data, f".{os.getpid()}")


def _written(values: Any) -> memoryview:
    pa = arrow()
    raw = pa.BufferOutputStream()
    pa.parquet.write_table(
        values, raw, compression="zstd", compression_level=1, row_group_size=_GROUP
    )
    return memoryview(raw.getvalue())


def _name(file: File) -> str:
    """Of the path: names of files may repeat in folders."""
    return hashlib.sha256(file.path.encode()).hexdigest()[:20]


class KeptValues:
    """The values that a table has, by file and path, as its folder was listed once."""

    def __init__(self, table: Path) -> None:
        self._table = table
        self._names = _listed(table)

    def of(self, file: File, path: ValuePath) -> Values | None:
        """The values of a file; None if there are none that are whole."""
        name = self._names.get((_name(file), path.key))
        if name is None:
            return None
        try:
            data = (self._table / FOLDER / name).read_bytes()
        except OSError:
            return None
        if f"{zlib.crc32(data):08x}" != name[-16:-8]:
            return None
        found = Values(arrow().parquet.ParquetFile(io.BytesIO(data)))
        return found if len(found) == file.rows else None


def stale_values(table: Path, files: Sequence[File]) -> list[Path]:
    """What is kept of files that are no longer of the table."""
    known = {_name(file) for file in files}
    return [table / FOLDER / name for (own, _), name in _listed(table).items() if own not in known]


def _listed(table: Path) -> Mapping[tuple[str, str], str]:
    folder = table / FOLDER
    names = os.listdir(folder) if folder.is_dir() else []
    cut = [(name.split("-"), name) for name in sorted(names) if name.endswith(".parquet")]
    return {(parts[0], parts[1]): name for parts, name in cut if len(parts) == 3}


class Values:
    """The values of one file."""

    def __init__(self, parquet: Any) -> None:
        self._parquet = parquet
        at = {parquet.metadata.schema.column(i).path: i for i in range(len(value_schema()))}
        self._at = at

    def __len__(self) -> int:
        return int(self._parquet.metadata.num_rows)

    def groups(self) -> list[tuple[int, int]]:
        """Row groups: where each begins and ends."""
        sizes = [
            self._parquet.metadata.row_group(i).num_rows
            for i in range(self._parquet.num_row_groups)
        ]
        ends = np.cumsum(sizes, dtype=np.int64).tolist()
        return [(end - size, end) for size, end in zip(sizes, ends, strict=True)]

    def statistics(self, group: int, column: str) -> Any:
        """What is known of a column of a row group before it is read."""
        return self._parquet.metadata.row_group(group).column(self._at[column]).statistics

    def read(self, groups: Sequence[int], columns: Sequence[str]) -> Any:
        """Columns of some row groups."""
        found = self._parquet.read_row_groups(list(groups), columns=list(columns))
        return found.select(list(columns))
