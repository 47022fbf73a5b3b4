"""What planning knows of loops over elements of a root."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xstreamcast.circuit.analysis.normal import mentions

if TYPE_CHECKING:
    from xstreamcast.algebra import plan as p
    from xstreamcast.algebra.analysis.cut import NodePlace
    from xstreamcast.circuit import nodes as c
    from xstreamcast.circuit.lifting.relation import Relation


@dataclass(frozen=True, slots=True)
class SpineLoop:
    """A loop over elements of a root: the name of its units, and the relation of its rows."""

    below: str
    path: p.Expression
    place: NodePlace
    name: str
    node: c.Spine


class SpineLoops(ABC):
    """The loops that were met, and what other cases of planning ask of them."""

    def __init__(self) -> None:
        self.loops_over_spines = True
        self._spines: dict[p.Variable, SpineLoop] = {}  # by the variable of the loop
        self._below: dict[str, p.Variable] = {}  # by the name of the units in such an element

    @property
    def has_spines(self) -> bool:
        """Whether a loop over elements of a root was met."""
        return bool(self._below)

    def _reads_element_of(self, plan: p.Plan, relation: Relation) -> bool:
        """Whether a plan reads what is in an element of a root that a row is for."""
        loops = [self._below[name] for name in mentions(plan) if name in self._below]
        return any(self._spines[one].node.element in relation.variables for one in loops)

    @abstractmethod
    def _counted_spine(
        self, plan: p.Expression, call: p.Call
    ) -> tuple[Relation, p.Expression] | None:
        """A count of nodes around the units of a stream."""

    @abstractmethod
    def _over_spine(self, plan: p.Return, outer: Relation) -> p.Return:
        """The plan in which loops over elements of a root are known as such."""

    @abstractmethod
    def _is_spine(self, items: p.Expression) -> bool:
        """Whether a path leads to elements of a root."""

    @abstractmethod
    def _note_spine(self, plan: p.ForEach) -> bool:
        """Note that a loop goes over elements of a root, if it does."""

    @abstractmethod
    def _below_spine(self, plan: Any) -> Any:
        """The plan in which steps down from elements of a root read the units in them."""

    @abstractmethod
    def _spine_rows(self, variable: p.Variable, relation: Relation) -> Relation:
        """A row for each element that a loop goes over."""

    @abstractmethod
    def _within(self, plan: p.Expression, outer: Relation) -> tuple[Relation, p.Expression] | None:
        """What units within the element of a row give."""
