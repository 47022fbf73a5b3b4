"""Rows of units of a table, without the units in which what is searched is not found.

Each row group is searched as it is read: bytes that are not needed are neither kept nor tokenised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.table.files import opened
from xstreamcast.edges.table.picking import (
    LINKS,
    Picked,
    in_arrival,
    read_picked,
    tagged,
    taken_rows,
    with_skeletons,
)
from xstreamcast.edges.table.schema import FRAGMENT, arrow, file_schema
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from xstreamcast.edges.table.files import TableFile
    from xstreamcast.edges.table.values.searching import PayloadSearch


_NONE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class SearchedRows:
    """Rows of a table with their tags; the units above any of them, None for all."""

    rows: Any
    units: Any | None


def read_searched(
    table: Path, picked: Sequence[Picked], links: Mapping[int, str], search: PayloadSearch,
    *, apart: bool,
) -> SearchedRows:  # fmt: skip
    """What `read_picked` reads, but for payloads in which what is searched is not found.

    A unit is left out if none of its versions is found; else the others are elements with nothing
    but their holes.
    """
    units = _dropped(picked, search)
    several = _several(picked, units)
    found = [_searched(table, one, search, units, several, links) for one in picked]
    met = [
        one.unit if part is None else part.units()
        for one, part in zip(picked, found, strict=True)
        if one.file.tag in units
    ]
    seen = np.unique(np.concatenate([_NONE, *met]))
    parts, around = list[Any](), list[Any]()
    for one, part in zip(picked, found, strict=True):
        if part is None:
            rows, unit = read_picked(table, [one], links, apart=apart), one.unit
        else:
            rows, unit = part.rows(seen if one.file.tag in units else None, search)
        parts.append(rows)
        around.append(unit)
    known = not any(unit is None for unit in around)
    return SearchedRows(
        in_arrival(parts, [one.file.tag for one in picked], apart=apart),
        np.concatenate([_NONE, *around]) if known else None,
    )


def _dropped(picked: Sequence[Picked], search: PayloadSearch) -> frozenset[int]:
    """The tags of which units are left out: of all their rows it is known which unit they are."""
    known = all(one.unit is not None for one in picked if one.file.tag in search.units)
    return search.units if known else frozenset()


def _several(picked: Sequence[Picked], tags: frozenset[int]) -> Any:
    """The units of these tags that have several rows."""
    mine = [one.unit for one in picked if one.file.tag in tags and one.unit is not None]
    unit, count = np.unique(np.concatenate([_NONE, *mine]), return_counts=True)
    return unit[count > 1]


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """Of the picked rows of a file: those that are found, and others of which links are read."""

    one: Picked
    full: Any  # rows of the file, by their places among those that are picked
    at: Any
    bare: Any
    bare_at: Any

    def units(self) -> Any:
        """The units that have a row that is found."""
        return _NONE if self.one.unit is None else self.one.unit[self.at]

    def rows(self, seen: Any | None, search: PayloadSearch) -> tuple[Any, Any | None]:
        """The rows to read, in order, and their units; of the others those of units in `seen`."""
        bare, at, unit = self.bare, self.bare_at, self.one.unit
        if seen is not None and unit is not None:
            kept = np.isin(unit[at], seen)
            bare, at = bare.filter(arrow().array(kept)), at[kept]
        tag = self.one.file.tag
        rows, both = self.full, np.concatenate((self.at, at))
        if len(at):
            schema = file_schema(FRAGMENT)
            more = with_skeletons(bare, search.names[tag]).cast(schema)
            rows = arrow().concat_tables([self.full.cast(schema), more])
            rows = rows.take(arrow().array(np.argsort(both)))
        return tagged(rows, tag), None if unit is None else unit[np.sort(both)]


def _searched(
    table: Path, one: Picked, search: PayloadSearch, units: frozenset[int], several: Any,
    links: Mapping[int, str],
) -> _Found | None:  # fmt: skip
    """The rows of a file that are found; None if all are read: payloads show repetitions."""
    if one.file.tag not in search.runs or one.file.tag in links:
        return None
    file, pa = opened(table, one.file), arrow()
    if "repeat" in taken_rows(file, one, ("operation",))["operation"].unique().to_pylist():
        return None
    needed = np.ones(len(one), np.bool_)  # if they are not found
    if one.file.tag in units and one.unit is not None:
        needed = np.isin(one.unit, several)
    full, bare, places, others = list[Any](), list[Any](), list[Any](), list[Any]()
    for first, part in _groups(file, one):
        rows = taken_rows(file, part, FRAGMENT)
        payloads = rows["payload"].combine_chunks()
        seen = search.seen(one.file.tag, payloads)
        rest = ~seen & needed[first : first + len(seen)]
        full.append(rows.filter(pa.array(seen)))
        bare.append(rows.select(LINKS).filter(pa.array(rest)))
        places.append(first + np.flatnonzero(seen))
        others.append(first + np.flatnonzero(rest))
    return _Found(
        one, pa.concat_tables(full), np.concatenate(places), pa.concat_tables(bare),
        np.concatenate(others),
    )  # fmt: skip


def _groups(file: TableFile, one: Picked) -> Iterator[tuple[int, Picked]]:
    """The picked rows of each row group, and how many are before them."""
    sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    rows = one.rows()
    cuts = np.searchsorted(rows, np.cumsum([0, *sizes]))
    for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        if first < last:
            yield first, Picked.of(one.file, rows[first:last])
