"""Some rows of the files of a table: of a file only the row groups that have any are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.table.codes import coded
from xstreamcast.edges.table.files import filled, opened
from xstreamcast.edges.table.schema import FRAGMENT, arrow, file_schema
from xstreamcast.edges.table.skeletons import skeletons
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.column import ranges
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.edges.table.files import TableFile
    from xstreamcast.edges.table.log import File
    from xstreamcast.edges.table.values.filtering import ValueFilter
    from xstreamcast.edges.table.values.kept import KeptValues

FEW = 4  # a payload in so many is seen: else all are read, which is as fast
LINKS: Final = tuple(name for name in FRAGMENT if name != "payload")


@dataclass(frozen=True, slots=True, eq=False)
class Picked:
    """Rows of a file, in runs that begin here and end before there.

    `unit`: the unit above each row, if that is one.
    """

    file: File
    begin: np.ndarray[Any, Any]
    end: np.ndarray[Any, Any]
    unit: np.ndarray[Any, Any] | None = None

    @staticmethod
    def of(
        file: File, rows: np.ndarray[Any, Any], unit: np.ndarray[Any, Any] | None = None
    ) -> Picked:
        """Rows in order, each once."""
        cuts = np.flatnonzero(np.diff(rows) != 1) + 1
        first = np.concatenate((np.zeros(1, np.int64), cuts))
        last = np.concatenate((cuts, np.array([len(rows)]))) - 1
        return Picked(file, rows[first], rows[last] + 1, unit)

    def where(self, kept: np.ndarray[Any, Any]) -> Picked:
        """Some of the rows, of which there are any."""
        return Picked.of(
            self.file, self.rows()[kept], None if self.unit is None else self.unit[kept]
        )

    def rows(self) -> np.ndarray[Any, Any]:
        """The rows one by one."""
        return ranges(self.begin, self.end - self.begin)

    def __len__(self) -> int:
        return int((self.end - self.begin).sum())


def latest_rows(table: Path, picked: Sequence[Picked], tags: Collection[int]) -> list[Picked]:
    """Of the rows of these tags, those that none of the same id is later than."""
    mine = [one for one in picked if one.file.tag in tags]
    if not mine:
        return list(picked)
    read = [taken_rows(opened(table, one.file), one, ("id", "valid")) for one in mine]
    own = coded(Ids(1 << 14), (chunk for one in read for chunk in one["id"].chunks))
    valid = np.concatenate([one["valid"].to_numpy() for one in read])
    top = np.full(int(own.max()) + 1, np.iinfo(np.int64).min, np.int64)
    np.maximum.at(top, own, valid)
    last, begin, found = valid == top[own], 0, []
    for one in picked:
        if one.file.tag not in tags:
            found.append(one)
            continue
        kept = last[begin : begin + len(one)]
        begin += len(one)
        found += [one.where(kept)] if kept.any() else []
    return found


def read_picked(
    table: Path, picked: Sequence[Picked], links: Mapping[int, str], *, apart: bool,
    sifting: RowSifting | None = None,
) -> Any:  # fmt: skip
    """These rows with their tags, in order of arrival.

    `links`: tags of whose payloads only the holes are wanted, by the name of their elements.
    `apart`: no id has two tags, so that fragments of one may come before those of another.
    `sifting`: which payloads are seen at all.
    """
    parts = [_read(table, one, links.get(one.file.tag), sifting) for one in picked]
    return in_arrival(parts, [one.file.tag for one in picked], apart=apart)


def in_arrival(parts: Sequence[Any], tags: Sequence[int], *, apart: bool) -> Any:
    """Parts of files of these tags, in order of arrival."""
    pa = arrow()
    if not parts:
        return file_schema(FRAGMENT).append(pa.field("tag", pa.int32())).empty_table()
    rows = pa.concat_tables(parts)
    is_apart = (len(parts) == 1 or apart) and -1 not in tags
    if is_apart and all(_is_in_order(parts, tags, tag) for tag in set(tags)):
        return rows
    return rows.sort_by([("batch", "ascending"), ("ordinal", "ascending")])


def _is_in_order(parts: Sequence[Any], tags: Sequence[int], tag: int) -> bool:
    """Whether the fragments of a tag are in the order in which they came."""
    mine = [part for part, other in zip(parts, tags, strict=True) if other == tag]
    batch = np.concatenate([part["batch"].to_numpy() for part in mine])
    ordinal = np.concatenate([part["ordinal"].to_numpy() for part in mine])
    later = (batch[1:] > batch[:-1]) | ((batch[1:] == batch[:-1]) & (ordinal[1:] > ordinal[:-1]))
    return bool(later.all())


def read_whole(table: Path, files: Sequence[File], sifting: RowSifting) -> Any:
    """All rows of files in order of arrival, with their tags; of payloads, those that are seen."""
    every = [Picked.of(file, np.arange(file.rows)) for file in files if file.rows]
    return read_picked(table, every, {}, apart=False, sifting=sifting)


@dataclass(frozen=True, slots=True)
class RowSifting:
    """Of which rows payloads are seen, by kept values; names of the elements of tags."""

    filter: ValueFilter
    kept: KeptValues
    names: Mapping[int, tuple[str, str]]  # namespace, local part

    def parts(self, one: Picked) -> tuple[Any, Any] | None:
        """The picked rows whose payloads are seen, and the others; None: all, or too many are."""
        seen = self.filter.seen(self.kept, one.file)
        if seen is None or np.count_nonzero(seen) * FEW > len(seen):
            return None
        rows = one.rows()
        return rows[seen[rows]], rows[~seen[rows]]

    def words(self) -> list[str]:
        """In words, of which fragments payloads are read."""
        return [f"payloads read only where kept values allow it: {w}" for w in self.filter.words()]


def _read(table: Path, one: Picked, local: str | None, sifting: RowSifting | None) -> Any:
    file = opened(table, one.file)
    parts = None if sifting is None or local is not None else sifting.parts(one)
    if parts is not None and sifting is not None and len(parts[1]):
        rows = _sifted(file, one, parts, sifting.names[one.file.tag])
    elif local is not None:
        rows = _bare(file, one, ("", local))
    else:
        rows = taken_rows(file, one, FRAGMENT)
    return tagged(rows, one.file.tag)


def tagged(rows: Any, tag: int) -> Any:
    """Rows of a file with their tag."""
    pa = arrow()
    column = pa.array(np.full(rows.num_rows, tag, np.int32))
    return rows.cast(file_schema(FRAGMENT)).append_column("tag", column)


def _bare(file: TableFile, one: Picked, name: tuple[str, str]) -> Any:
    """Rows whose payloads have nothing but their holes."""
    bare = taken_rows(file, one, LINKS)
    if "repeat" in bare["operation"].unique().to_pylist():
        return taken_rows(file, one, FRAGMENT)  # what says something again is known by its payload
    return with_skeletons(bare, name)


def with_skeletons(bare: Any, name: tuple[str, str]) -> Any:
    """Rows without payloads, with one that has nothing but their holes."""
    uri, local = name
    return bare.append_column("payload", skeletons(bare, local, uri)).select(FRAGMENT)


def _sifted(file: TableFile, one: Picked, parts: tuple[Any, Any], name: tuple[str, str]) -> Any:
    """The picked rows in their order, some with their payload."""
    full, bare = parts
    rows = [_bare(file, Picked.of(one.file, bare), name)]
    rows += [taken_rows(file, Picked.of(one.file, full), FRAGMENT)] if len(full) else []
    pa = arrow()
    both = pa.concat_tables([part.cast(file_schema(FRAGMENT)) for part in rows])
    return both.take(pa.array(np.argsort(np.concatenate((bare, full)))))


def taken_rows(file: TableFile, one: Picked, columns: tuple[str, ...]) -> Any:
    """The picked rows of an open file, some columns."""
    pa = arrow()
    sizes = np.array([file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)])
    ends = np.cumsum(sizes)
    begins = ends - sizes
    met = np.zeros(len(sizes) + 1, np.int64)
    np.add.at(met, np.searchsorted(ends, one.begin, side="right"), 1)
    np.add.at(met, np.searchsorted(begins, one.end, side="left"), -1)
    groups = np.flatnonzero(np.cumsum(met[:-1]) > 0)
    found = file.read_row_groups(groups.tolist(), columns)
    found = filled(found, columns)
    # where a row of the file is among the groups that were read
    shift = begins[groups] - (np.cumsum(sizes[groups]) - sizes[groups])
    which = np.searchsorted(begins[groups], one.begin, side="right") - 1
    low, high = one.begin - shift[which], one.end - shift[which]
    if len(low) == 1:
        return found.slice(int(low[0]), int(high[0] - low[0]))
    lengths = one.end - one.begin
    at = np.repeat(low - np.cumsum(lengths) + lengths, lengths) + np.arange(int(lengths.sum()))
    return found.take(pa.array(at))
