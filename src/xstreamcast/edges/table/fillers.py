"""Which tags fill the holes of a stream, by the columns of its files alone: no payload is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.edges.table.files import opened
from xstreamcast.edges.table.schema import arrow

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
    ids = pa.concat_arrays(
        [
            *(chunk for one in read for chunk in one["id"].chunks),
            *(chunk.flatten().field("id") for chunk in holes),
            pa.array([], pa.string()),
        ]
    ).dictionary_encode()
    codes = ids.indices.to_numpy().astype(np.int64)
    tags = np.repeat([file.tag for file in files], [one.num_rows for one in read])
    own, children = codes[: len(tags)], codes[len(tags) :]
    if not _is_one_tag_each(own, tags):
        return Fillers(None)
    there = [pa.compute.not_equal(one["operation"], "remove") for one in read]
    content = np.concatenate([np.zeros(0, np.bool_), *(one.to_numpy() for one in there)])
    tag_of = np.full(len(ids.dictionary), -1, np.int64)
    tag_of[own[content]] = tags[content]
    counts = [chunk.value_lengths().fill_null(0).to_numpy() for chunk in holes]
    parents = np.repeat(tags, np.concatenate([np.zeros(0, np.int64), *counts]).astype(np.int64))
    labels = [chunk.flatten().field("tag").fill_null(-1).to_numpy() for chunk in holes]
    label = np.concatenate([np.zeros(0, np.int64), *labels]).astype(np.int64)
    return Fillers(_ways(parents, label, tag_of[children]))


def _is_one_tag_each(own: Any, tags: Any) -> bool:
    """Whether no id has fragments of two tags: then those of one tag tell their lifespans."""
    named = tags >= 0
    pairs = np.unique(own[named] << 32 | tags[named])
    return len(pairs) == len(np.unique(pairs >> 32))


def _ways(parents: Any, labels: Any, children: Any) -> frozenset[tuple[int, int, int]]:
    filled = children >= 0
    found = np.unique(np.stack((parents, labels, children))[:, filled], axis=1)
    return frozenset((int(p), int(label), int(c)) for p, label, c in found.T.tolist())
