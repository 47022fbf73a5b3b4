"""The root of a stream cut into ranges of its units, each with a root line that has only those."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra.cut import TagCut
from xstreamcast.edges.table.files import opened, read_files
from xstreamcast.edges.table.schema import arrow
from xstreamcast.edges.table.skeletons import hole_texts
from xstreamcast.edges.table.wire import wire
from xstreamcast.edges.wire.encoder import fragment_line
from xstreamcast.model.instant import show_instant
from xstreamcast.operators.document_feed import Forbidden
from xstreamcast.operators.history_part import Places
from xstreamcast.operators.root import root_of
from xstreamcast.spark.running.units import Table, taken

if TYPE_CHECKING:
    from xstreamcast.edges.table.pruning import Kept
    from xstreamcast.history.history import History

_LINKS = ("id", "operation", "valid", "zoned", "holes")


@dataclass(frozen=True, slots=True)
class Roots:
    """The root for each range of units: the line that has only their holes; ids with ranges."""

    lines: list[bytes]
    ids: Any  # of Arrow
    ranges: np.ndarray[Any, Any]

    def __len__(self) -> int:
        return len(self.lines)


def roots(table: Table, until: int | None, count: int) -> Roots | None:
    """The root as of an instant, once for each of at most `count` ranges of its units.

    None where there is no root; Forbidden where it cannot be cut.
    """
    history = _history(table, frozenset({table.structure.root}), until)
    if len(history) == 0:
        return None
    links = Places(history)
    links.catch_up()
    root = root_of(history, links, TagCut(history.structure))
    if root is None or not root.keys:
        return None
    (code,) = root.codes
    f, h = history.fragments, history.holes
    place = max(links.of(code), key=lambda place: (int(f["valid"][place]), place))
    if f["payload"][place] < 0:
        raise Forbidden("the root was removed")
    first = int(f["holes"][place - 1]) if place else 0
    hole_rows = h["row"][first : int(f["holes"][place])]
    c = history.store.tape(int(f["tape"][place])).columns
    begin = int(c.start[f["payload"][place]])
    payload = bytes(c.heap[begin : begin + int(c.length[f["payload"][place]])])
    starts = c.start[hole_rows].astype(np.int64) - begin
    ends = starts + c.length[hole_rows]
    edges = _edges(len(root.keys), count)
    assert history.ids is not None
    ids = arrow().array([history.ids.text(unit) for _, unit in root.keys])
    valid = show_instant(int(f["valid"][place]), bool(f["flags"][place] & 1))
    lines = [
        fragment_line(
            history.ids.text(code), table.structure.root,
            _trimmed(payload, starts, ends, low, high), valid,
        )
        for low, high in itertools.pairwise(edges)
    ]  # fmt: skip
    return Roots(lines, ids, _numbered(edges))


def _edges(units: int, count: int) -> list[int]:
    """Where ranges of about as many units begin and end."""
    count = max(1, min(count, units))
    found: list[int] = np.linspace(0, units, count + 1).round().astype(np.int64).tolist()
    return found


def _numbered(edges: list[int]) -> np.ndarray[Any, Any]:
    return np.repeat(np.arange(len(edges) - 1), np.diff(edges))


def _trimmed(payload: bytes, starts: Any, ends: Any, low: int, high: int) -> bytes:
    """The payload without the holes that are outside a range."""
    kept = [payload[: int(starts[0])]]
    gaps = [(int(a), int(b)) for a, b in zip(ends[:-1], starts[1:], strict=True)]
    kept += [payload[a:b] for a, b in gaps[:low] if b > a]
    if high > low:
        kept.append(payload[int(starts[low]) : int(ends[high - 1])])
    kept += [payload[a:b] for a, b in gaps[max(high - 1, 0) :] if b > a]
    kept.append(payload[int(ends[-1]) :])
    return b"".join(kept)


def _history(table: Table, tags: frozenset[int], until: int | None) -> History:
    """The fragments of some tags, up to an instant, in a history of their own."""
    found = read_files(table.path, table.state.files_of(table.stream, tags))
    if until is not None:
        pc = arrow().compute
        found = found.filter(pc.less_equal(found["valid"], until))
    return taken(table.stream, table.structure, wire(found))


# -- a root of which nothing is seen but its links -------------------------------------------------


def linked_roots(
    table: Table, until: int | None, count: int, kept: Kept, tags: frozenset[int]
) -> Roots | None:
    """The same from the columns alone, of the units that lead to some tags.

    None where the payload must be looked at.
    """
    if not _is_plain(table, kept):
        return None
    found = _newest(table, until)
    if found is None:
        return None
    pa = arrow()
    name, valid, zoned, holes = found
    labels = holes.field("tag").fill_null(-1).to_numpy(zero_copy_only=False)
    wanted = [one for one in np.unique(labels).tolist() if _leads(one, kept.labels, tags)]
    at = np.flatnonzero(np.isin(labels, wanted))
    holes = holes.take(pa.array(at, pa.int64()))
    ids, texts = holes.field("id"), hole_texts(holes)
    edges = _edges(len(ids), count)
    tag = table.structure[table.structure.root]
    begin, end = f"<{tag.local}>".encode(), f"</{tag.local}>".encode()
    lines = [
        fragment_line(
            name, tag.id, b"".join([begin, _joined(texts.slice(low, high - low)), end]),
            show_instant(valid, zoned),
        )
        for low, high in itertools.pairwise(edges)
    ]  # fmt: skip
    return Roots(lines, ids, _numbered(edges))


def _leads(label: int, labels: Mapping[int, frozenset[int]], tags: frozenset[int]) -> bool:
    return bool(labels.get(label, frozenset()) & tags)


def _joined(texts: Any) -> bytes:
    return "".join(texts.to_pylist()).encode()


def _is_plain(table: Table, kept: Kept) -> bool:
    """Whether all roots hold what their structure says, bind no namespace, and have one version."""
    structure = table.structure
    known = {(structure[t].uri, structure[t].local) for t in TagCut(structure).spine_tags()}
    return (
        structure[structure.root].type == "snapshot"
        and structure.root not in kept.guide.binding
        and kept.guide.inner.get(structure.root, frozenset()) <= known
    )


def _newest(table: Table, until: int | None) -> tuple[str, int, bool, Any] | None:
    """Id, valid time and holes of the root that counts; None where that is not plain to see."""
    pa = arrow()
    pc, root = pa.compute, table.structure.root
    parts = [
        _with_tag(opened(table.path, file).read(columns=list(_LINKS)), file.tag)
        for file in table.state.files_of(table.stream, frozenset({root}))
    ]
    if not parts:
        return None
    rows = pa.concat_tables(parts)
    rows = rows if until is None else rows.filter(pc.less_equal(rows["valid"], until))
    names = rows.filter(pc.equal(rows["tag"], root))["id"].unique()
    if len(names) != 1:
        return None
    rows = rows.filter(pc.equal(rows["id"], names[0]))
    rows = rows.filter(pc.equal(rows["valid"], pc.max(rows["valid"]))).combine_chunks()
    if rows.num_rows != 1 or rows["operation"][0].as_py() == "remove":
        return None
    holes = rows["holes"].chunk(0).flatten()
    if pc.any(pc.equal(holes.field("id"), names[0])).as_py():
        return None
    return names[0].as_py(), rows["valid"][0].as_py(), bool(rows["zoned"][0].as_py()), holes


def _with_tag(rows: Any, tag: int) -> Any:
    return rows.append_column("tag", arrow().array(np.full(rows.num_rows, tag, np.int32)))
