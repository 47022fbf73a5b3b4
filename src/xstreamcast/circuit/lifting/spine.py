"""Loops over elements of a root fragment: each element is a row, units are nested in theirs.

for $r in stream("s")/site/region return count($r/item)
  →  elements at depth 2, each with the count over the units that are in it

What goes down from such an element reads the stream under another name, which says that only
units within the element of the row are meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import NodePlace, NotDivided, TagCut
from xstreamcast.algebra.analysis.free import counts_positions, facts
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.circuit.analysis.focus import unfocused
from xstreamcast.circuit.analysis.locality import Locality
from xstreamcast.circuit.analysis.normal import input_name, mentions
from xstreamcast.circuit.lifting.around import CountTarget, counted_around
from xstreamcast.circuit.lifting.lifting import Lifting, over
from xstreamcast.circuit.lifting.relation import NotLifted, Relation
from xstreamcast.circuit.lifting.spine_loops import SpineLoop
from xstreamcast.model.sequence_type import NodeItem

_DOWN: Final = frozenset({"child", "descendant", "descendant-or-self"})
_NODE: Final = NodeItem("node")


class LiftSpine(Lifting):
    """Loops over elements around units, and counts of them."""

    def _over_spine(self, plan: p.Return, outer: Relation) -> p.Return:
        """The plan in which loops over elements of a root are known as such."""
        plan = replace(plan, source=self._unfiltered(plan.source))
        found = [one for one in _loops(plan.source) if self._note_spine(one)]
        if not found:
            return plan
        for one in self._driven_loops(plan.source, outer):  # units, with what is around each
            if one in found:
                del self._below[self._spines.pop(one.variable).below]
        below: p.Return = self._below_spine(plan)
        return below

    def _unfiltered(self, plan: Any) -> Any:
        """for $r in path[t]  →  for $r in path where t($r), if the path leads to elements of a root
        and t reads what is in them.
        """
        if isinstance(plan, p.Unit | p.TupleJoin):
            return plan
        plan = replace(plan, source=self._unfiltered(plan.source))
        tests: list[p.Expression] = []
        loop = plan
        while isinstance(loop, p.ForEach) and self._is_chosen_below(loop):
            assert isinstance(loop.items, p.Filter)
            test = unfocused(loop.items.predicate, p.Var(loop.variable), p.Const(()), None)
            if test is None:
                return plan
            tests.append(test)
            loop = replace(loop, items=loop.items.input)
        for test in reversed(tests):
            loop = p.Where(loop, test, span=plan.span)
        return loop

    def _is_chosen_below(self, plan: p.ForEach) -> bool:
        """Whether a loop goes over elements of a root that are chosen by what is in them."""
        match plan.items:
            case p.Filter(input, test, False):
                truth = self._predicate_class(test) == "truth" and not counts_positions(test)
                alone = plan.position is None and not plan.allowing_empty
                return truth and alone and self._is_spine(input) and not self._is_spine(plan.items)
            case _:
                return False

    def _driven_loops(self, plan: p.Tuples, outer: Relation) -> list[p.ForEach]:
        """The loops at the begin of a FLWOR whose tuples are those of each unit."""
        while not isinstance(plan, p.Unit):
            known = isinstance(plan, p.ForEach) and self.is_closed(plan, outer)
            if known and self._driven(plan, tuples=True) is not None:
                return list(_loops(plan))
            plan = plan.left if isinstance(plan, p.TupleJoin) else plan.source
        return []

    def _is_spine(self, items: p.Expression) -> bool:
        """Whether a path leads to elements of a root."""
        if not self.loops_over_spines or self._root_of(items) is not None:
            return False
        return self._spine_at(items) is not None

    def _note_spine(self, plan: p.ForEach) -> bool:
        if plan.variable in self._spines:
            return True
        if plan.variable in self._roots or plan.allowing_empty or not self.loops_over_spines:
            return False
        loop = self._spine_loop(plan.items, plan.variable)
        if loop is not None:
            self._spines[plan.variable] = loop
            self._below[loop.below] = plan.variable
        return loop is not None

    def _spine_loop(self, items: p.Expression, variable: p.Variable) -> SpineLoop | None:
        found = self._spine_at(items)
        if found is None:
            return None
        name, place, depth = found
        node = c.Spine(
            input_name(name), self.sources.index(name), self.fresh("document"),
            self.fresh("element"), depth,
        )  # fmt: skip
        return SpineLoop(f"{name}\x00{variable.number}", items, place, name, node)

    def _spine_at(self, items: p.Expression) -> tuple[str, NodePlace, int] | None:
        """Where a path leads: to elements at one depth of a root, and never inside of units."""
        names = mentions(items)
        if len(names) != 1 or not facts(items).free <= self.globals or not facts(items).pure:
            return None
        (name,) = names
        cut = self.cuts.get(input_name(name))
        if name in self._below or not isinstance(cut, TagCut):
            return None
        walk = Locality(self.program, name, cut)
        try:
            place = walk.drive(items, None)
        except NotDivided:
            return None
        known = isinstance(place.spine, frozenset) and not (place.inside or place.held)
        if not known or walk.others or walk.clock or walk.guards or walk.held:
            return None
        assert isinstance(place.spine, frozenset)
        depth = cut.depth_of(place.spine)
        return None if depth is None else (name, place, depth)

    def _below_spine(self, plan: Any) -> Any:
        """$r/a  →  the path of $r, over the units in it, and then /a"""
        if not facts(plan).used & self._spines.keys():
            return plan

        def put(node: Any) -> Any:
            match node:
                case p.Step(p.Var(variable), axis) if variable in self._spines and axis in _DOWN:
                    loop = self._spines[variable]
                    return replace(node, input=_renamed(loop.path, loop.name, loop.below))
                case _:
                    return node

        return bottom_up(plan, put)

    def _spine_rows(self, variable: p.Variable, relation: Relation) -> Relation:
        """A row for each element that a loop goes over."""
        loop = self._spines[variable]
        path = over(loop.path, loop.name, loop.node.document)
        found = Relation(loop.node).with_clause(
            p.ForEach(p.Unit(), variable, path), (variable,), True
        )
        return self._product(relation, found.placed(variable, {loop.name: loop.place}))

    def _within(self, plan: p.Expression, outer: Relation) -> tuple[Relation, p.Expression] | None:
        """What units within the element of a row give; None if a plan reads anything else."""
        names = mentions(plan)
        if len(names) != 1 or not names <= self._below.keys():
            return None
        (name,) = names
        node = self._spines[self._below[name]].node
        found = self._driven(plan, tuples=False)
        if found is None:
            return None
        left, right = outer.closed(), found.closed()
        if node.element not in left.variables:
            raise NotLifted("an element around units is read where its row is not known")
        made = c.Within(
            left.base, right.base, node.element, node.depth, node.input,
            left.variables + right.variables, left.base.width + 1,
        )  # fmt: skip
        return Relation(made, places={**left.places, **right.places}), p.Var(found.bound[-1])

    def _counted_spine(
        self, plan: p.Expression, call: p.Call
    ) -> tuple[Relation, p.Expression] | None:
        """A count of nodes around the units of a stream; None if it counts anything else."""
        names = mentions(plan)
        if len(names) != 1 or names <= self._below.keys() or not facts(plan).free <= self.globals:
            return None
        (name,) = names
        cut = self.cuts.get(input_name(name))
        if not isinstance(cut, TagCut) or cut.passed:
            return None
        counted = counted_around(call, self.program, name, {name: cut})
        if counted is None or counted.walk.guards or counted.walk.held:
            return None
        below = counted.around.below
        if below is not None and cut.names_spine(below):
            return None
        return self._around_units(counted, name)

    def _around_units(self, counted: CountTarget, name: str) -> tuple[Relation, p.Expression]:
        units, item, each = self._units_of(name), self.fresh("item"), self.fresh("each")
        depths, into = self.fresh("depths"), self.fresh(counted.fold)
        above = called("count", p.Step(p.Var(each), "ancestor", _NODE))
        loop = p.Return(p.ForEach(p.Unit(), each, p.Var(item)), above)
        tuples: p.Tuples = p.Let(p.Unit(), item, over(counted.nodes, name, units.document))
        tuples, below = p.Let(tuples, depths, loop), None
        columns: c.Columns = (depths,)
        test = counted.around.below
        if test is not None:
            below = self.fresh("own"), self.fresh("all")
            for variable, top in zip(below, (item, units.document), strict=True):
                inside = called("count", p.Step(p.Var(top), "descendant", test))
                tuples = p.Let(tuples, variable, inside)
            columns = (depths, *below)
        rows = c.Rows(units, tuples, columns, 1)
        node = c.CountAround(rows, input_name(name), counted.fold, depths, below, (into,))
        return Relation(node), p.Var(into)


def _loops(plan: p.Tuples) -> Iterator[p.ForEach]:
    """The loops of a FLWOR."""
    match plan:
        case p.Unit():
            return
        case p.TupleJoin(left, right):
            yield from _loops(left)
            yield from _loops(right)
        case _:
            yield from _loops(plan.source)
            if isinstance(plan, p.ForEach):
                yield plan


def _renamed(plan: p.Expression, name: str, other: str) -> p.Expression:
    """The plan that reads an input under another name."""

    def put(node: Any) -> Any:
        found = isinstance(node, p.StreamInput) and node.name == name
        return replace(node, name=other) if found else node

    return bottom_up(plan, put)  # type: ignore[no-any-return]
