"""Document order of node handles, and removal of duplicates."""

from __future__ import annotations

import numpy as np

from xstreamcast.model import column
from xstreamcast.tape.layout import I64


def distinct(handles: I64) -> I64:
    """Each handle once, in document order."""
    return handles if _ascends(handles) else column.distinct(handles)


def distinct_by_label(labels: I64, handles: I64) -> tuple[I64, I64]:
    """For each label, its handles once and in document order; labels ascend."""
    if len(labels) < 2:
        return labels, handles
    same = labels[1:] == labels[:-1]
    if bool(np.all((labels[1:] > labels[:-1]) | (same & (handles[1:] > handles[:-1])))):
        return labels, handles
    order = np.lexsort((handles, labels))
    labels, handles = labels[order], handles[order]
    keep = np.ones(len(labels), np.bool_)
    keep[1:] = (labels[1:] != labels[:-1]) | (handles[1:] != handles[:-1])
    return labels[keep], handles[keep]


def _ascends(handles: I64) -> bool:
    return bool(np.all(handles[1:] > handles[:-1]))
