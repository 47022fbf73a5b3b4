"""Expressions that are values of a row: what they read of inputs becomes columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_variables, counts_positions, facts
from xstreamcast.algebra.analysis.item_kinds import static_type
from xstreamcast.algebra.analysis.timing import asks_clock
from xstreamcast.algebra.nodes.static_type import ATOMIC
from xstreamcast.algebra.walk import descendants, map_children
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.circuit.analysis.conditional import branches, is_conditional, may_fail
from xstreamcast.circuit.analysis.distinct_nodes import gives_distinct, stays_narrow
from xstreamcast.circuit.analysis.focus import unfocused
from xstreamcast.circuit.analysis.group_folds import SUMMARISED, is_fold
from xstreamcast.circuit.analysis.normal import mentions
from xstreamcast.circuit.analysis.over_group import ORDERS
from xstreamcast.circuit.analysis.positions import at_positions
from xstreamcast.circuit.lifting.compared import comparisons, merged
from xstreamcast.circuit.lifting.lifting import Lifting
from xstreamcast.circuit.lifting.relation import FALSE, TRUE, NotLifted, Places, Relation, member
from xstreamcast.circuit.lifting.sequences import gives
from xstreamcast.circuit.node_sources import sources_of
from xstreamcast.functions.call import CODEPOINT

_SEQUENCES: Final = (p.Step, p.Path, p.SimpleMap, p.Filter, p.Return, p.IntervalProjection)
_WALKS: Final = (
    p.Step, p.Path, p.StreamInput, p.IntervalProjection, p.VersionProjection, p.TreeRoot,
    p.SetOperation,
)  # fmt: skip


class LiftValues(Lifting):
    """Cases of `extend`."""

    def extend(self, plan: Any, outer: Relation) -> tuple[Relation, Any]:
        """The relation with more columns, and the expression over them that reads no input."""
        plan = self.over_roots(plan)
        if not self.mentions(plan):
            return outer, plan
        if not self._in_members and self._is_chosen(plan):
            return self._of_group(plan, outer)
        if not self._in_members and is_fold(plan) and self._folds_rows(plan):
            return self._of_group(plan.args[0], outer, plan)
        if isinstance(plan, p.Var):
            raise NotLifted("the rows of a group are read together", plan.span)
        if self._is_shared(plan, outer):
            variable, node, places = self._scalar(plan)
            return outer.with_scalars({variable: node}).placed(variable, places), p.Var(variable)
        match plan:
            case p.Quantified(kind, source, test):
                return self._quantified(plan, kind == "some", source, test, outer)
            case p.GeneralCompare() if self._is_searched(plan):
                return self._searched(plan, outer)
            case p.Call(_, (argument, *_)) if is_fold(plan):
                return self._nested(argument, plan, outer)
            case p.Comma() if self.growing:  # streams have snapshots of the nested relation
                return self._children(plan, outer)
            case p.Return() | p.SimpleMap() | p.Filter() | p.Comma():
                return self._nested(plan, None, outer)
            case p.Call() if (chosen := at_positions(plan, self._known)) is not None:
                return self._nested(chosen, None, outer)
            case p.Step() | p.Path() if mentions(plan) & self._below.keys():
                return self._nested_once(plan, outer)
            case p.Call() if gives(plan):
                return self._nested(plan, None, outer)
            case p.UserCall() | p.UserRef() | p.Partial() | p.Inline() | p.Try():
                raise NotLifted("a function or try reads an input for each row", plan.span)
            case _ if is_conditional(plan):
                return self._conditional(plan, outer)
            case _:
                return self._children(plan, outer)

    def _folds_rows(self, plan: p.Call) -> bool:
        """Whether a fold goes over rows of a group that are chosen."""
        return any(
            isinstance(node, p.Return | p.Filter | p.Call) and self._is_chosen(node)
            for node in descendants(plan.args[0])
        )

    def _nested_once(self, plan: p.Expression, outer: Relation) -> tuple[Relation, p.Expression]:
        """What is below an element of a root as a column, if it is a relation."""
        if plan in self._making:  # it came back to itself: nothing took it apart
            raise NotLifted(*(self._why or ("it reads all of the input", plan.span)))
        self._making.append(plan)
        try:
            return self._nested(plan, None, outer)
        finally:
            self._making.pop()

    def _children(self, plan: Any, outer: Relation) -> tuple[Relation, Any]:
        """Each operand that reads an input as a column."""
        relation = outer
        if isinstance(plan, p.StreamInput):
            raise NotLifted(*(self._why or ("it reads all of the input", plan.span)))
        inner = plan.right if isinstance(plan, p.Path | p.SimpleMap) else None
        inner = plan.predicate if isinstance(plan, p.Filter) else inner
        projected = p.projected_before(plan)
        if inner is not None and self.mentions(inner):
            raise NotLifted("it reads an input for each item", plan.span)

        def one(child: Any) -> Any:
            nonlocal relation
            if child is inner:
                return child
            # the attributes of a constructor are parts of it, not values
            part = isinstance(child, p.MakeAttribute | p.MakeNamespace)
            # and so is what a projection projects again, in one with it
            part = part or child is projected
            relation, made = (self._children if part else self.extend)(child, relation)
            return made

        made = map_children(plan, one)
        return relation, made

    def _conditional(self, plan: Any, outer: Relation) -> tuple[Relation, Any]:
        """Branches are evaluated for the rows that take them, or must not fail."""
        reading = [one for one in branches(plan) if self.mentions(one)]
        if isinstance(plan, p.If) and reading:
            return self._nested(plan, None, outer)
        if isinstance(plan, p.TypeSwitch) and reading:
            raise NotLifted("a branch of typeswitch reads an input", plan.span)
        if any(map(may_fail, reading)):
            raise NotLifted(
                "a branch that reads an input may fail where it is not taken", plan.span
            )
        return self._children(plan, outer)

    def _nested(
        self, plan: p.Expression, call: p.Call | None, outer: Relation
    ) -> tuple[Relation, p.Expression]:
        """A fold over a nested relation as a column."""
        ranged = None if call is None else self._range_fold(plan, call, outer)
        if ranged is not None:
            return ranged
        if call is not None and outer.is_one_row:
            around = self._counted_around(plan, call) or self._counted_spine(plan, call)
            if around is not None:
                return around
        whole = outer.closed()
        if self.growing and call is not None:
            plan = _folded_alone(plan, call)
        found, result = self.items(plan, whole)
        into = self.fresh("nested" if call is None else call.function.local)
        item = self.fresh("item")
        found, where = self._let(found, item, member(result, call, found))
        inner = found.closed()
        if inner.base.width == whole.base.width:  # no relation of its own after all
            value: p.Expression = result
            if call is not None:
                value = replace(call, args=(result, *call.args[1:]))
            return replace(found, clauses=found.clauses[:-1], bound=found.bound[:-1]), value
        if _pairs_up(inner.base, whole.base):
            raise NotLifted("each row is compared with all rows of an input", plan.span)
        fold = c.Fold(call, item, into)
        node = c.Nest(whole.base, ((inner.base, fold),), (*whole.variables, into), whole.base.width)
        made = Relation(node, places=whole.places)
        return (made.placed(into, where) if call is None else made), p.Var(into)

    def _range_fold(
        self, plan: p.Expression, call: p.Call, outer: Relation
    ) -> tuple[Relation, p.Expression] | None:
        """An aggregate over rows that compare by order, without a row for each pair."""
        row = frozenset(outer.variables)
        loop = self._as_loop(plan, outer)
        found = None if loop is None else comparisons(loop.source, row)
        if loop is None or found is None:
            return None
        mine = [key.left for key in found.keys]
        theirs = [key.right for key in found.keys]
        items = frozenset(bound_variables(found.items))
        free = facts(loop.result).free.union(*(facts(one).free for one in theirs))
        if (
            call.function.local not in SUMMARISED
            or len(call.args) != 1
            or self.program.static.collation != CODEPOINT
            or not (self.mentions(found.items) and self.is_closed(found.items, outer))
            or any(map(self.mentions, (*mine, *theirs)))
            or any(map(asks_clock, (*mine, *theirs, loop.result)))
            or any(not facts(one).free & items for one in theirs)
            or any(facts(one).free & items for one in mine)
            or free & row
        ):
            return None
        whole, inner = outer.closed(), self.tuples(found.items, self._top)
        for one in mine:
            self.checked(one, whole)
        for one in theirs:
            self.checked(one, inner)
        relation, made = self.items(loop.result, inner)
        item, into = self.fresh("item"), self.fresh(call.function.local)
        rows = self._let(relation, item, member(made, call, relation))[0].closed()
        node = c.RangeFold(
            whole.base, rows.base, found.key, c.Fold(call, item, into), (*whole.variables, into),
            whole.base.width, upper=found.upper, equal=found.equal,
        )  # fmt: skip
        return Relation(node, places=whole.places), p.Var(into)

    def _as_loop(self, plan: p.Expression, outer: Relation) -> p.Return | None:
        """A sequence as a loop with a condition, and what each item gives."""
        if isinstance(plan, p.Filter):
            plan = merged(plan, frozenset(outer.variables), self._known.around())
        match plan:
            case p.Return():
                return plan
            case p.Filter(input, test, False) if self._compares(plan, outer):
                if self._predicate_class(test) != "truth":
                    return None
                item, position = self.fresh("item"), self.fresh("position")
                made = unfocused(test, p.Var(item), p.Var(position), None)
                if made is None:
                    return None
                counted = position if position in facts(made).free else None
                loop = p.ForEach(p.Unit(), item, input, counted, span=plan.span)
                return p.Return(self._filtered(loop, made), p.Var(item), span=plan.span)
            case p.Step(input, "child" | "attribute" | "self"):
                inner = self._as_loop(input, outer)
                if inner is None or not (gives_distinct(input) or gives_distinct(inner)):
                    return None
                return replace(inner, result=replace(plan, input=inner.result))
            case p.Filter(input, test, False) if not counts_positions(test):
                inner = self._as_loop(input, outer)
                if inner is None or self._predicate_class(test) != "truth":
                    return None
                return replace(inner, result=replace(plan, input=inner.result))
            case p.Path(left, right) if stays_narrow(right):
                inner = self._as_loop(left, outer)
                if inner is None or not (gives_distinct(left) or gives_distinct(inner)):
                    return None
                return replace(inner, result=replace(plan, left=inner.result))
            case p.SimpleMap(left, right) if not counts_positions(right):
                inner = self._as_loop(left, outer)
                return inner and replace(inner, result=replace(plan, left=inner.result))
            case p.Path(left, right) if static_type(right).only(ATOMIC):
                return self._as_loop(p.SimpleMap(left, right, span=plan.span), outer)
            case p.Path() if (below := self._below_root(plan)) is not None:
                return self._as_loop(below, outer)
            case p.Call() if (chosen := at_positions(plan, self._known)) is not None:
                return self._as_loop(chosen, outer)
            case _:
                return None

    def _is_searched(self, plan: p.GeneralCompare) -> bool:
        """Whether one side is a value of the row, and the other a sequence over an input."""
        sides = [self.mentions(plan.left), self.mentions(plan.right)]
        inner = plan.left if sides[0] else plan.right
        return plan.op != "ne" and sides != [True, True] and isinstance(inner, _SEQUENCES)

    def _searched(self, plan: p.GeneralCompare, outer: Relation) -> tuple[Relation, p.Expression]:
        """a = e  →  exists(for $x in e where a = $x)"""
        left = self.mentions(plan.left)
        each = self.fresh("each")
        loop = p.ForEach(p.Unit(), each, plan.left if left else plan.right, span=plan.span)
        test = replace(plan, left=p.Var(each)) if left else replace(plan, right=p.Var(each))
        hits = p.Return(self._filtered(loop, test), TRUE, span=plan.span)
        return self.extend(called("exists", hits), outer)

    def _quantified(
        self, plan: p.Quantified, some: bool, source: p.Tuples, test: p.Expression, outer: Relation
    ) -> tuple[Relation, p.Expression]:
        """some … satisfies t  →  exists(… where t); every …  →  empty(… where not t).

        every … satisfies a < b  →  count(… where a < b) eq count(…)
        """
        if not some and _is_inequality(test) and self.is_closed(source, outer):
            hold = p.Return(self._filtered(source, test), TRUE, span=plan.span)
            every = p.Return(source, TRUE, span=plan.span)
            counts = called("count", hold), called("count", every)
            return self.extend(p.ValueCompare("eq", *counts, span=plan.span), outer)
        sought = test if some else p.If(test, FALSE, TRUE)
        hits = p.Return(self._filtered(source, sought), TRUE, span=plan.span)
        return self.extend(called("exists" if some else "empty", hits), outer)

    def _scalar(self, plan: p.Expression) -> tuple[p.Variable, c.Node, Places]:
        """The one row that holds the value of an expression that reads no row."""
        known = self._scalars.get(plan)
        if known is None:
            if plan in self._making:  # it came back to itself: nothing took it apart
                raise NotLifted("it is no relation, and no value of other relations", plan.span)
            self._making.append(plan)
            try:
                known = self._scalars[plan] = self._scalar_made(plan)
            finally:
                self._making.pop()
        return known

    def _scalar_made(self, plan: p.Expression) -> tuple[p.Variable, c.Node, Places]:
        variable = self.fresh("value")
        try:
            relation, result = self._scalar_value(plan)
            relation, where = self._let(relation, variable, result)
            return variable, relation.closed().base, where
        except NotLifted as why:
            if _is_hidden(plan) or not _copies(plan):
                raise
            self.reasons.append((why.reason, why.span))
            return variable, self._whole(plan, variable), {}

    def _scalar_value(self, plan: Any) -> tuple[Relation, p.Expression]:
        match plan:
            case p.Quantified(kind, source, test):
                sought = test if kind == "some" else p.If(test, FALSE, TRUE)
                hits = p.Return(self._filtered(source, sought), TRUE, span=plan.span)
                made = called("exists" if kind == "some" else "empty", hits)
                return self._nested(hits, made, self._top)
            case p.Call(_, (argument, *_)) if is_fold(plan) and self.mentions(argument):
                return self._nested(argument, plan, self._top)
            case _ if is_conditional(plan):
                return self._conditional(plan, self._top)
            case p.UserCall() | p.UserRef() | p.Partial() | p.Inline() | p.Try():
                raise NotLifted("a function reads an input", plan.span)
            case (
                p.Return() | p.Comma() | p.SimpleMap() | p.Filter() | p.Step() | p.Path()
                | p.StreamInput() | p.IntervalProjection() | p.VersionProjection() | p.TreeRoot()
                | p.SetOperation()
            ):  # fmt: skip
                if isinstance(plan, _WALKS) and self._driven(plan, tuples=False) is None:
                    if isinstance(plan, p.Step) and gives_distinct(plan.input):
                        return self._nested(plan, None, self._top)
                    return self._children(plan, self._top)
                return self._nested(plan, None, self._top)
            case p.Call() if gives(plan):
                return self._nested(plan, None, self._top)
            case _:
                return self._children(plan, self._top)


def _pairs_up(node: c.Node, outer: c.Node) -> bool:
    """Whether a nested relation has about as many rows as outer rows times those of an input.

    To keep them would cost more than to evaluate the whole again.
    """
    if node is outer:
        return False
    if isinstance(node, c.Join) and node.left.width and (node.key is None or node.key.op != "eq"):
        return True
    if isinstance(node, c.IntervalJoin) and node.left.width and node.word in ("before", "after"):
        return True
    return any(_pairs_up(one, outer) for one in sources_of(node) if one.width >= outer.width)


def _folded_alone(plan: p.Expression, call: p.Call) -> p.Expression:
    """Windows that give what a fold needs of their results: their number, or their values."""
    if not isinstance(plan, p.Return) or not _has_windows(plan.source):
        return plan
    if call.function.local in ("count", "exists", "empty"):
        return replace(plan, result=p.SimpleMap(plan.result, TRUE, span=plan.result.span))
    return replace(plan, result=called("data", plan.result))


def _has_windows(tuples: p.Tuples) -> bool:
    return any(isinstance(node, p.ForWindow) for node in descendants(tuples))


def _is_inequality(plan: p.Expression) -> bool:
    return isinstance(plan, p.GeneralCompare | p.ValueCompare) and plan.op in ORDERS


def _is_hidden(plan: p.Expression) -> bool:
    """Whether an expression has no meaning outside of the row that it is in."""
    return facts(plan).reads_focus


def _copies(plan: p.Expression) -> bool:
    """Whether a value is no node of an input: one that is made again is the same value."""
    return static_type(plan).only(ATOMIC) or isinstance(plan, p.MakeElement)
