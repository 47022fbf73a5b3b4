"""Which tags fill the holes of a stream, by the columns of its files alone: no payload is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.edges.table.codes import coded
from xstreamcast.edges.table.files import opened
from xstreamcast.edges.table.schema import arrow
from xstreamcast.kernels.intern import Ids
from xstreamcast.model.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from xstreamcast.edges.table.log import File


@dataclass(frozen=True, slots=True)
class Fillers:
    """(tag of the parent, tag that a hole says, tag of what fills it); None: an id has two tags."""

    ways: frozenset[tuple[int, int, int]] | None


def fillers(table: Path, files: Sequence[File]) -> Fillers:
    """Look at ids and holes of all files of a stream."""
    pa = arrow()
    read = [opened(table, file).read(columns=["id", "operation", "holes"]) for file in files]
    holes = [chunk for one in read for chunk in one["holes"].chunks]
    ids = Ids(1 << 16)
    own = coded(ids, (chunk for one in read for chunk in one["id"].chunks))
    children = coded(ids, (chunk.flatten().field("id") for chunk in holes))
    tags = np.repeat([file.tag for file in files], [one.num_rows for one in read])
    if not _is_one_tag_each(own, tags, len(ids)):
        return Fillers(None)
    there = [pa.compute.not_equal(one["operation"], "remove") for one in read]
    content = np.concatenate([np.zeros(0, np.bool_), *(one.to_numpy() for one in there)])
    tag_of = np.full(len(ids), -1, np.int64)
    tag_of[own[content]] = tags[content]
    counts = [chunk.value_lengths().fill_null(0).to_numpy() for chunk in holes]
    parents = np.repeat(tags, np.concatenate([np.zeros(0, np.int64), *counts]).astype(np.int64))
    labels = [chunk.flatten().field("tag").fill_null(-1).to_numpy() for chunk in holes]
    label = np.concatenate([np.zeros(0, np.int64), *labels]).astype(np.int64)
    return Fillers(_ways(parents, label, tag_of[children]))


def _is_one_tag_each(own: Any, tags: Any, codes: int) -> bool:
    """Whether no id has fragments of two tags: the lifespans of one follow from its own."""
    named = tags >= 0
    last = np.full(codes, -1, np.int64)
    last[own[named]] = tags[named]
    return bool((last[own[named]] == tags[named]).all())


def _ways(parents: Any, labels: Any, children: Any) -> frozenset[tuple[int, int, int]]:
    """All that occur; tags are small numbers, those of holes may be -1."""
    filled = children >= 0
    wide = 1 + max(int(column.max(initial=0)) for column in (parents, labels, children))
    mixed = (parents * (wide + 1) + labels + 1) * wide + children
    found = np.unique(mixed[filled]).tolist()
    pairs = ((*divmod(one // wide, wide + 1), one % wide) for one in found)
    return frozenset((parent, label - 1, child) for parent, label, child in pairs)
