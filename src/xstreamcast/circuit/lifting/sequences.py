"""Expressions that are sequences: relations, and what each row gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import NodePlace
from xstreamcast.algebra.analysis.free import counts_positions, facts
from xstreamcast.algebra.analysis.item_kinds import static_type
from xstreamcast.algebra.nodes.static_type import ATOMIC, Kinds
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.circuit.analysis.conditional import branches
from xstreamcast.circuit.analysis.decompose import decomposed
from xstreamcast.circuit.analysis.distinct_nodes import gives_distinct
from xstreamcast.circuit.analysis.focus import unfocused
from xstreamcast.circuit.analysis.over_group import compared_in_group
from xstreamcast.circuit.analysis.positions import positions_of
from xstreamcast.circuit.lifting.compared import merged
from xstreamcast.circuit.lifting.groups import LiftGroups
from xstreamcast.circuit.lifting.relation import FALSE, TRUE, NotLifted, Relation
from xstreamcast.functions.signature import FN

_GIVING: Final = frozenset({"data", "unordered", "distinct-values", "head", "tail", "sort"})


class LiftSequences(LiftGroups):
    """Cases of `items`."""

    def items(self, plan: p.Expression, outer: Relation) -> tuple[Relation, p.Expression]:
        """A relation nested in the outer one, and what each of its rows gives: one after another
        they are the items of the value in the outer row.
        """
        plan = self.over_roots(plan)
        if not self.mentions(plan):
            return outer, plan
        if self._is_chosen(plan) and not self._in_members:
            return self._loop_of_group(plan, outer) or self.extend(plan, outer)
        if isinstance(plan, p.Var):
            return self._rows_of_group(self._members[plan.variable], outer)
        if self._is_shared(plan, outer):
            found = self._driven(plan, tuples=False)
            if found is not None:
                return self._product(outer, found), p.Var(found.bound[-1])
            found = self._growing_windows(plan)
            if found is not None:
                return self._product(outer, found), p.Var(found.variables[-1])
        elif (guarded := self._within_row(plan, outer, tuples=False)) is not None:
            return guarded, p.Var(guarded.bound[-1])
        elif self._below and (within := self._within(plan, outer)) is not None:
            return within
        match plan:
            case p.Return():
                return self._return(plan, outer)
            case p.Comma(parts):
                return self._comma(parts, outer)
            case p.If() if any(map(self.mentions, branches(plan))):
                return self._branched(plan, outer)
            case p.SimpleMap(left) if outer.is_one_row and self._root_of(left) is not None:
                return self._focused(plan, outer)
            case p.Step() | p.Filter() | p.Path() if self._is_spine(plan):
                each = self.fresh("item")
                loop = p.ForEach(p.Unit(), each, plan, span=plan.span)
                return self._return(p.Return(loop, p.Var(each), span=plan.span), outer)
            case p.SimpleMap(left) | p.Filter(left) if self._is_spine(left):
                return self._focused(plan, outer)
            case p.SimpleMap(left, right) if not (counts_positions(right) or self.mentions(right)):
                found, result = self.items(left, outer)
                return found, replace(plan, left=result)
            case p.SimpleMap() | p.Filter():
                return self._focused(plan, outer)
            case p.Path(left, right) if static_type(right).only(ATOMIC):  # nothing is sorted
                return self.items(p.SimpleMap(left, right, span=plan.span), outer)
            case p.Path() if (below := self._below_root(plan)) is not None:
                return self.items(below, outer)
            case p.IntervalProjection() if self._is_projected(plan, outer):
                return self._projected(plan, outer)
            case p.Step(input, "child" | "attribute" | "self") if self._gives_distinct(input):
                found, result = self.items(input, outer)
                return found, replace(plan, input=result)
            case p.Convert(operand, type) if type.occurs == "many":
                found, result = self.items(operand, outer)
                return found, replace(plan, operand=result)
            case p.Call() if gives(plan):
                return self._call(plan, plan.function.local, plan.args, outer)
            case _:
                return self.extend(plan, outer)

    def _return(self, plan: p.Return, outer: Relation) -> tuple[Relation, p.Expression]:
        loop = _only_loop(plan.source)
        if loop is not None:
            self._note_root(loop, outer)
        plan = self._over_spine(self.over_roots(plan), outer)
        apart = {variable: rows.held.apart for variable, rows in self._members.items()}
        careful = self.program.careful
        plan, parts = decomposed(plan, self.fresh, apart, self.batch, careful)
        self.hasty |= any(one.hasty for one in parts.values())
        self._decomposed.update(parts)
        self._kept.append(plan)
        found = self.tuples(plan.source, outer)
        return self.items(plan.result, found)

    def _gives_distinct(self, plan: p.Expression) -> bool:
        """Whether the items of a relation are different nodes in document order."""
        match plan:
            case p.Var(variable) if variable in self._members:
                return self._members[variable].held.apart
            case p.Path() if (below := self._below_root(plan)) is not None:
                return self._gives_distinct(below)
            case p.Return(_, p.Var(variable)) if (found := compared_in_group(plan)) is not None:
                known = found.loop.variable == variable and not found.orders
                return known and self._gives_distinct(found.loop.items)
            case p.Step(input, "child" | "attribute" | "self") | p.Filter(input):
                return gives_distinct(plan) or self._gives_distinct(input)
            case _:
                return gives_distinct(plan)

    def _comma(
        self, parts: tuple[p.Expression, ...], outer: Relation
    ) -> tuple[Relation, p.Expression]:
        whole = outer.closed()
        item = self.fresh("item")
        made = []
        places: dict[str, NodePlace] = {}
        for part in parts:
            found, result = self.items(part, whole)
            found, where = self._let(found, item, result)
            made.append(found.closed())
            places |= where
        columns = (*whole.variables, item)
        node = c.Union(
            tuple(one.base for one in made), whole.base.width, columns, whole.base.width + 1
        )
        return Relation(node, places={**whole.places, **({item: places} if places else {})}), p.Var(
            item
        )

    def _branched(self, plan: p.If, outer: Relation) -> tuple[Relation, p.Expression]:
        """Each branch for the rows that take it; what all rows share is evaluated in any case."""
        before, self._guarded = self._guarded, True
        try:
            return self._comma(_either(plan), outer)
        finally:
            self._guarded = before

    def _focused(
        self, plan: p.SimpleMap | p.Filter, outer: Relation
    ) -> tuple[Relation, p.Expression]:
        """A predicate or a map whose focus is an item of a relation, as a loop."""
        if isinstance(plan, p.Filter):
            plan = merged(plan, frozenset(outer.variables), self._known.around())
            chosen = None if plan.reverse else positions_of(plan.predicate)
            if chosen is not None:
                return self._sliced(plan.input, chosen, outer)
            test = plan.predicate
            truth = self._predicate_class(test) == "truth" and not counts_positions(test)
            alone = not self.mentions(test) and not self._is_spine(plan.input)
            if truth and alone and not self._compares(plan, outer):
                found, result = self.items(plan.input, outer)
                return found, replace(plan, input=result)
            place = self._place(plan)
            if place is not None:
                return self._picked(plan, place, outer)
            if self._predicate_class(plan.predicate) != "truth" or plan.reverse:
                raise NotLifted("a predicate may be a position or a truth value", plan.span)
        source = plan.input if isinstance(plan, p.Filter) else plan.left
        inner = plan.predicate if isinstance(plan, p.Filter) else plan.right
        item, position = self.fresh("item"), self.fresh("position")
        self._known.learn(item, self._known.type_of(source).each())
        size = self.fresh("size") if facts(inner).last else None
        made = unfocused(inner, p.Var(item), p.Var(position), None if size is None else p.Var(size))
        if made is None:
            raise NotLifted("the focus is read in a way that no variable can replace", plan.span)
        counted = position if position in facts(made).free or size is not None else None
        loop: p.Tuples = p.ForEach(p.Unit(), item, source, counted, span=plan.span)
        if isinstance(plan, p.Filter) and counted is None and self._is_spine(source):
            return self.items(p.Return(p.Where(loop, made), p.Var(item)), outer)
        if isinstance(plan, p.Filter) and (
            counted is None or (size is None and self._compares(plan, outer))
        ):
            return self.items(p.Return(self._filtered(loop, made), p.Var(item)), outer)
        each = p.ForEach(p.Unit(), item, source, counted)
        if isinstance(plan, p.SimpleMap):
            self._note_root(each, outer)
        if self._note_spine(each):
            made = self._below_spine(made)
        found = self._loop(each, outer, size)
        if isinstance(plan, p.SimpleMap):
            return self.items(made, found)
        return self.items(p.Return(p.Where(p.Unit(), made), p.Var(item)), found)

    def _place(self, plan: p.Filter) -> p.Expression | None:
        """The positions that a predicate asks for, if they do not depend on the item."""
        if plan.reverse:
            return None
        match plan.predicate:
            case p.GeneralCompare("eq", p.Position(), place) | p.GeneralCompare(
                "eq", place, p.Position()
            ):
                one = False
            case place:
                one = True
        known = static_type(place, self._known.around())
        numbers = known.only(Kinds.NUMERIC) and (known.at_most_one or not one)
        return place if numbers and not facts(place).reads_focus else None

    def _is_projected(self, plan: p.IntervalProjection, outer: Relation) -> bool:
        """Whether items that all rows share are projected to the lifespan of something of a row."""
        if p.projected_before(plan) is not None:  # both intervals count for what is projected first
            return False
        match plan:
            case p.IntervalProjection(
                operand, p.LifespanBound("vtFrom", p.Var(one)), p.LifespanBound("vtTo", p.Var(two))
            ):
                known = one == two and one in outer.variables
                return known and self.is_closed(operand, outer) and not outer.is_one
            case _:
                return False

    def _projected(
        self, plan: p.IntervalProjection, outer: Relation
    ) -> tuple[Relation, p.Expression]:
        """e?[vtFrom($v), vtTo($v)]  →  for $x in e, if it touches the lifespan, $x?[…]"""
        assert isinstance(plan.first, p.LifespanBound)
        left, item = outer.closed(), self.fresh("item")
        found, result = self.items(plan.operand, self._top)
        right = self._each(found, item, result).closed()
        self.checked(plan.first.operand, left)
        node = c.IntervalJoin(
            left.base, right.base, "touches", plan.first.operand, p.Var(item), True,
            left.variables + right.variables, left.base.width + 1, renews=True,
        )  # fmt: skip
        made = Relation(node, places={**left.places, **right.places})
        return made, replace(plan, operand=p.Var(item, span=plan.operand.span))

    def _picked(
        self, plan: p.Filter, at: p.Expression, outer: Relation
    ) -> tuple[Relation, p.Expression]:
        """The items at positions that are computed."""
        if not self.is_closed(at, outer) and self.is_closed(plan.input, outer):
            item, counted = self.fresh("item"), self.fresh("position")
            loop = p.ForEach(p.Unit(), item, plan.input, counted, span=plan.span)
            test = p.GeneralCompare("eq", p.Var(counted), at, span=plan.span)
            return self.items(p.Return(self._filtered(loop, test), p.Var(item)), outer)
        whole = outer.closed()
        found, result = self.items(plan.input, whole)
        item, position = self.fresh("item"), self.fresh("position")
        found = self._each(found, item, result).closed()
        if self.is_closed(at, outer):
            scalars, made = self.extend(at, self._top)
        else:
            scalars, made = self.extend(at, whole)
            if scalars.base.width != whole.base.width or scalars.nested:
                raise NotLifted("a position is computed for each of several rows", plan.span)
        place, _ = self._let(scalars, position, made)
        node = c.Pick(
            found.base, place.closed().base, position, whole.base.width, found.variables,
            found.base.width,
        )  # fmt: skip
        return Relation(node, places=found.places), p.Var(item)

    def _sorted(self, source: p.Expression, outer: Relation) -> tuple[Relation, p.Expression]:
        """sort(e)"""
        whole = outer.closed()
        found, result = self.items(source, whole)
        item, key = self.fresh("item"), self.fresh("order")
        found = self._each(found, item, result)
        found = self._let(found, key, called("data", p.Var(item)))[0].closed()
        node = c.Order(
            found.base, whole.base.width, (c.SortKey(key, False, False),), found.variables,
            found.base.width,
        )  # fmt: skip
        return Relation(node, places=found.places), p.Var(item)

    def _sliced(
        self, source: p.Expression, chosen: tuple[int, int | None], outer: Relation
    ) -> tuple[Relation, p.Expression]:
        """The items at some positions."""
        whole = outer.closed()
        found, result = self.items(source, whole)
        item = self.fresh("item")
        found = self._each(found, item, result).closed()
        node = c.Slice(found.base, whole.base.width, *chosen, found.variables, found.base.width)
        return Relation(node, places=found.places), p.Var(item)

    def _call(
        self, plan: p.Call, local: str, args: tuple[p.Expression, ...], outer: Relation
    ) -> tuple[Relation, p.Expression]:
        """Functions that return items of a relation."""
        match local, args:
            case "data", (one,):
                found, result = self.items(one, outer)
                return found, replace(plan, args=(result,))
            case "unordered", (one,):
                return self.items(one, outer)
            case "distinct-values", (one,):
                return self._distinct(one, outer)
            case "sort", (one,):
                return self._sorted(one, outer)
            case "head", (one,):
                return self._sliced(one, (1, 1), outer)
            case "tail", (one,):
                return self._sliced(one, (2, None), outer)
            case "subsequence", (one, p.Const((first,)), *rest):
                chosen = _subsequence(first, rest)
                assert chosen is not None
                return self._sliced(one, chosen, outer)
            case _:
                raise NotLifted(f"{local} over an input", plan.span)

    def _distinct(self, source: p.Expression, outer: Relation) -> tuple[Relation, p.Expression]:
        whole = outer.closed()
        found, result = self.items(source, whole)
        item, value = self.fresh("item"), self.fresh("value")
        found = self._each(found, item, called("data", result)).closed()
        width, carried = whole.base.width, whole.variables
        node = c.Group(
            found.base, width, ((item, value),), (), carried, (*carried, value), width + 1
        )
        return Relation(node, places=whole.places), p.Var(value)


def _only_loop(plan: p.Tuples) -> p.ForEach | None:
    """The one loop of a FLWOR with nothing behind it that makes more rows, or other ones."""
    while isinstance(plan, p.Let | p.Where):
        plan = plan.source
    return plan if isinstance(plan, p.ForEach) and isinstance(plan.source, p.Unit) else None


def gives(plan: p.Call) -> bool:
    """Whether a function returns items of a relation, so that it is one itself."""
    if plan.function.uri != FN:
        return False
    match plan.function.local, plan.args:
        case "subsequence", (_, p.Const((first,)), *rest):
            return _subsequence(first, rest) is not None
        case local, (_,):
            return local in _GIVING
        case _:
            return False


def _either(plan: p.If) -> tuple[p.Expression, p.Expression]:
    """if (t) then a else b  →  a where t, b where not t"""
    tests = plan.test, p.If(plan.test, FALSE, TRUE)
    results = plan.then, plan.otherwise
    return tuple(  # type: ignore[return-value]
        p.Return(p.Where(p.Unit(), test), result, span=plan.span)
        for test, result in zip(tests, results, strict=True)
    )


def _subsequence(first: p.Atom, rest: list[Any]) -> tuple[int, int | None] | None:
    """The positions that subsequence gives, for integers."""
    begin = _whole_number(first)
    if begin is None:
        return None
    match rest:
        case []:
            return max(1, begin), None
        case [p.Const((atom,))]:
            length = _whole_number(atom)
            return None if length is None else (max(1, begin), begin + length - 1)
        case _:
            return None


def _whole_number(atom: p.Atom) -> int | None:
    value = atom.value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if number and abs(value) < 2**31 and value == int(value) else None
