"""What samples of a feed look like: the paths of elements, and the values at them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.errors import Error
from xstreamcast.tape.layout import ATTRIBUTE, ELEMENT, KIND, NAMESPACE
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading.read import read
from xstreamcast.tape.values.strings import gathered

if TYPE_CHECKING:
    from xstreamcast.tape.layout import Tape

Name = tuple[str, str]  # namespace, local part; an attribute's local part begins with @
Steps = tuple[Name, ...]
_ROWS: Final = 300_000  # of a sample that are looked at
_LONGEST: Final = 200  # characters of a value that may be a key or a time


@dataclass(slots=True)
class SampledPath:
    """The elements at one path: how many, in how many parents, and what they contain."""

    count: int = 0
    most: int = 0  # in one parent
    wraps: bool = True  # each holds one element and nothing else
    documents: set[int] = field(default_factory=set)
    homes: list[int] = field(default_factory=list)  # the document of each element
    values: dict[Steps, list[tuple[int, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )  # by relative path: (which element, value)


@dataclass(slots=True)
class Sample:
    """All documents of the samples together."""

    spots: dict[Steps, SampledPath] = field(default_factory=lambda: defaultdict(SampledPath))
    prefixes: dict[str, str] = field(default_factory=dict)  # namespace → prefix
    documents: int = 0
    unclosed: bool = False  # messages are in a root that has no end


def sampled(inputs: Iterable[tuple[str, bytes]]) -> Sample:
    """What some documents contain, each with the name of its file."""
    sample, names = Sample(), Names()
    for place, data in inputs:
        try:
            tape = read(data, mode="sequence", names=names, name=place)
        except Error as why:
            inside = _inside(data) if why.code == "XSCX0004" else b""
            if not inside:
                raise
            sample.unclosed = True
            tape = read(inside, mode="sequence", names=names)
        _look(tape, sample)
    return sample


def _inside(data: bytes) -> bytes:
    """What is complete in a root that may never close."""
    from xstreamcast.tape.limits import default_limits
    from xstreamcast.tape.reading.units import UnitReading

    tape = UnitReading(1, default_limits(), Names(), None).feed(data)
    if tape is None:
        return b""
    trees = np.flatnonzero(tape.columns.parent < 0).tolist()
    return b"\n".join(tape.serialize(row) for row in trees)


def _look(tape: Tape, sample: Sample) -> None:
    c = tape.columns
    kinds = (c.kind & KIND)[:_ROWS].tolist()
    parents, names = c.parent[:_ROWS].tolist(), c.name[:_ROWS].tolist()
    qname = [tape.names.qname(i) for i in range(len(tape.names))]
    leaves, wraps = _leaves(tape, len(kinds)), _wrapping(tape, len(kinds))
    paths: dict[int, Steps] = {0: ()}
    number: dict[int, int] = {}
    inside: Counter[tuple[int, Steps]] = Counter()
    document = sample.documents - 1
    for row, kind in enumerate(kinds):
        if kind == NAMESPACE:
            prefix, uri = qname[names[row]][1], qname[names[row]][2]
            sample.prefixes.setdefault(uri, prefix)
        if kind not in (ELEMENT, ATTRIBUTE) or parents[row] not in paths:
            continue
        _, local, uri = qname[names[row]]
        above = paths[parents[row]]
        if kind == ELEMENT:
            document += parents[row] == 0
            paths[row] = path = (*above, (uri, local))
            spot = sample.spots[path]
            number[row], spot.count = spot.count, spot.count + 1
            inside[parents[row], path] += 1
            spot.most = max(spot.most, inside[parents[row], path])
            spot.documents.add(document)
            spot.homes.append(document)
            spot.wraps &= wraps[row]
            leaf = (uri, local)
        else:
            leaf = (uri, f"@{local}")
        if row in leaves:
            _note(sample, paths, number, parents, parents[row], (leaf,), leaves[row])
    sample.documents = document + 1


def _note(
    sample: Sample,
    paths: dict[int, Steps],
    number: dict[int, int],
    parents: list[int],
    row: int,
    leaf: Steps,
    value: str,
) -> None:
    """A value belongs to every element around it."""
    while row > 0 and row in number:
        sample.spots[paths[row]].values[leaf].append((number[row], value))
        leaf = (paths[row][-1], *leaf)
        row = parents[row]


def _wrapping(tape: Tape, rows: int) -> list[bool]:
    """For each row whether it has one element below it, and no attribute."""
    c = tape.columns
    kind, parent = (c.kind & KIND)[:rows], c.parent[:rows]
    below = np.bincount(np.maximum(parent[kind == ELEMENT], 0), minlength=rows)
    below[parent[kind == ATTRIBUTE]] = 0
    wraps: list[bool] = (below == 1).tolist()
    return wraps


def _leaves(tape: Tape, rows: int) -> dict[int, str]:
    """The values of attributes and of elements without elements in them, if they are short."""
    c = tape.columns
    kind = (c.kind & KIND)[:rows]
    element = np.flatnonzero(kind == ELEMENT)
    holds = np.zeros(rows, np.bool_)
    up = c.parent[:rows][element]
    holds[up[up >= 0]] = True
    at = np.flatnonzero((kind == ATTRIBUTE) | ((kind == ELEMENT) & ~holds)).astype(np.int64)
    data, offsets = gathered(tape, at)
    raw, ends = data.tobytes(), offsets.tolist()
    return {
        row: raw[a:b].decode().strip()
        for row, a, b in zip(at.tolist(), ends, ends[1:], strict=False)
        if b - a <= _LONGEST
    }
