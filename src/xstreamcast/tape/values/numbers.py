"""The numeric value of text, without a Python string unless a double needs more than 15 digits."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from xstreamcast.tape.layout import F64, I64, U8, Bools, Tape
from xstreamcast.tape.values import number_kernels as k
from xstreamcast.tape.values.string_kernels import gather

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def doubles(tape: Tape, rows: I64) -> tuple[F64, Bools]:
    """xs:double of each string value, and whether it is one; correctly rounded."""
    status, values = k.parse_rows(tape.columns, rows)
    slow = np.flatnonzero(status == k.SLOW)
    if len(slow):
        values[slow] = _by_python(*gather(tape.columns, rows[slow]))
    return values, status != k.INVALID


def doubles_of(data: U8, offsets: I64) -> tuple[F64, Bools]:
    """The same for strings laid end to end in `data`."""
    status, values = k.parse_spans(data, offsets)
    for i in np.flatnonzero(status == k.SLOW):
        values[i] = float(data[offsets[i] : offsets[i + 1]].tobytes())
    return values, status != k.INVALID


def _by_python(data: U8, offsets: I64) -> list[float]:
    ends = offsets.tolist()
    raw = data.tobytes()
    return [float(raw[ends[i] : ends[i + 1]]) for i in range(len(ends) - 1)]
