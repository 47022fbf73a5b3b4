"""Python's values as Arrow columns and back: keys, ranks, cells, and all that operators keep.

A column is as plain as its values allow: numbers and texts as they are, tuples of one length as
structs with fields 0, 1, …, others as lists, values of a class as structs with its fields, and
values of several kinds as a dense union. The type of a column says how to read it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from operator import attrgetter
from typing import Any, Final

import numpy as np

from xstreamcast.model.date_time import DateTime
from xstreamcast.model.delta import ArrayValue, MapValue, NodeRef, OwnNode, Row
from xstreamcast.model.duration import Duration
from xstreamcast.model.qname import QName
from xstreamcast.model.rank_bytes import Descending
from xstreamcast.operators.entries import Entry
from xstreamcast.operators.feeds.split import UnitName
from xstreamcast.operators.relational.joins.values import JoinValues
from xstreamcast.operators.snapshot.arrow import Unwritten, arrow

# Classes whose values are structs: their fields, each read by name, given to the class in order.
_FIELDS: Final[dict[type, tuple[str, ...]]] = {
    NodeRef: ("source", "unit", "offset"),
    DateTime: ("day", "nanos", "offset"),
    Duration: ("months", "seconds"),
    QName: ("uri", "local", "prefix"),
    Entry: ("serial", "item"),
    JoinValues: ("atoms", "kinds"),
    Descending: ("key",),
    MapValue: ("keys", "values"),
    ArrayValue: ("members",),
}
_CLASSES: Final[dict[tuple[str, ...], Callable[..., Any]]] = {
    fields: made for made, fields in _FIELDS.items()
}
_ROW: Final = ("row",)  # a row by its number among all rows of the snapshot
# a constructed node by the number of its tape, its row there, and its place in document order
_OWN: Final = ("tree", "at", "place")
_DECIMAL: Final = ("decimal",)
_INTEGER: Final = ("integer",)  # one that 64 bits do not hold, in base 16
_OF_ROWS: Final = 64  # fields of a struct at most; longer tuples are lists


class ColumnWriter:
    """values  →  an Arrow array; rows and constructed nodes are numbered, each once."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}  # numbers by identity
        self.fresh: list[Row] = []  # rows that have a number, and have not been written
        self._held: list[Row] = []  # so that identities stay theirs
        self._tapes: dict[int, int] = {}
        self.trees: list[tuple[Any, set[int]]] = []  # tapes of constructed nodes: rows needed

    def column(self, values: Sequence[Any]) -> Any:
        """The array of some values."""
        pa = arrow()
        kinds = set(map(type, values))
        if UnitName in kinds:
            return self.column([str(one) if type(one) is UnitName else one for one in values])
        if not kinds:
            return pa.nulls(0)
        if len(kinds) == 1:
            return self._of(kinds.pop(), values)
        order = sorted(kinds, key=lambda kind: kind.__name__)
        number = {kind: at for at, kind in enumerate(order)}
        codes = np.fromiter((number[type(value)] for value in values), np.int8, len(values))
        offsets = np.zeros(len(values), np.int32)
        parts = []
        for at, kind in enumerate(order):
            mine = np.flatnonzero(codes == at)
            offsets[mine] = np.arange(len(mine))
            parts.append(self._of(kind, [values[i] for i in mine.tolist()]))
        names = [str(at) for at in range(len(parts))]
        return pa.UnionArray.from_dense(pa.array(codes), pa.array(offsets), parts, names)

    def _of(self, kind: type, values: Sequence[Any]) -> Any:
        """The array of values of one class."""
        pa = arrow()
        plain = {bool: pa.bool_(), float: pa.float64(), bytes: pa.large_binary()}
        if kind is type(None):
            return pa.nulls(len(values))
        if kind in plain:
            return pa.array(values, plain[kind])
        if kind is str:
            return pa.array(values, pa.large_string())
        if kind is int:
            return self._integers(values)
        if kind is tuple or kind is list:
            return self._tuples(values)
        if kind is Row:
            return self._struct(_ROW, [[self._number(row) for row in values]])
        if kind is OwnNode:
            trees, places = [self._tape(one) for one in values], [one.place for one in values]
            return self._struct(_OWN, [trees, _at(values), places])
        if kind is Decimal:
            return self._struct(_DECIMAL, [list(map(str, values))])
        if kind in _FIELDS:
            fields = _FIELDS[kind]
            return self._struct(fields, [list(map(attrgetter(name), values)) for name in fields])
        raise Unwritten(f"the query keeps values of a kind that has no snapshot ({kind.__name__})")

    def _integers(self, values: Sequence[int]) -> Any:
        pa = arrow()
        try:
            return pa.array(values, pa.int64())
        except (OverflowError, pa.ArrowInvalid):
            return self._struct(_INTEGER, [[format(value, "x") for value in values]])

    def _tuples(self, values: Sequence[Sequence[Any]]) -> Any:
        pa = arrow()
        lengths = set(map(len, values))
        if len(lengths) == 1 and 0 < (n := lengths.pop()) <= _OF_ROWS:
            return self._struct([str(at) for at in range(n)], list(zip(*values, strict=True)))
        bounds = np.zeros(len(values) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, values), np.int64, len(values)), out=bounds[1:])
        inner = self.column(list(itertools.chain.from_iterable(values)))
        return pa.LargeListArray.from_arrays(pa.array(bounds), inner)

    def _struct(self, names: Sequence[str], columns: Iterable[Sequence[Any]]) -> Any:
        parts = [self.column(one) for one in columns]
        return arrow().StructArray.from_arrays(parts, names=list(names))

    def _number(self, row: Row) -> int:
        known = self._rows.get(id(row))
        if known is None:
            known = self._rows[id(row)] = len(self._rows)
            self.fresh.append(row)
            self._held.append(row)
        return known

    def _tape(self, node: OwnNode) -> int:
        known = self._tapes.get(id(node.tape))
        if known is None:
            known = self._tapes[id(node.tape)] = len(self.trees)
            self.trees.append((node.tape, set()))
        self.trees[known][1].add(node.row)
        return known


def _at(nodes: Sequence[OwnNode]) -> list[int]:
    return [node.row for node in nodes]


class ColumnReader:
    """An Arrow array  →  its values; rows and constructed nodes by their numbers."""

    def __init__(self, held: frozenset[int] = frozenset()) -> None:
        self.rows: list[Row] = []
        self.node: Callable[..., OwnNode] | None = None
        self._held = held  # inputs whose units are kept while a row holds their names
        self.unit_names: dict[tuple[int, str], UnitName] = {}

    def values(self, array: Any) -> list[Any]:
        """The values of an array, of whichever type the writer gave it."""
        pa = arrow()
        if isinstance(array, pa.ChunkedArray):
            if array.num_chunks == 0:
                return []
            assert array.num_chunks == 1  # as it was written
            array = array.chunk(0)
        kind = array.type
        if pa.types.is_null(kind):
            return [None] * len(array)
        if pa.types.is_struct(kind):
            return self._structs(array)
        if pa.types.is_large_list(kind):
            return self._lists(array)
        if pa.types.is_union(kind):
            return self._mixed(array)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return list(array.to_numpy(zero_copy_only=False).tolist())
        return list(array.to_pylist())

    def _structs(self, array: Any) -> list[Any]:
        names = tuple(field.name for field in array.type)
        parts = [self.values(array.field(at)) for at in range(len(names))]
        match names:
            case ("row",):
                return [self.rows[number] for number in parts[0]]
            case ("tree", "at") | ("tree", "at", "place"):
                assert self.node is not None
                return list(map(self.node, *parts))
            case ("decimal",):
                return list(map(Decimal, parts[0]))
            case ("integer",):
                return [int(text, 16) for text in parts[0]]
            case ("source", "unit", "offset") if self._held:
                return list(map(self._reference, *parts))
            case _:
                made = _CLASSES.get(names)
                return list(zip(*parts, strict=True) if made is None else map(made, *parts))

    def _reference(self, source: int, unit: str, offset: int) -> NodeRef:
        if source not in self._held:
            return NodeRef(source, unit, offset)
        name = self.unit_names.setdefault((source, unit), UnitName(unit))
        return NodeRef(source, name, offset)

    def _lists(self, array: Any) -> list[Any]:
        inner = self.values(array.values)
        bounds = array.offsets.to_numpy().tolist()
        return [tuple(inner[a:b]) for a, b in itertools.pairwise(bounds)]

    def _mixed(self, array: Any) -> list[Any]:
        parts = [self.values(array.field(at)) for at in range(array.type.num_fields)]
        codes, offsets = array.type_codes.to_numpy().tolist(), array.offsets.to_numpy().tolist()
        return [parts[code][at] for code, at in zip(codes, offsets, strict=True)]
