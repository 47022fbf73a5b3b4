"""String values of many nodes of one tape, as bytes and as Python strings."""

from __future__ import annotations

import numpy as np

from xstreamcast.tape.layout import I64, U8, U64, Bools, Objects, Tape, frozen_bytes
from xstreamcast.tape.values import string_kernels as k

HOW = {
    "equals": k.EQUALS,
    "contains": k.CONTAINS,
    "starts-with": k.STARTS,
    "ends-with": k.ENDS,
}


def gathered(tape: Tape, rows: I64) -> tuple[U8, I64]:
    """The UTF-8 of the string values end to end, and the offsets of their ends from 0."""
    return k.gather(tape.columns, rows)


def matches(tape: Tape, rows: I64, how: str, constant: bytes) -> Bools:
    """Whether each string value equals, contains, starts with or ends with `constant`."""
    return k.match_constant(tape.columns, rows, frozen_bytes(constant), HOW[how])


def hashes(tape: Tape, rows: I64) -> U64:
    """A hash of each string value: equal strings → equal hashes, however they are written."""
    return k.hash_rows(tape.columns, rows)


def hash_texts(texts: list[str]) -> U64:
    """The hash that a node with the string value `text` has, for each text."""
    coded = [text.encode() for text in texts]
    offsets = np.zeros(len(coded) + 1, np.int64)
    np.cumsum([len(text) for text in coded], out=offsets[1:])
    return k.hash_spans(frozen_bytes(b"".join(coded)), offsets)


def texts(data: U8, offsets: I64) -> Objects:
    """Strings laid end to end, as an object array of `str`."""
    raw, ends = data.tobytes(), offsets.tolist()
    out = np.empty(len(ends) - 1, object)
    if raw.isascii():
        whole = raw.decode("ascii")
        out[:] = [whole[ends[i] : ends[i + 1]] for i in range(len(out))]
    else:
        out[:] = [raw[ends[i] : ends[i + 1]].decode() for i in range(len(out))]
    return out


def rearranged(data: U8, offsets: I64, order: I64) -> tuple[U8, I64]:
    """The strings with string `order[i]` at place i."""
    lengths = np.diff(offsets)[order]
    ends = np.zeros(len(order) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    source = np.repeat(offsets[:-1][order] - ends[:-1], lengths) + np.arange(ends[-1])
    return data[source], ends
