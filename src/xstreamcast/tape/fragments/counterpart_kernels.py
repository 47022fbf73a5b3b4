"""Which element of a view is which element of another view of the same history."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from xstreamcast.kernels.compiled import kernel

U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
U64 = npt.NDArray[np.uint64]


@kernel
def instance_keys(place: I32, parent: I32, link: I32, contents: I64, repeated: I32) -> U64:
    """A number for each occurrence, the same wherever it occurs below the same ones.

    `contents` has a number of the content of each fragment.
    """
    out = np.empty(len(place), np.uint64)
    for i in range(len(place)):
        above = np.uint64(17) if parent[i] < 0 else out[parent[i]]
        number = np.uint64(0) if parent[i] < 0 else np.uint64(repeated[link[i]])
        key = above * np.uint64(0x9E3779B97F4A7C15) + np.uint64(contents[place[i]]) + np.uint64(1)
        key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + number
        out[i] = key ^ (key >> np.uint64(32))
    return out


@kernel
def owners(kind: U8, size: I32, element: int, mask: int, row: I64) -> I64:
    """For each element row: 2^32 times the number of the occurrence that it is part of, plus how
    many elements of that one are before it; -1 for all other rows. `row`: where they begin."""
    out = np.full(len(kind), -1, np.int64)
    met = np.zeros(len(row), np.int64)
    opened, ends = np.empty(len(row) + 1, np.int64), np.empty(len(row) + 1, np.int64)
    depth, fresh = 0, 0
    for r in range(len(kind)):
        while depth and ends[depth - 1] < r:
            depth -= 1
        if fresh < len(row) and row[fresh] == r:
            opened[depth], ends[depth] = fresh, r + np.int64(size[r])
            depth += 1
            fresh += 1
        if depth and kind[r] & mask == element:
            top = opened[depth - 1]
            out[r] = (top << 32) + met[top]
            met[top] += 1
    return out
