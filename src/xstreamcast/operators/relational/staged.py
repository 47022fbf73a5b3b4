"""A circuit whose stages run in several places: what they hand to each other in a tick.

rows of units, made in any number of places, then the answer  →  what one place would emit
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.stages import stages_of
from xstreamcast.history.forgetting import excerpt
from xstreamcast.model.atomic import NODE
from xstreamcast.model.delta import Cell, Delta, Key, NodeRef, OwnNode, Row, RowDelta
from xstreamcast.operators.kept_units import together
from xstreamcast.operators.relational.advance import Operators
from xstreamcast.operators.relational.emit import Emit
from xstreamcast.operators.relational.reading import UnitReader
from xstreamcast.operators.relational.render import Rendering
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.relational.tick import Round
from xstreamcast.operators.relational.workspace import top_of
from xstreamcast.operators.units import Minis
from xstreamcast.tape.names import Names
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.model.change import Change
    from xstreamcast.operators.arrived import Tick
    from xstreamcast.operators.asking import Asking

Rendered = tuple[Any, tuple[str, ...]]  # the rank of a row, and its items
Unit = tuple[int, str]  # the number of an input, and the key of a unit


@dataclass(slots=True)
class Exchanged:
    """What a tick made of the units of one place: new rows by key, None for those that went.

    Of each node that is read elsewhere, rows; or, where units make the answer, their items.
    `contents` are the units that the rows refer to, None for those that went.
    """

    rows: list[dict[Key, Row | Rendered | None]] = field(default_factory=list)
    contents: dict[Unit, tuple[Any, Minis] | None] = field(default_factory=dict)


class UnitStage(CircuitRun):
    """The first stage of a circuit, over some of the units."""

    def __init__(self, circuit: c.Circuit) -> None:
        super().__init__(circuit)
        stages = stages_of(circuit)
        self._stage, self._exchanged = stages.units, stages.exchanged
        self._renders = isinstance(circuit.root, c.Units)
        self._rendering = Rendering(circuit)
        self._sent: list[dict[Key, None]] = [{} for _ in self._exchanged]
        self._kept: set[Unit] = set()  # units whose content was handed on
        self.found: Exchanged | None = None  # of the last tick; None if an error broke it off

    def on_tick(self, tick: Tick, asking: Asking, instant: int) -> list[Change]:
        """No changes: what was made of units is in `found`."""
        anew, self.found = self._operators is None, None
        operators = self._operators or Operators(self._stage, self.circuit.root)
        self._operators = None
        turn = Round(asking, UnitReader(tick, self.circuit.sources), tick.touched, tick.clock_moved)
        deltas = operators.advance(turn, tick, {})
        self.asked += sum(len(deltas[id(n)]) for n in self._stage if isinstance(n, c.Units))
        made = Exchanged(
            [self._rows(at, deltas[id(n)], anew, turn) for at, n in enumerate(self._exchanged)]
        )
        if not self._renders:
            made.contents = self._contents(made, deltas, turn)
        self._operators, self.found = operators, made
        return []

    def _rows(
        self, at: int, delta: Delta, anew: bool, turn: Round
    ) -> dict[Key, Row | Rendered | None]:
        new = [(key, row) for key, (_, row) in delta.items() if row is not None]
        out: dict[Key, Row | Rendered | None] = {
            key: None for key, (_, row) in delta.items() if row is None
        }
        known = self._sent[at]
        if anew:
            out.update(dict.fromkeys(key for key in known if key not in delta))
        if self._renders:
            items = self._rendering.strings(new, turn)
            out |= {k: (r.rank, tuple(i)) for (k, r), i in zip(new, items, strict=True)}
        else:
            out |= {key: _portable(row) for key, row in new}
        for key, value in out.items():
            if value is None:
                known.pop(key, None)
            else:
                known[key] = None
        return out

    def _contents(
        self, made: Exchanged, deltas: Mapping[int, Delta], turn: Round
    ) -> dict[Unit, tuple[Any, Minis] | None]:
        """The units that rows refer to, as they are now."""
        wanted: dict[int, set[str]] = {}
        for row in (row for rows in made.rows for row in rows.values() if isinstance(row, Row)):
            for cell in row.cells:
                for tag, value in cell:
                    if tag == NODE and type(value) is NodeRef:
                        wanted.setdefault(value.source, set()).add(value.unit)
        gone = {
            (node.source, str(key[0]))
            for node in self._stage
            if isinstance(node, c.Units)
            for key, (_, row) in deltas[id(node)].items()
            if row is None
        }
        for source, unit in turn.dirty & self._kept:
            wanted.setdefault(source, set()).add(unit)
        out: dict[Unit, tuple[Any, Minis] | None] = dict.fromkeys(gone & self._kept)
        for source, keys in wanted.items():
            places = turn.places[source]
            for minis in turn.read(source, keys):
                out |= {(source, unit): (places[unit], one) for unit, one in _single(minis, keys)}
        self._kept = (self._kept - gone) | {unit for unit, one in out.items() if one is not None}
        return out


def _portable(row: Row) -> Row:
    """The row with constructed trees by themselves, without all that was made beside them."""
    if not any(type(v) is OwnNode for cell in row.cells for tag, v in cell if tag == NODE):
        return row
    return Row(row.rank, tuple(map(_own_trees, row.cells)))


def _own_trees(cell: Cell) -> Cell:
    return tuple((t, _own_tree(v)) if type(v) is OwnNode else (t, v) for t, v in cell)


def _own_tree(node: OwnNode) -> OwnNode:
    top = top_of(node.tape, node.row)
    tape, _ = excerpt(node.tape, np.array([top], np.int64))
    store = Store(Names())
    return OwnNode(store.tape(store.add(tape)), node.row - top)


def _single(minis: Minis, keys: set[str]) -> Iterable[tuple[str, Minis]]:
    """Each unit on a tape of its own, with no names but its own."""
    for key, document in zip(minis.keys, minis.documents.tolist(), strict=True):
        if key in keys:
            tape, begin = excerpt(minis.tape, np.array([document], np.int64))
            store = Store(Names())
            yield key, Minis(store.tape(store.add(tape)), begin, (key,))


class AnswerStage:
    """The second stage: takes in what all places made of their units, and emits the answer."""

    def __init__(self, circuit: c.Circuit) -> None:
        self.circuit = circuit
        stages = stages_of(circuit)
        self._stage, self._exchanged = stages.answer, stages.exchanged
        self._emit = Emit(circuit)
        self._operators: Operators | None = None
        self._rows: list[dict[Key, Row]] = [{} for _ in self._exchanged]
        self._contents: dict[int, dict[str, tuple[Any, Minis]]] = {}

    def take(
        self, found: Sequence[Exchanged], asking: Asking, instant: int, clock_moved: bool
    ) -> list[Change]:
        """What the units of all places became → the changes of the answer."""
        merged = [_merged(found, at) for at in range(len(self._exchanged))]
        if isinstance(self.circuit.root, c.Units):
            return self._rendered(merged[0], instant)
        dirty = self._take_contents(found)
        deltas = {
            id(node): self._delta(at, rows)
            for (at, rows), node in zip(enumerate(merged), self._exchanged, strict=True)
        }
        anew = self._operators is None
        if anew:
            deltas = {
                id(node): {key: RowDelta(None, row) for key, row in rows.items()}
                for rows, node in zip(self._rows, self._exchanged, strict=True)
            }
        operators = self._operators or Operators(self._stage, self.circuit.root)
        self._operators = None
        turn = Round(asking, self._read, frozenset(), clock_moved, dirty)
        deltas = operators.advance(turn, None, deltas)
        out = self._emit.apply(turn, deltas[id(self.circuit.root)], instant, anew)
        self._operators = operators
        return out

    def _rendered(self, merged: Mapping[Key, Any], instant: int) -> list[Change]:
        contents: dict[Key, Sequence[str]] = {}
        ranks = {}
        for key, value in merged.items():
            contents[key] = () if value is None else value[1]
            if value is not None:
                ranks[key] = value[0]
        return self._emit.revise(contents, ranks, instant)

    def _delta(self, at: int, rows: Mapping[Key, Any]) -> Delta:
        known, out = self._rows[at], {}
        for key, new in rows.items():
            old = known.pop(key, None)
            if new is not None:
                known[key] = new
            if old is not None or new is not None:
                out[key] = RowDelta(old, new)
        return out

    def _take_contents(self, found: Sequence[Exchanged]) -> set[Unit]:
        dirty: set[Unit] = set()
        for one in found:
            for (source, unit), content in one.contents.items():
                kept = self._contents.setdefault(source, {})
                if content is None:
                    kept.pop(unit, None)
                else:
                    kept[unit] = content
                    dirty.add((source, unit))
        return dirty

    def _read(self, source: int, keys: set[str]) -> list[Minis]:
        """Units in the order of their input."""
        kept = self._contents[source]
        ordered = sorted((kept[key] for key in keys), key=lambda one: one[0])
        store = Store(Names())
        parts = [
            Minis(store.tape(store.add(one.tape)), one.documents, one.keys) for _, one in ordered
        ]
        return [together(parts)] if parts else []

    def retracted(self, instant: int) -> list[Change]:
        """The changes that take all of the answer back."""
        return self._emit.retracted(instant)

    def __len__(self) -> int:
        return len(self._emit)

    @property
    def state_bytes(self) -> int:
        """About what is kept."""
        return self._emit.state_bytes


def _merged(found: Sequence[Exchanged], at: int) -> dict[Key, Any]:
    """Rows of all places; a unit that moved from one to another is where it came."""
    out: dict[Key, Any] = {}
    for one in found:
        for key, value in one.rows[at].items() if one.rows else ():
            if value is not None or key not in out:
                out[key] = value
    return out
