"""Interned names and ids, with the numbers that they had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.kernels.intern import Ids
from xstreamcast.operators.snapshot.arrow import Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
    from xstreamcast.tape.names import Names


def write_names(to: TableWriter, names: Names) -> None:
    """All words and names; tapes refer to them by number."""
    names._catch_up()
    to.values("words", word=names._texts)
    count, tables = len(names), names.tables
    pairs = {"word": tables.name_word[:count], "uri": tables.name_uri[:count]}
    to.arrays("names", pairs)


def read_names(tables: Mapping[str, Any], names: Names) -> None:
    """Give words and names their numbers again, before anything else is interned."""
    for number, text in enumerate(tables["words"]["word"].to_pylist()):
        if names.word(text) != number:
            raise Unreadable("its names have other numbers here")
    pairs = zip(
        tables["names"]["word"].to_pylist(), tables["names"]["uri"].to_pylist(), strict=True
    )
    for number, pair in enumerate(pairs):
        if names.name(*pair) != number:
            raise Unreadable("its names have other numbers here")


def write_ids(to: TableWriter, name: str, ids: Ids) -> None:
    """The texts of ids in the order of their codes; a length of -1 says that a code is free."""
    heap, length = ids.packed()
    to.arrays(f"{name}.bytes", {"byte": heap})
    to.arrays(f"{name}.lengths", {"length": length})
    to.facts[f"{name}.kept"] = ids.kept


def read_ids(source: TableReader, name: str, ids: Ids) -> None:
    """Give the texts their codes again."""
    heap = source.arrays(f"{name}.bytes")["byte"]
    length = source.arrays(f"{name}.lengths")["length"]
    _read_codes(heap, length, ids)
    ids.kept = source.facts.get(f"{name}.kept", 0)  # older snapshots took none back


def _read_codes(heap: Any, length: Any, ids: Ids) -> None:
    other = Unreadable("its ids have other numbers here")
    if int(np.maximum(length, 0).sum(dtype=np.int64)) != len(heap):
        raise other
    if len(ids) == 0:
        try:
            ids.fill(heap, length)
        except ValueError:
            raise other from None
        return
    # a decoder that interns ids of its own before anything comes: they are the first ones
    start = np.cumsum(length, dtype=np.int64) - length
    codes = ids.codes(np.concatenate((heap, np.zeros(1, np.uint8))), start, length)
    if not np.array_equal(codes, np.arange(len(length))):
        raise other
