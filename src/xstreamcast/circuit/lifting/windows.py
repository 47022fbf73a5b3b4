"""Window clauses: over the items of an input a relation, over values of a row a clause of it."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_variables
from xstreamcast.algebra.analysis.timing import asks_clock
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.group_folds import COUNTED, Decomposed
from xstreamcast.circuit.lifting.lifting import Lifting
from xstreamcast.circuit.lifting.relation import NotLifted, Relation, member

_NO_PARTS = Decomposed((), ())


class LiftWindows(Lifting):
    """The case of `tuples` for windows."""

    def _window(self, plan: p.ForWindow, relation: Relation) -> Relation:
        tests = [b.test for b in (plan.start, plan.end) if b is not None and b.test is not None]
        if any(map(self.mentions, tests)):
            raise NotLifted("a window condition reads an input", plan.span)
        parts = self._decomposed.get(id(plan), _NO_PARTS)
        if not self.mentions(plan.items):
            return self._windows_of_row(plan, parts, relation)
        if asks_clock(replace(plan, items=p.EMPTY)):
            raise NotLifted("a window condition reads the clock", plan.span)
        if plan.kind == "general" or plan.start is None:  # one item more is in half of all windows
            found, items = self._nested(plan.items, None, relation.closed())
            return self._windows_of_row(replace(plan, items=items), parts, found)
        made = self._windows_of_input(plan, parts, relation.closed())
        for test in tests:
            self.checked(test, made)
        return made

    def _windows_of_row(self, plan: p.ForWindow, parts: Decomposed, relation: Relation) -> Relation:
        """Windows over what a row holds."""
        own = bound_variables(replace(plan, source=p.Unit()))
        where = self.places_of(plan.items, relation)
        made = relation.with_clause(replace(plan, source=p.Unit()), own, True)
        for variable in own:
            made = made.placed(variable, where)
        for one in parts.folds:
            made, _ = self._let(made, one.into, one.call)
        return replace(made, clock=True) if asks_clock(plan) else made

    def _windows_of_input(self, plan: p.ForWindow, parts: Decomposed, around: Relation) -> Relation:
        """Windows over items that are rows of their own, with folds over these rows."""
        own = bound_variables(replace(plan, source=p.Unit()))
        found, result = self.items(plan.items, around)
        item = parts.item or self.fresh("item")
        found, folds = self._with_members(self._each(found, item, result), item, parts)
        found = found.closed()
        window = replace(plan, source=p.Unit(), items=p.Var(item))
        into = tuple(fold.into for fold in folds)
        carried = tuple(v for v in found.variables if v in around.variables)
        node = c.Window(
            found.base, around.base.width, item, window, carried, carried + own + into,
            around.base.width + 1, folds,
        )  # fmt: skip
        made = Relation(node, places=around.places)
        for variable in own:
            made = made.placed(variable, found.places.get(item, {}))
        return made

    def _with_members(
        self, found: Relation, item: p.Variable, parts: Decomposed
    ) -> tuple[Relation, tuple[c.Fold, ...]]:
        """The items with what they add to folds; those that count items need nothing more."""
        folds = []
        for one in parts.folds:
            self._known.learn(one.into, self._known.type_of(one.call))
            column = item
            if one.call.function.local not in COUNTED or one.value != p.Var(item):
                column = self.fresh("member")
                found, value = self.extend(one.value, found)
                found, _ = self._let(found, column, member(value, one.call, found))
            folds.append(c.Fold(one.call, column, one.into))
        return found, tuple(folds)
