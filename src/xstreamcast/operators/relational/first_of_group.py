"""group by where a group counts once: with the rows that it has in the tick in which it appears."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xstreamcast.model.delta import Delta, Key, Row
from xstreamcast.operators.relational.group import GroupOperator

if TYPE_CHECKING:
    from xstreamcast.circuit import nodes as c
    from xstreamcast.operators.relational.tick import Round


class FirstOfGroup:
    """rows that only grow at their end  →  a row for each new group; of known ones the key is kept.

    What a group is in its first tick is what an operator for all of them makes of that tick alone.
    """

    def __init__(self, node: c.Group) -> None:
        self._node = node
        self._known: set[Key] = set()

    def apply(self, turn: Round, deltas: Sequence[Delta]) -> Delta:
        """The groups that appeared."""
        (delta,) = deltas
        if not delta:
            return {}
        made = GroupOperator(self._node)
        rows: dict[Key, Row] = {key: new for key, (_, new) in delta.items() if new is not None}
        names = made.named(rows)
        fresh = {key: delta[key] for key, name in names.items() if name not in self._known}
        self._known.update(names.values())
        return made.apply(turn, [fresh])
