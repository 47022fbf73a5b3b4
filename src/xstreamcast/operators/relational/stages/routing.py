"""Which partitions a row goes to: by its key, the key of its group, or the values that it joins by.

equal keys  →  one partition, in every process
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.circuit import nodes as c
from xstreamcast.model.atomic import DOUBLE, FLOAT, PRIMITIVE
from xstreamcast.operators.relational.groups.names import canonical
from xstreamcast.operators.relational.joins.values import (
    NUMERIC,
    OTHER,
    TYPED_TEXT,
    UNTYPED_TEXT,
    JoinValues,
    key_values,
)

if TYPE_CHECKING:
    from xstreamcast.circuit.stages import Port
    from xstreamcast.model.delta import Key, Row
    from xstreamcast.operators.relational.tick import Round

Partitions = tuple[int, ...]
_EMPTY: Final = 0x9E3779B9


def partition_of(part: Any, partitions: int) -> int:
    """The partition of a part of a key."""
    return _hash(part) % partitions


def _hash(value: Any) -> int:
    """Equal values have equal hashes, numbers of any type too; never that of this process alone."""
    match value:
        case str(text):
            return zlib.crc32(text.encode("utf-8", "surrogatepass"))
        case None:
            return _EMPTY
        case tuple(parts):
            found = len(parts)
            for one in parts:
                found = zlib.crc32(_hash(one).to_bytes(8, "big"), found)
            return found
    try:
        number = float(value)
    except OverflowError:
        number = math.copysign(math.inf, value)
    except (TypeError, ValueError):
        return zlib.crc32(repr(value).encode())
    return 0 if math.isnan(number) else hash(number) & 0xFFFFFFFF


def partitions_of_values(values: JoinValues, partitions: int) -> Partitions:
    """Where a row meets all rows that it may be equal to: everywhere, if that is not known."""
    if values.kinds & OTHER:
        return tuple(range(partitions))
    known = UNTYPED_TEXT | TYPED_TEXT | NUMERIC
    atoms = [value for kind, value in values.atoms if kind & known and value == value]
    return tuple(sorted({partition_of(value, partitions) for value in atoms}))


class StageRouting:
    """rows that changed  →  the partitions of the stage that reads them."""

    def __init__(self, port: Port, partitions: int, own: int) -> None:
        self._port, self._partitions, self._own = port, partitions, own
        reader = port.reader
        columns = port.source.columns
        self._keys = (
            [columns.index(v) for v, _ in reader.keys]
            if isinstance(reader, c.Group | c.Members)
            else []
        )

    def partitions(self, rows: Sequence[tuple[Key, Row]], turn: Round) -> list[Partitions]:
        """Of each row."""
        match self._port.route:
            case "own":
                return [(self._own,)] * len(rows)
            case "first":
                return [(0,)] * len(rows)
            case "all":
                return [tuple(range(self._partitions))] * len(rows)
            case "key":
                return [(partition_of(key[0], self._partitions),) for key, _ in rows]
            case "name":
                return self._by_name([row for _, row in rows])
            case "values":
                return self._by_values(rows, turn)

    def _by_name(self, rows: Sequence[Row]) -> list[Partitions]:
        """By the keys of a group; several values are no key, and an error where groups are made."""
        cells = [[row.cells[at] for row in rows] for at in self._keys]
        parts = [canonical([cell[:1] for cell in column], inexact=True) for column in cells]
        names = zip(*parts, strict=True) if parts else [()] * len(rows)
        return [(partition_of(name, self._partitions),) for name in names]

    def _by_values(self, rows: Sequence[tuple[Key, Row]], turn: Round) -> list[Partitions]:
        reader = self._port.reader
        assert isinstance(reader, c.Join)
        assert reader.key is not None
        plan = reader.key.right if self._port.side else reader.key.left
        found = key_values(plan, self._port.source.columns, rows, turn) if rows else []
        return [partitions_of_values(one, self._partitions) for one in found]

    def is_inexact(self, row: Row) -> bool:
        """Whether a group's key holds a float or double: then all numbers are compared as such."""
        tags = (tag for at in self._keys for tag, _ in row.cells[at])
        return any(PRIMITIVE.get(tag) in (FLOAT, DOUBLE) for tag in tags)
