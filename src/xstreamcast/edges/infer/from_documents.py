"""The elements of documents: a summary of all their paths."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from xstreamcast.edges.infer.graph import Element, Graph, merge_equals
from xstreamcast.edges.mapping.form import TimeRule
from xstreamcast.edges.mapping.times import instant_of
from xstreamcast.errors import DataPlace, error
from xstreamcast.model.instant import parse_instant
from xstreamcast.tape.layout import ATTRIBUTE, ELEMENT, I64, KIND, TEXT, Tape
from xstreamcast.tape.names import Names
from xstreamcast.tape.node import Node
from xstreamcast.tape.reading.read import read

_VERSION = re.compile(r"@?(version|revision)", re.IGNORECASE)
_SAMPLED = 40  # values that are sampled to decide whether all are instants


def graph_of_documents(documents: Iterable[tuple[str, bytes]]) -> Graph:
    """What all documents together have; their roots must have one name."""
    names, whole = Names(), Graph(())
    for name, document in documents:
        tape = read(document, names=names, name=name)
        root = _add(whole, tape)
        first = whole.elements.setdefault((), root)
        if first.name != root.name:
            raise error(
                "XSCT0001",
                f"all documents must have the root {first.local}; got {root.local}",
                at=DataPlace(name),
            )
    merge_equals(whole, recursive=True)
    return whole


def _add(graph: Graph, tape: Tape) -> Element:
    """Add the paths of a document, level by level → its root. A key is a path of names."""
    c = tape.columns
    elements = np.flatnonzero(c.kind & KIND == ELEMENT)
    levels = c.level[elements]
    row = int(elements[0])
    root = graph.elements.get(()) or _element(tape, row)
    paths: list[tuple[tuple[str, str], ...]] = [()]
    place = np.zeros(len(tape), np.int64)  # of each element's path in `paths`
    inner = np.bincount(np.maximum(c.parent[elements], 0), minlength=len(tape))
    _note(root, tape, elements[:1], inner)
    graph.elements.setdefault((), root)
    if graph.elements[()].name != _element(tape, row).name:
        return _element(tape, row)
    for level in range(int(levels[0]) + 1, int(levels.max()) + 1):
        rows = elements[levels == level]
        keys = place[c.parent[rows]] << 32 | c.name[rows]
        found, first, where = np.unique(keys, return_index=True, return_inverse=True)
        for at in np.argsort(first).tolist():
            group = rows[where == at]
            paths.append(_path(graph, tape, group, paths[int(found[at]) >> 32], inner))
            place[group] = len(paths) - 1
    return root


def _path(
    graph: Graph, tape: Tape, rows: I64, above: tuple[tuple[str, str], ...], inner: I64
) -> tuple[tuple[str, str], ...]:
    """Note the elements of one path → its key."""
    made = _element(tape, int(rows[0]))
    key = (*above, made.name)
    parents = tape.columns.parent[rows]
    repeats = bool((np.diff(parents) == 0).any())
    siblings = graph.elements[above].children
    siblings[key] = siblings.get(key, False) or repeats
    _note(graph.elements.setdefault(key, made), tape, rows, inner)
    return key


def _element(tape: Tape, row: int) -> Element:
    _, local, uri = tape.names.qname(int(tape.columns.name[row]))
    return Element(uri, local)


def _note(element: Element, tape: Tape, rows: I64, inner: I64) -> None:
    """Note which attributes and leaves hold instants or versions, in the first of these elements;
    `inner`: how many elements each row contains.
    """
    values: dict[str, list[str]] = {}
    c = tape.columns
    first = np.minimum(rows + 1, len(tape) - 1)
    inside = c.parent[first] == rows
    element.attributed |= bool((inside & (c.kind[first] & KIND == ATTRIBUTE)).any())
    wraps = element.wraps is not False and not element.attributed
    element.wraps = wraps and bool((inner[rows] == 1).all())
    for row in rows[:_SAMPLED].tolist():
        for node in [*Node(tape, row).attributes, *_leaves(tape, row)]:
            mark = "@" if tape.columns.kind[node.row] & KIND == ATTRIBUTE else ""
            values.setdefault(mark + node.name.rpartition(":")[2], []).append(node.string)
    for name, texts in values.items():
        if name not in element.times and all(_is_instant(text) for text in texts):
            element.times.append(name)
        if _VERSION.fullmatch(name) and all(map(str.isdigit, texts)):
            element.versioned = element.versioned or name


def _is_instant(text: str) -> bool:
    """Whether it is a time, as XML or mail (and RSS) write it."""
    return parse_instant(text) is not None or (
        text[:1].isalpha() and instant_of(text, TimeRule("")) is not None
    )


def _leaves(tape: Tape, row: int) -> list[Node]:
    """The children that hold nothing but text."""
    c, at, end = tape.columns, row + 1, row + int(tape.columns.size[row])
    out: list[Node] = []
    while at <= end and len(out) < _SAMPLED:
        size = int(c.size[at])
        if c.kind[at] & KIND == ELEMENT and size >= 1 and c.kind[at + size] & KIND == TEXT:
            inner = c.kind[at + 1 : at + size + 1] & KIND
            if not (inner == ELEMENT).any():
                out.append(Node(tape, at))
        at += size + 1
    return out
