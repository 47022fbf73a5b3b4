"""Content of constructors: sequences of items as text and copied nodes, for every row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.cast import strings
from xstreamcast.model.atomic import FUNCTION, NODE, STRING

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.evaluate.node_writer import NodeWriter
    from xstreamcast.model.column import Column
    from xstreamcast.model.items import Items

Made: TypeAlias = "Callable[[NodeWriter, int], None]"
Part: TypeAlias = Made


class Parts:
    """Parts of some content, written one after the other."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts

    def write(self, writer: NodeWriter, row: int) -> None:
        """All of them for one row."""
        for part in self._parts:
            part(writer, row)


def joined(frame: Frame, column: Column) -> list[str]:
    """The atomised items of each row as strings with single spaces between them."""
    column = atomize(frame.context.store, column)
    texts = _strings(column.items)
    if column.offsets is None:
        return texts
    bounds = column.offsets.tolist()
    return [" ".join(texts[a:b]) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]


def _strings(items: Items) -> list[str]:
    found: list[str] = (items.values if items.tag == STRING else strings(items)).tolist()
    return found


def prepared(frame: Frame, plan: p.Expression, copy: p.CopyMode) -> Part:
    """How the items of an expression are written into content."""
    match plan:
        case p.Const(atoms=(p.Atom(tag, value),)) if tag == STRING:
            return lambda writer, row: writer.text(value)
        case _:
            return _written(frame, evaluate(plan, frame), copy)


def _written(frame: Frame, column: Column, copy: p.CopyMode) -> Part:
    bounds = column.bounds().tolist()
    if column.items.tag == NODE:
        copies = frame.context.store.kinds(column.items.values).tolist()
        handles = column.items.values.tolist()

        def nodes(writer: NodeWriter, row: int) -> None:
            for i in range(bounds[row], bounds[row + 1]):
                writer.node(handles[i], copies[i], copy)

        return nodes
    entries = _entries(frame, column.items)

    def mixed(writer: NodeWriter, row: int) -> None:
        previous = False  # whether an atomic value came just before: a space goes between two
        for i in range(bounds[row], bounds[row + 1]):
            kind, value = entries[i]
            if kind is None:
                writer.text(" " + value if previous else value)
            else:
                writer.node(value, kind, copy)
            previous = kind is None

    return mixed


def _entries(frame: Frame, items: Items) -> list[tuple[int | None, Any]]:
    """(kind, handle) of nodes and (None, text) of atomic values."""
    tags = items.all_tags()
    if (tags == FUNCTION).any():
        raise error("XQTY0105")
    at = np.flatnonzero(tags == NODE)
    if not len(at):
        return [(None, text) for text in _strings(items)]
    nodes = items.values[at].astype(np.int64)
    found: list[tuple[int | None, Any]] = [(None, "")] * len(items)
    for i, kind, node in zip(at.tolist(), frame.context.store.kinds(nodes).tolist(), nodes.tolist(), strict=True):
        found[i] = (kind, node)
    others = np.flatnonzero(tags != NODE)
    for i, text in zip(others.tolist(), _strings(items.take(others)), strict=True):
        found[i] = (None, text)
    return found
