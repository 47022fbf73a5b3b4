"""Which elements of the root a range of units may lead to: a range that adds none is not read.

count(//item[location = "Oslo"]/..)   →   once a region has such an item, its others do not matter
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.compared import compared_elements
from xstreamcast.algebra.analysis.places import matches
from xstreamcast.edges.table.values.filtering import cannot_fail
from xstreamcast.model.frozen import dataclass
from xstreamcast.tape.layout import ELEMENT, KIND
from xstreamcast.tape.reading.read import read

if TYPE_CHECKING:
    from xstreamcast.circuit.batch.parts import Distributed
    from xstreamcast.edges.table.unit_index import UnitIndex
    from xstreamcast.edges.table.values.searching import PayloadSearch
    from xstreamcast.model.sequence_type import NodeItem


@dataclass(frozen=True, slots=True)
class StepUp:
    """The step from units to elements of the root, which are counted."""

    axis: str
    test: NodeItem


def step_up(plan: Distributed, search: PayloadSearch | None) -> StepUp | None:
    """The step, if all that a query counts are elements of the root around units that it finds."""
    (part, *others) = plan.parts
    if others or search is None or part.around is None or part.around.below is not None:
        return None
    match plan.programs[0].body:
        case p.Call(_, (p.Step(units, "parent" | "ancestor" as axis, test),)):
            found = compared_elements(units)
        case _:
            return None
    if found is None or (test.kind != "element" and axis == "ancestor"):
        return None
    tags = {tag for tag, name in search.names.items() if matches(found[0], name)}
    return StepUp(axis, test) if tags <= search.units and all(map(cannot_fail, found[1])) else None


class RootElements:
    """The elements of the root by their number in document order; the document is 0."""

    def __init__(self, index: UnitIndex, up: StepUp) -> None:
        tape = read(index.head().payload)
        c = tape.columns
        rows = np.flatnonzero(c.kind & KIND == ELEMENT)
        self._labels, self._at = index.places()
        self._axis = up.axis
        self._start = c.start[rows].astype(np.int64)
        self._end = self._start + c.length[rows]
        self._parent = np.searchsorted(rows, c.parent[rows].astype(np.int64))
        names = [tape.names.qname(name) for name in c.name[rows].tolist()]
        self._passes = np.array([matches(up.test, (uri, local)) for _, local, uri in names])

    def led_to(self, low: int, high: int, labels: frozenset[int] | None) -> set[int]:
        """The numbers of elements that units of a range may lead to."""
        at = self._at[low:high]
        if labels is not None:
            at = at[np.isin(self._labels[low:high], list(labels))]
        if self._axis == "ancestor":
            first = np.searchsorted(at, self._start, side="right")
            last = np.searchsorted(at, self._end, side="left")
            found = np.flatnonzero(self._passes & (first < last))
        else:
            inner: Any = np.searchsorted(self._start, at, side="left") - 1
            while (outside := self._end[inner] <= at).any():
                inner = np.where(outside, self._parent[inner], inner)
            found = np.unique(inner)
            found = found[self._passes[found]]
        return {int(one) + 1 for one in found}
