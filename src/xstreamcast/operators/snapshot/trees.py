"""Trees that queries constructed and rows hold: those that are needed, a tape for each tape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.history.forgetting import excerpt
from xstreamcast.operators.snapshot.arrow import Unwritten, arrow
from xstreamcast.tape.layout import Columns, Tape, frozen_bytes

if TYPE_CHECKING:
    from xstreamcast.tape.layout import I64
    from xstreamcast.tape.names import Names

TREES: Final = "constructed"  # of each tape: how many roots, rows and bytes
TREE_ROWS: Final = "constructed.nodes"
_ROOTS: Final = "constructed.roots"  # by tape, then row: where a tree was, and where it is now
_BYTES: Final = "constructed.bytes"


def written_tapes(name: str, tapes: Sequence[Tape]) -> dict[str, Any]:
    """Tapes as tables: NAME of each how many rows and bytes, NAME.nodes, NAME.bytes."""
    pa = arrow()
    for tape in tapes:
        if tape.declared is not None:
            raise Unwritten("an input declares attribute types in a document type")
    parts = [tape.columns for tape in tapes]
    nodes: dict[str, Any] = {
        field: np.concatenate([getattr(one, field) for one in parts]) if parts else []
        for field in Columns._fields[:-1]
    }
    heaps = np.concatenate([one.heap for one in parts]) if parts else np.zeros(0, np.uint8)
    counts = {
        "nodes": pa.array([len(one.kind) for one in parts], pa.int64()),
        "bytes": pa.array([len(one.heap) for one in parts], pa.int64()),
        "source": pa.array([tape.source for tape in tapes], pa.large_string()),
    }
    return {
        name: pa.table(counts),
        f"{name}.nodes": pa.table({field: pa.array(one) for field, one in nodes.items()}),
        f"{name}.bytes": pa.table({"byte": pa.array(heaps)}),
    }


def read_tapes(name: str, tables: Mapping[str, Any], names: Names) -> list[Tape]:
    """The tapes again: parts of arrays that they share."""
    nodes, heap = tables[f"{name}.nodes"], tables[f"{name}.bytes"]["byte"].to_numpy()
    kinds = empty_kinds()
    columns = [np.array(nodes[field].to_numpy(), kinds[field]) for field in kinds]
    heap = np.array(heap, np.uint8)
    counts = tables[name].to_pydict()
    found, row, byte = [], 0, 0
    for n, size, source in zip(counts["nodes"], counts["bytes"], counts["source"], strict=True):
        parts = [column[row : row + n] for column in columns]
        bytes_ = frozen_bytes(heap[byte : byte + size])
        found.append(Tape(Columns._make([*parts, bytes_]), names, source))
        row, byte = row + n, byte + size
    return found


def empty_kinds() -> dict[str, Any]:
    """The types of a tape's columns but for its bytes."""
    from xstreamcast.tape.layout import empty_columns

    made = empty_columns(0, np.zeros(0, np.uint8))
    return {field: getattr(made, field).dtype for field in Columns._fields[:-1]}


def written_trees(needed: Sequence[tuple[Tape, set[int]]]) -> dict[str, Any]:
    """The trees that hold some rows of some tapes."""
    if not needed:
        return {}
    pa, tapes, old, new, counts = arrow(), [], [], [], []
    for tape, rows in needed:
        roots = np.unique(_tops(tape, np.array(sorted(rows), np.int64)))
        made, begin = excerpt(tape, roots)
        tapes.append(made)
        old.append(roots)
        new.append(begin)
        counts.append(len(roots))
    tables = written_tapes(TREES, tapes)
    tables[TREES] = tables[TREES].append_column("roots", pa.array(counts, pa.int64()))
    tables[_ROOTS] = pa.table({"was": np.concatenate(old), "is": np.concatenate(new)})
    return tables


def _tops(tape: Tape, rows: I64) -> I64:
    """The roots of the trees that some rows are in."""
    parent = tape.columns.parent
    while (inside := parent[rows] >= 0).any():
        rows = np.where(inside, parent[rows], rows)
    return rows


def read_trees(tables: Mapping[str, Any], names: Names) -> list[tuple[Tape, Callable[[int], int]]]:
    """The tapes, read back, each with the places that its rows have now."""
    was, now = (tables[_ROOTS][one].to_numpy() for one in ("was", "is"))
    counts = tables[TREES]["roots"].to_pylist()
    bounds = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    found = []
    for number, tape in enumerate(read_tapes(TREES, tables, names)):
        part = slice(int(bounds[number]), int(bounds[number + 1]))
        found.append((tape, _moved(was[part], now[part])))
    return found


def _moved(was: I64, now: I64) -> Callable[[int], int]:
    def moved(row: int) -> int:
        at = int(np.searchsorted(was, row, "right")) - 1
        return int(now[at]) + row - int(was[at])

    return moved
