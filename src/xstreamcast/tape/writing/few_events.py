"""Small trees without namespaces, written by Python: a kernel costs more to call than they do.

It writes what the kernels of `builder_kernels` and `copy_kernels` write, row for row, and leaves
all else to them: namespaces, copies of other nodes than elements, and what they refuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.tape.layout import (
    ATTRIBUTE,
    COMMENT,
    DOCUMENT,
    ELEMENT,
    KIND,
    NAMESPACE,
    PI,
    TEXT,
    Columns,
    frozen_bytes,
)
from xstreamcast.tape.writing.builder_kernels import COPY, END

if TYPE_CHECKING:
    from xstreamcast.tape.names import Names
    from xstreamcast.tape.store import Store

MOST_EVENTS: Final = 48
_MOST_ROWS: Final = 96
_ROW: Final = 0xFFFFFFFF
_NO_TEXT: Final = -2


class FewEvents:
    """The rows of one small tape."""

    __slots__ = ("_heap", "_last_text", "_names", "_opened", "_rows", "_store")

    def __init__(self, names: Names, store: Store | None) -> None:
        self._names, self._store = names, store
        # kind, level, name, parent, size, start, length
        self._rows: list[list[int]] = []
        self._heap = bytearray()
        self._opened: list[int] = []
        self._last_text = _NO_TEXT

    def written(
        self,
        ops: Sequence[int],
        names: Sequence[int],
        ends: Sequence[int],
        handles: Sequence[int],
        heap: bytearray,
    ) -> Columns | None:
        """The columns of these events; None if they are for the kernel."""
        before, begin = END, 0
        for op, name, end, handle in zip(ops, names, ends, handles, strict=True):
            if op == END:
                if not self._opened:
                    return None
                self._end()
            elif op == COPY:
                if not self._copied(handle):
                    return None
            elif op == TEXT:
                self._text(heap[begin:end])
            elif not self._fits(op, name, before):
                return None
            elif op in (ELEMENT, DOCUMENT):
                self._put(op, name, -1)
                self._opened.append(len(self._rows) - 1)
            else:
                self._put(op, name, end - begin)
                self._heap += heap[begin:end]
            before, begin = op, end
        return None if self._opened or len(self._rows) > _MOST_ROWS else self._columns()

    def _fits(self, op: int, name: int, before: int) -> bool:
        """Whether an event needs no namespace, and is where it may."""
        if op == ELEMENT:
            return self._names.is_plain(name)
        if op == ATTRIBUTE:
            early = not self._opened or before in (ELEMENT, ATTRIBUTE)
            return early and self._names.is_plain(name)
        return op in (DOCUMENT, COMMENT, PI)

    def _put(self, kind: int, name: int, length: int) -> None:
        opened = self._opened
        above = opened[-1] if opened else -1
        self._rows.append([kind, len(opened), name, above, 0, len(self._heap), length])

    def _end(self) -> None:
        row = self._opened.pop()
        self._rows[row][4] = len(self._rows) - row - 1
        self._last_text = _NO_TEXT

    def _text(self, value: bytearray) -> None:
        """Below an element it joins the text before it, and an empty one is nothing."""
        if self._opened and not value:
            return
        if self._opened and self._last_text == len(self._rows) - 1:
            self._rows[-1][6] += len(value)
        else:
            self._last_text = len(self._rows)
            self._put(TEXT, -1, len(value))
        self._heap += value

    def _copied(self, handle: int) -> bool:
        """A small element of a tree without namespaces."""
        assert self._store is not None
        c, row = self._store.tape(handle >> 32).columns, handle & _ROW
        end = row + int(c.size[row]) + 1
        if end - row > _MOST_ROWS or c.kind[row] & KIND != ELEMENT:
            return False
        part = [column[row:end].tolist() for column in c[:-1]]
        if any(kind & KIND == NAMESPACE for kind in part[0]) or _bound_above(c, row):
            return False
        shift, deeper = len(self._rows) - row, len(self._opened) - part[1][0]
        source = c.heap.data
        for kind, level, name, parent, size, start, length in zip(*part, strict=True):
            used = len(self._heap)
            if kind & KIND == ELEMENT:
                length = -1
            else:
                self._heap += source[start : start + length]
            self._rows.append([kind, level + deeper, name, parent + shift, size, used, length])
        self._rows[shift + row][3] = self._opened[-1] if self._opened else -1
        return True

    def _columns(self) -> Columns:
        kind, level, name, parent, size, start, length = zip(*self._rows, strict=True)
        return Columns(
            np.array(kind, np.uint8),
            np.array(level, np.uint16),
            np.array(name, np.int32),
            np.array(parent, np.int32),
            np.array(size, np.int32),
            np.array(start, np.int64),
            np.array(length, np.int32),
            frozen_bytes(self._heap),
        )


def _bound_above(c: Columns, row: int) -> bool:
    """Whether a namespace is bound on an element around."""
    row = int(c.parent[row])
    while row >= 0:
        if c.size[row] > 0 and c.kind[row + 1] & KIND == NAMESPACE:
            return True
        row = int(c.parent[row])
    return False
