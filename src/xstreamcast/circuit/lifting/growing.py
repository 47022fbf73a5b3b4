"""What is kept of documents item by item: windows that close for good, nodes around units.

Items of a document only follow each other, so that a window clause over them needs no items but
those of its open windows.
"""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import NotDivided
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.locality import Locality
from xstreamcast.circuit.analysis.normal import input_name, mentions
from xstreamcast.circuit.lifting.around import counted_around
from xstreamcast.circuit.lifting.lifting import Lifting, over
from xstreamcast.circuit.lifting.relation import Relation
from xstreamcast.circuit.windows.windowed import Windowed
from xstreamcast.circuit.windows.windowing import windowed


class LiftGrowing(Lifting):
    """Cases of `items` over documents alone."""

    def _growing_windows(self, plan: p.Expression) -> Relation | None:
        """The windows of a FLWOR over the items of one document; None if it is anything else."""
        names = mentions(plan)
        if not self.growing or len(names) != 1 or not isinstance(plan, p.Return):
            return None
        if not facts(plan).free <= self.globals or not facts(plan).pure:
            return None
        (name,) = names
        cut = self.cuts.get(input_name(name))
        if cut is None:
            return None
        walk = Locality(self.program, name, cut)
        try:
            shape = windowed(plan, walk)
            if shape is None or walk.others or walk.clock:
                return None
            place = walk.value(shape.result, None)
        except NotDivided as why:
            self._why = why.reason, why.span
            return None
        self._note(name, walk)
        units, value = self._units_of(name), self.fresh("value")
        node = c.GrowingWindow(
            units, _over_document(shape, name, units.document), (value,), place.inside
        )
        return Relation(node).placed(value, {name: place} if place.inside else {})

    def _counted_around(
        self, plan: p.Expression, call: p.Call
    ) -> tuple[Relation, p.Expression] | None:
        """A count of nodes that are around units; None if it counts anything else."""
        names = mentions(plan)
        if not self.growing or len(names) != 1:
            return None
        (name,) = names
        cut = self.cuts.get(input_name(name))
        if cut is None or not facts(plan).free <= self.globals:
            return None
        counted = counted_around(call, self.program, name, {name: cut})
        if counted is None:
            return None
        self._note(name, counted.walk)
        units, item, into = self._units_of(name), self.fresh("item"), self.fresh(counted.fold)
        nodes = p.Let(p.Unit(), item, over(counted.nodes, name, units.document))
        rows = c.Rows(units, nodes, (item,), 1)
        fold = c.Fold(call, item, into, counted.around)
        return Relation(c.Nest(self._top.base, ((rows, fold),), (into,), 0)), p.Var(into)


def _over_document(shape: Windowed, name: str, document: p.Variable) -> Windowed:
    """The windows over the items of one piece of the document."""
    items = over(shape.window.items, name, document)
    by = shape.by
    if by is not None:
        by = replace(
            by, values=over(by.values, name, document), source=over(by.source, name, document)
        )
    return replace(shape, window=replace(shape.window, items=items), by=by)
