"""Ids in Arrow's columns as codes: 0, 1, 2 … in the order in which they are met."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from xstreamcast.kernels.intern import Ids


def codes_of(ids: Ids, texts: Any) -> np.ndarray[Any, np.dtype[np.int32]]:
    """The codes of an array of strings."""
    _, offsets, data = texts.buffers()
    if data is None or len(texts) == 0:
        return np.array([ids.code("")] * len(texts), np.int32)
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return ids.codes(np.frombuffer(data, np.uint8), ends[:-1].astype(np.int64), np.diff(ends))


def coded(ids: Ids, arrays: Iterable[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The codes of several arrays, end to end."""
    found = [codes_of(ids, one) for one in arrays]
    return np.concatenate([np.zeros(0, np.int64), *found]).astype(np.int64)
