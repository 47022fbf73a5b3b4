"""One node whose rows live for one tick: evaluated over all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.inputs.transient import outer_of
from xstreamcast.operators.relational.tick_rows import (
    TickRows,
    mapped,
    nested,
    numbered,
    of_units,
    sliced,
    united,
)

if TYPE_CHECKING:
    from xstreamcast.operators.feeds.arrived import Tick
    from xstreamcast.operators.relational.tick import Round

# by the identity of a node, rows of other stages by a number below 0: a Delta for each, or TickRows
Deltas = dict[int, Any]


def passed(
    node: c.Node, operator: Any, turn: Round, tick: Tick, deltas: Deltas, fresh: bool
) -> TickRows:
    """The rows of a node in this tick; `by_columns` of its circuit lets no other nodes through."""

    def rows(one: c.Node) -> TickRows:
        found = deltas[id(one)]
        assert isinstance(found, TickRows)
        return found

    match node:
        case c.Units(input=name):
            moves = [tick.everything(name)] if fresh else tick.moves.get(name, ())
            return of_units(node, moves, turn.common_workspace())
        case c.Rows(source=source):
            return mapped(node, rows(source))
        case c.Join(left=left, right=right):
            found: TickRows = operator.look_up(turn, rows(left), deltas[id(right)])
            return found
        case c.Nest(outer=outer, inner=inner):
            return nested(node, rows(outer), [rows(one) for one, _ in inner])
        case c.Number(source=source):
            return numbered(node, _outer(node), rows(source))
        case c.Slice(source=source):
            return sliced(node, _outer(node), rows(source))
        case c.Union(parts=parts, outer=width):
            around = rows(_outer(node)) if width else None
            return united(node, around, [rows(one) for one in parts], turn.common_workspace())
        case _:
            raise AssertionError(f"the rows of {type(node).__name__} are not evaluated together")


def _outer(node: c.Number | c.Slice | c.Union) -> c.Node:
    found = outer_of(node)
    assert found is not None
    return found
