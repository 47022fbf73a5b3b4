"""The tables of a snapshot by name: columns of values, arrays as they are, rows written once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.model.delta import OwnNode, Row
from xstreamcast.operators.feeds.split import UnitName
from xstreamcast.operators.snapshot.arrow import arrow
from xstreamcast.operators.snapshot.trees import (
    TREE_ROWS,
    TREES,
    read_tapes,
    read_trees,
    written_tapes,
    written_trees,
)
from xstreamcast.operators.snapshot.values import ColumnReader, ColumnWriter
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.tape.layout import Tape
    from xstreamcast.tape.names import Names


class TableWriter:
    """Puts tables together; `tables` has them in the order in which they must be read."""

    def __init__(self) -> None:
        self.tables: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}  # what is no column: numbers and words, as JSON has them
        self._columns = ColumnWriter()

    def values(self, name: str, /, **columns: Sequence[Any]) -> None:
        """A table of values; rows that it is the first to hold are written before it."""
        made = {one: self._columns.column(list(values)) for one, values in columns.items()}
        self._write_rows(f"{name}.rows")
        self.tables[name] = arrow().table(made)

    def _write_rows(self, name: str) -> None:
        fresh, self._columns.fresh = self._columns.fresh, []
        if fresh:
            ranks, cells = zip(*fresh, strict=True)
            parts = {"rank": self._columns.column(ranks), "cells": self._columns.column(cells)}
            self.tables[name] = arrow().table(parts)

    def arrays(self, name: str, columns: Mapping[str, Any]) -> None:
        """A table of arrays of one length."""
        pa = arrow()
        self.tables[name] = pa.table({one: pa.array(array) for one, array in columns.items()})

    def blocks(self, name: str, blocks: Sequence[bytes]) -> None:
        """A table of bytes."""
        pa = arrow()
        self.tables[name] = pa.table({"block": pa.array(blocks, pa.large_binary())})

    def table(self, name: str, table: Any) -> None:
        """A table as it is."""
        self.tables[name] = table

    def tapes(self, name: str, tapes: Sequence[Tape]) -> None:
        """Tapes that have the names of the running query."""
        self.tables |= written_tapes(name, tapes)

    @property
    def has_trees(self) -> bool:
        """Whether something refers to nodes that queries constructed."""
        return bool(self._columns.trees)

    def finish(self) -> dict[str, Any]:
        """All tables; trees that queries constructed come first, because others refer to them."""
        trees = written_trees(self._columns.trees)
        return {**trees, **self.tables}


class TableReader:
    """Gives back what was put in."""

    def __init__(
        self, tables: Mapping[str, Any], facts: Mapping[str, Any], names: Names,
        into: Names | None = None,
    ) -> None:  # fmt: skip
        """`names` are those of the tables; constructed trees get the names of `into`, if given."""
        self._tables, self.facts, self._names = tables, facts, names
        self._columns = ColumnReader(frozenset(facts.get("watch", {}).get("held", ())))
        trees = read_trees(tables, names) if TREES in tables and TREE_ROWS in tables else []
        if into is not None:
            store = Store(into)
            trees = [(store.tape(store.add(tape)), moved) for tape, moved in trees]
        self._columns.node = lambda number, row, place=(): OwnNode(
            trees[number][0], trees[number][1](row), place
        )
        for name, table in tables.items():
            if name.endswith(".rows"):
                parts = [self._columns.values(table[one]) for one in ("rank", "cells")]
                self._columns.rows += map(Row, *parts)

    @property
    def unit_names(self) -> Mapping[tuple[int, str], UnitName]:
        """Of inputs whose units are kept while rows refer to them: the names in these rows."""
        return self._columns.unit_names

    def __contains__(self, name: str) -> bool:
        return name in self._tables

    def values(self, name: str, *columns: str) -> list[list[Any]]:
        """Some columns of a table of values."""
        return [self._columns.values(self._tables[name][one]) for one in columns]

    def arrays(self, name: str) -> dict[str, Any]:
        """The columns of a table of arrays, to be written to."""
        table = self._tables[name]
        return {one: np.array(table[one].to_numpy()) for one in table.column_names}

    def blocks(self, name: str) -> list[bytes]:
        """A table of bytes."""
        found: list[bytes] = self._tables[name]["block"].to_pylist()
        return found

    def tapes(self, name: str) -> list[Tape]:
        """Tapes, with the names of the query that is restored."""
        return read_tapes(name, self._tables, self._names)
