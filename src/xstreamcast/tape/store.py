"""The tapes of one evaluation, and what is read of many of their nodes at once.

A node is a handle: tape number << 32 | row. Document order = order of handles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.tape.layout import F64, I32, I64, KIND, U8, U64, Bools, Objects, Tape
from xstreamcast.tape.names import Names
from xstreamcast.tape.namespaces import in_scope_namespaces
from xstreamcast.tape.steps import axes as steps
from xstreamcast.tape.steps.axes import NodeTest
from xstreamcast.tape.values import numbers, strings

if TYPE_CHECKING:
    from xstreamcast.tape.node import Node

_ROW = 0xFFFFFFFF


class Store:
    """Tapes that share their names; nodes are handles."""

    def __init__(self, names: Names | None = None) -> None:
        self._names = names
        self._tapes: list[Tape | None] = []

    def __repr__(self) -> str:
        held = [tape for tape in self._tapes if tape is not None]
        return f"<Store: {len(held)} tapes, {sum(map(len, held))} nodes>"

    @property
    def names(self) -> Names:
        """The names of all its tapes; made when they are first needed, with what compiles them."""
        if self._names is None:
            self._names = Names()
        return self._names

    def add(self, tape: Tape) -> int:
        """Add a tape → its number."""
        self._tapes.append(tape if tape.names is self.names else self._renamed(tape))
        return len(self._tapes) - 1

    def read(self, source: Any, *, mode: str = "document", **options: Any) -> int:
        """Read XML → the handle of its first row: the document node in document mode."""
        from xstreamcast.tape.reading.read import read

        return self.add(read(source, mode=mode, names=self.names, **options)) << 32

    def tape(self, number: int) -> Tape:
        tape = self._tapes[number]
        if tape is None:
            raise LookupError(f"tape {number} was dropped")
        return tape

    def drop(self, number: int) -> None:
        """Forget a tape; its handles become meaningless, its number is not used again."""
        self._tapes[number] = None

    def node(self, handle: int) -> Node:
        """The node, to look at."""
        return self.tape(handle >> 32)[handle & _ROW]

    # --- what a node is -------------------------------------------------------------------

    def kinds(self, handles: I64) -> U8:
        kinds: U8 = self._each(handles, np.uint8, lambda t, rows: t.columns.kind[rows] & KIND)
        return kinds

    def name_ids(self, handles: I64) -> I32:
        ids: I32 = self._each(handles, np.int32, lambda t, rows: t.columns.name[rows])
        return ids

    def levels(self, handles: I64) -> I32:
        levels: I32 = self._each(handles, np.int32, lambda t, rows: t.columns.level[rows])
        return levels

    def sizes(self, handles: I64) -> I32:
        """The number of rows below each node, attributes and namespaces included."""
        sizes: I32 = self._each(handles, np.int32, lambda t, rows: t.columns.size[rows])
        return sizes

    def parents(self, handles: I64) -> I64:
        """The parent of each node, -1 for none."""
        rows: I64 = self._each(handles, np.int64, lambda t, rows: t.columns.parent[rows])
        return np.where(rows < 0, rows, (handles & ~_ROW) | rows)

    def roots(self, handles: I64) -> I64:
        """The root of each node's tree."""

        def climb(tape: Tape, rows: I64) -> I64:
            above = tape.columns.parent[rows]
            while bool((above >= 0).any()):
                rows = np.where(above < 0, rows, above)
                above = tape.columns.parent[rows]
            return rows

        rows: I64 = self._each(handles, np.int64, climb)
        return (handles & ~_ROW) | rows

    def in_scope_namespaces(self, handle: int) -> dict[str, str]:
        """prefix → URI at an element; "" is the default namespace."""
        return in_scope_namespaces(self.tape(int(handle) >> 32), int(handle) & _ROW)

    # --- where it leads -------------------------------------------------------------------

    def step(self, handles: I64, axis: str, test: NodeTest) -> tuple[I64, I64]:
        """(labels, handles): the nodes on `axis` from each handle that pass `test`.

        Labels are places in `handles`, ascending; document order within a label.
        """
        parts = []
        for number, places, rows in self._grouped(handles):
            labels, found = steps.step(self.tape(number), rows, axis, test)
            found = found | (number << 32)
            parts.append((labels if places is None else places[labels], found))
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return handles[:0], handles[:0]
        labels = np.concatenate([part[0] for part in parts])
        order = np.argsort(labels, kind="stable")
        return labels[order], np.concatenate([part[1] for part in parts])[order]

    def descendant_distinct(self, handles: I64, test: NodeTest, own: bool = False) -> I64:
        """The descendants (or selves) of all handles, each once, in document order."""
        parts = [
            steps.descendant_distinct(self.tape(number), rows, test, own) | (number << 32)
            for number, _, rows in self._grouped(handles)
        ]
        return np.concatenate(parts) if parts else handles[:0]

    # --- its value ------------------------------------------------------------------------

    def string_bytes(self, handles: I64) -> tuple[U8, I64]:
        """The UTF-8 of the string values end to end, and the offsets of their ends from 0."""
        parts = [
            (places, *strings.gathered(self.tape(number), rows))
            for number, places, rows in self._grouped(handles)
        ]
        if not parts:
            return np.zeros(0, np.uint8), np.zeros(1, np.int64)
        if parts[0][0] is None:
            return parts[0][1], parts[0][2]
        data = np.concatenate([part[1] for part in parts])
        lengths = np.concatenate([np.diff(part[2]) for part in parts])
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        places = np.concatenate([part[0] for part in parts if part[0] is not None])
        return strings.rearranged(data, offsets, np.argsort(places))

    def strings(self, handles: I64) -> Objects:
        """The string values."""
        return strings.texts(*self.string_bytes(handles))

    def doubles(self, handles: I64) -> tuple[F64, Bools]:
        """xs:double of the string values (NaN if not a number), and whether each is valid."""
        values, valid = np.empty(len(handles)), np.empty(len(handles), np.bool_)
        for number, places, rows in self._grouped(handles):
            at = slice(None) if places is None else places
            values[at], valid[at] = numbers.doubles(self.tape(number), rows)
        return values, valid

    def compare_number(self, handles: I64, op: str, constant: float) -> tuple[Bools, Bools]:
        """Value `op` constant for each node (op: eq ne lt le gt ge), and whether it is a number."""
        values, valid = self.doubles(handles)
        return numbers.COMPARISONS[op](values, constant) & valid, valid

    def equals(self, handles: I64, constant: bytes) -> Bools:
        """String value = constant."""
        return self._matches(handles, "equals", constant)

    def contains(self, handles: I64, constant: bytes) -> Bools:
        return self._matches(handles, "contains", constant)

    def starts_with(self, handles: I64, constant: bytes) -> Bools:
        return self._matches(handles, "starts-with", constant)

    def ends_with(self, handles: I64, constant: bytes) -> Bools:
        return self._matches(handles, "ends-with", constant)

    def hashes(self, handles: I64) -> U64:
        """A hash of each string value; `strings.hash_texts` gives the same for Python strings."""
        hashes: U64 = self._each(handles, np.uint64, strings.hashes)
        return hashes

    # --- as XML ---------------------------------------------------------------------------

    def serialize(self, handle: int) -> bytes:
        """The XML of one node."""
        return self.serialize_all(np.array([handle], np.int64))[0]

    def serialize_all(self, handles: I64) -> list[bytes]:
        """The XML of each node."""
        from xstreamcast.tape.writing.serialize import serialize_rows

        out = np.empty(len(handles), object)
        for number, places, rows in self._grouped(handles):
            at = slice(None) if places is None else places
            out[at] = serialize_rows(self.tape(number), rows)
        return list(out)

    # --------------------------------------------------------------------------------------

    def _matches(self, handles: I64, how: str, constant: bytes) -> Bools:
        def ask(tape: Tape, rows: I64) -> Bools:
            return strings.matches(tape, rows, how, constant)

        found: Bools = self._each(handles, np.bool_, ask)
        return found

    def _each(self, handles: I64, dtype: Any, ask: Callable[[Tape, I64], Any]) -> Any:
        """`ask` for the rows of each tape, the answers put back in the order of `handles`."""
        out = np.empty(len(handles), dtype)
        for number, places, rows in self._grouped(handles):
            out[slice(None) if places is None else places] = ask(self.tape(number), rows)
        return out

    def _grouped(self, handles: I64) -> Iterator[tuple[int, I64 | None, I64]]:
        """(tape number, places in `handles` or None for all, rows) for each tape, ascending."""
        if len(handles) == 0:
            return
        tapes = handles >> 32
        if (tapes == tapes[0]).all():
            yield int(tapes[0]), None, handles & _ROW
            return
        order = np.argsort(tapes, kind="stable")
        cuts = np.flatnonzero(np.diff(tapes[order])) + 1
        for places in np.split(order, cuts):
            yield int(tapes[places[0]]), places, handles[places] & _ROW

    def _renamed(self, tape: Tape) -> Tape:
        """The tape with the ids of this store's names."""
        used, where = np.unique(tape.columns.name, return_inverse=True)
        ids = [-1 if i < 0 else self.names.intern(*tape.names.qname(int(i))) for i in used]
        name = np.array(ids, np.int32)[where]
        return replace(tape, columns=tape.columns._replace(name=name), names=self.names)
