"""What has been seen in a stream: names inside the fragments of each tag, links between tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.algebra.analysis.guide import Guide, Link, Name, Names
from xstreamcast.model.column import ranges
from xstreamcast.tape.fragments.payload_kernels import SHAPE_BITS, mark_names
from xstreamcast.tape.layout import KIND, NAMESPACE

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.tape.layout import I32, I64

_TAG: Final = 0xFFFFFFFF  # of an id and a tag in one number


def observed(history: History) -> Guide:
    """The guide that the fragments themselves give: exact, whatever the tag structure promised."""
    structure = history.structure
    names = {tsid: (tag.uri, tag.local) for tsid, tag in structure.tags.items()}
    return Guide(
        frozenset({structure.root}),
        names,
        frozenset(tsid for tsid, tag in structure.tags.items() if tag.type != "snapshot"),
        _inner(history),
        _links(history),
        _binding(history),
    )


def _inner(history: History) -> dict[int, frozenset[Name]]:
    f, names = history.fragments, history.store.names
    seen = np.zeros((max(history.structure.tags) + 1, len(names)), np.bool_)
    owners = _owners(history)
    for number in np.unique(f["tape"]).tolist():
        c = history.store.tape(number).columns
        of_tape, skip = f["tape"] == number, np.zeros(len(c.kind), np.bool_)
        skip[history.holes["row"][of_tape[owners]]] = True
        mark_names(c, f["payload"][of_tape], f["tsid"][of_tape], skip, seen)
    return {
        tag: frozenset(names.qname(name)[:0:-1] for name in np.flatnonzero(seen[tag]).tolist())
        for tag in history.structure.tags
    }


def _binding(history: History) -> frozenset[int]:
    """The tags of fragments that bind namespaces in their payload, or get some from around it."""
    f = history.fragments
    binds = f["shape"] >> SHAPE_BITS > 0
    for number in np.unique(f["tape"]).tolist():
        c = history.store.tape(number).columns
        rows = np.flatnonzero(c.kind & KIND == NAMESPACE)
        which = np.flatnonzero((f["tape"] == number) & (f["payload"] >= 0))
        first = f["payload"][which]
        beyond = first + c.size[first] + 1
        binds[which] |= np.searchsorted(rows, first) < np.searchsorted(rows, beyond)
    return frozenset(np.unique(f["tsid"][binds]).tolist())


def _owners(history: History) -> I64:
    """For each hole, the fragment that carries it."""
    counts = np.diff(history.fragments["holes"], prepend=0)
    return np.repeat(np.arange(len(history)), counts)


def _links(history: History) -> dict[int, frozenset[Link]]:
    f, h = history.fragments, history.holes
    content = f["payload"] >= 0
    pairs = _id_and_tag(f["id"][content], f["tsid"][content])
    first = np.searchsorted(pairs, h["id"].astype(np.int64) << 32)
    counts = np.searchsorted(pairs, (h["id"].astype(np.int64) + 1) << 32) - first
    hole = np.repeat(np.arange(len(h)), counts)
    child = pairs[ranges(first, counts)] & _TAG
    owners = _owners(history)
    tag = f["tsid"][owners].astype(np.uint64)[hole]
    mixed = h["path"][hole] ^ tag * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= child.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    found: dict[int, set[Link]] = {}
    for at in np.unique(mixed, return_index=True)[1].tolist():
        path = _path(history, int(owners[hole[at]]), int(h["row"][hole[at]]))
        found.setdefault(int(tag[at]), set()).add(Link(path, int(child[at])))
    for parent, inside in _attached_tags(history):
        found.setdefault(parent, set()).add(Link((), inside))
    return {one: frozenset(links) for one, links in found.items()}


def _attached_tags(history: History) -> list[tuple[int, int]]:
    """The tags of parents and of what is attached to them."""
    if not history.attaches:
        return []
    f = history.fragments
    content = f["payload"] >= 0
    named = content & (f["within"] >= 0)
    tags = _id_and_tag(f["id"][content], f["tsid"][content])
    inside = _id_and_tag(f["within"][named], f["tsid"][named])
    parent = inside >> 32
    first = np.searchsorted(tags, parent << 32)
    counts = np.searchsorted(tags, (parent + 1) << 32) - first
    above, below = tags[ranges(first, counts)] & _TAG, np.repeat(inside & _TAG, counts)
    pairs = np.unique(np.stack((above, below), 1), axis=0)
    return [(one, other) for one, other in pairs.tolist()]


def _id_and_tag(codes: I32, tags: I32) -> I64:
    """Each pair of an id and a tag once: versions of an id may have several tags."""
    pairs: I64 = np.unique(codes.astype(np.int64) << 32 | tags)
    return pairs


def _path(history: History, fragment: int, row: int) -> Names:
    """The names between the root of a payload and a hole in it."""
    f = history.fragments
    tape = history.store.tape(int(f["tape"][fragment]))
    root, above, path = int(f["payload"][fragment]), int(tape.columns.parent[row]), []
    while above != root:
        _, local, uri = tape.names.qname(int(tape.columns.name[above]))
        path.append((uri, local))
        above = int(tape.columns.parent[above])
    return tuple(reversed(path))
