"""Nodes as XML, as XSLT and XQuery Serialization 3.1 says for the method xml, without declaration.

An element that is serialised alone carries all namespaces in its scope. Attributes and namespaces,
which that method refuses alone, are written as they are in a tag: `name="value"`.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

from xstreamcast.tape.layout import I64, U8, Tape
from xstreamcast.tape.names import Names
from xstreamcast.tape.writing.serialize_kernels import Spelled, outer_bindings, serialize


def serialize_rows(tape: Tape, rows: I64) -> list[bytes]:
    """The XML of each of `rows`."""
    data, offsets = serialized(tape, rows)
    raw, ends = data.tobytes(), offsets.tolist()
    return [raw[ends[i] : ends[i + 1]] for i in range(len(rows))]


def serialized(tape: Tape, rows: I64) -> tuple[U8, I64]:
    """The XML of `rows` end to end, and the offsets of their ends from 0."""
    t = tape.names.tables
    outer, ends = outer_bindings(tape.columns, t, rows)
    return serialize(tape.columns, t, _spelled(tape.names), rows, outer, ends)


_known: Final[WeakKeyDictionary[Names, Spelled]] = WeakKeyDictionary()


def _spelled(names: Names) -> Spelled:
    """Where the words of each name are: found again when names were added."""
    known = _known.get(names)
    if known is None or len(known[0]) != len(names):
        t = names.tables
        words, uris = t.name_word[: len(names)], t.name_uri[: len(names)]
        known = _known[names] = Spelled(
            t.word_start[words], t.word_length[words], t.word_start[uris], t.word_length[uris]
        )
    return known
