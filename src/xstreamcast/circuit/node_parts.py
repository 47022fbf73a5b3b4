"""Parts of nodes that are no relations: folds, and what rows are sorted by."""

from __future__ import annotations

from dataclasses import dataclass

from xstreamcast.algebra import plan as p
from xstreamcast.circuit.lifting.around import NodesAround


@dataclass(frozen=True, slots=True)
class Fold:
    """A function of the items that a column holds in all rows of a group, in their order.

    call None: the items themselves. The first argument of the call represents the items, the others
    are constants. `around`: nodes around units are counted, each once. `once`: rows that agree in
    these parts of their keys hold the same nodes, which count once, in the order of these parts.
    `different`: the call counts the different values among the items. `deferred`: where the call
    fails, the items are the value: what reads it makes the call again, if anything does.
    """

    call: p.Call | None
    column: p.Variable
    into: p.Variable
    around: NodesAround | None = None
    once: tuple[int, int] | None = None
    different: bool = False
    deferred: bool = False

    @property
    def name(self) -> str:
        """The function's name; `items` for the items themselves."""
        return "items" if self.call is None else self.call.function.local


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column to sort by, with at most one atomic item a row."""

    column: p.Variable
    descending: bool
    empty_greatest: bool
