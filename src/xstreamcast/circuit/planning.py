"""From an optimised plan to a circuit, node by node.

An expression is evaluated for each row of a relation. What reads nothing but its row is evaluated
on changed rows; what reads an input becomes relations of its own, nested in the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis import predicate_class, static_type
from xstreamcast.algebra.cut import Cut, Guard, NotDivided, Place
from xstreamcast.algebra.free import bound_variables, counts_positions, facts, free_numbers
from xstreamcast.algebra.locality import Locality
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.static_type import ATOMIC
from xstreamcast.algebra.walk import bottom_up, descendants, map_children
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.conditional import branches, is_conditional, may_fail
from xstreamcast.circuit.decompose import GroupFold, decomposed, gives_distinct, is_fold
from xstreamcast.circuit.focus import unfocused
from xstreamcast.circuit.normal import CONTEXT, input_name, mentions
from xstreamcast.circuit.positions import positions_of
from xstreamcast.errors import Span
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import BOOLEAN
from xstreamcast.rewrite.join_from_comparison import join_from_comparison
from xstreamcast.rewrite.known import Known
from xstreamcast.rewrite.split_where import split_where

_TRUE: Final = p.Const((p.Atom(BOOLEAN, True),))
_FALSE: Final = p.Const((p.Atom(BOOLEAN, False),))
Places = Mapping[str, Place]  # by input: where the nodes of a variable stand


class NotLifted(Exception):
    """Why an expression is recomputed as a whole when something it reads has changed."""

    def __init__(self, reason: str, span: Span = (0, 0)) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation under construction: a node, and clauses over its rows that read the row alone."""

    base: c.Node
    clauses: tuple[Any, ...] = ()
    bound: tuple[p.Variable, ...] = ()
    nested: bool = False
    scalars: Mapping[p.Variable, c.Node] = field(default_factory=dict)
    places: Mapping[p.Variable, Places] = field(default_factory=dict)
    clock: bool = False

    @property
    def variables(self) -> tuple[p.Variable, ...]:
        """All variables of its rows."""
        return self.base.columns + self.bound

    @property
    def is_one(self) -> bool:
        """Whether it is the single row that everything begins with."""
        return isinstance(self.base, c.One) and not self.nested

    @property
    def is_one_row(self) -> bool:
        """Whether nothing has been chosen yet: it has its row in any case."""
        return self.is_one and not self.clauses

    def with_clause(self, clause: Any, bound: tuple[p.Variable, ...], nested: bool) -> Relation:
        """The relation with one more clause."""
        return replace(
            self,
            clauses=(*self.clauses, clause),
            bound=self.bound + bound,
            nested=self.nested or nested,
        )

    def with_scalars(self, scalars: Mapping[p.Variable, c.Node]) -> Relation:
        """The relation with values that all rows read."""
        return replace(self, scalars={**self.scalars, **scalars}) if scalars else self

    def placed(self, variable: p.Variable, places: Places) -> Relation:
        """The relation, knowing where the nodes of a variable stand."""
        return replace(self, places={**self.places, variable: places}) if places else self

    def closed(self) -> Relation:
        """The relation as one node."""
        if not self.clauses and not self.scalars:
            return self
        tuples: p.Tuples = p.Unit()
        for clause in self.clauses:
            tuples = replace(clause, source=tuples)
        width = self.base.width + int(self.nested)
        node = c.Rows(
            self.base, tuples, (*self.variables, *self.scalars), width, self.nested,
            tuple(self.scalars.items()), clock=self.clock,
        )  # fmt: skip
        return Relation(node, places=self.places)


class Planner:
    """One walk over the body of a program in normal form."""

    def __init__(self, program: Program, cuts: Mapping[str | None, Cut]) -> None:
        self.program, self.cuts = program, cuts
        self.globals = frozenset(v.variable for v in program.variables)
        self._numbers = free_numbers(program, [program.body])
        self._known = Known(program)
        self._units: dict[str, c.Units] = {}
        self._scalars: dict[p.Expression, tuple[p.Variable, c.Node, Places]] = {}
        self._folds: dict[int, tuple[GroupFold, ...]] = {}
        self._kept: list[Any] = []  # plans whose identities are used
        self._top = Relation(c.One())
        self.sources: list[str] = []
        self.guards: set[tuple[str, Guard]] = set()
        self.held: set[tuple[str, Guard]] = set()
        self.reasons: list[tuple[str, Span]] = []
        self._guarded = False  # inside a branch that may not be taken
        self._why: tuple[str, Span] | None = None  # why the last plan was not driven
        for name in (n.name for n in descendants(program.body) if isinstance(n, p.StreamInput)):
            if name not in self.sources:
                self.sources.append(name)

    # -- the whole --------------------------------------------------------------------------------

    def answer(self, body: p.Expression) -> tuple[Relation, p.Expression]:
        """The relation whose rows make the answer, and what each gives."""
        try:
            found, result = self.items(body, self._top)
            if not asks_clock(result):
                return found, self.checked(result, found)
            answer = self.fresh("answer")  # a row that the clock changes is evaluated again
            return self._let(found, answer, result)[0], p.Var(answer)
        except NotLifted as why:
            self.reasons.append((why.reason, why.span))
            return self.whole_answer(body)

    def whole_answer(self, body: p.Expression) -> tuple[Relation, p.Expression]:
        """The answer evaluated as a whole whenever something it reads has changed."""
        variable = self.fresh("whole")
        return Relation(self._whole(body, variable)), p.Var(variable)

    def _whole(self, plan: p.Expression, variable: p.Variable) -> c.Node:
        """An expression that is evaluated as a whole whenever something it reads has changed."""
        names = frozenset(map(input_name, mentions(plan))) | self._mentioned_by_functions()
        clock = asks_clock(plan) or any(asks_clock(f.body) for f in self.program.functions)
        tuples = p.Let(p.Unit(), variable, plan)
        return c.Rows(c.One(), tuples, (variable,), 0, whole=names, clock=clock)

    def _mentioned_by_functions(self) -> frozenset[str | None]:
        return frozenset(input_name(n) for f in self.program.functions for n in mentions(f.body))

    def fresh(self, name: str) -> p.Variable:
        """A variable that nobody uses."""
        return p.Variable(next(self._numbers), name)

    def mentions(self, plan: p.Plan) -> bool:
        """Whether a plan reads an input; a function that is called may do so, too."""
        if mentions(plan):
            return True
        if not facts(plan).calls:
            return False
        called = {n.function for n in descendants(plan) if isinstance(n, p.UserCall | p.UserRef)}
        return any(self._function_mentions(n, set()) for n in called)

    def _function_mentions(self, number: int, seen: set[int]) -> bool:
        if number in seen:
            return False
        seen.add(number)
        body = self.program.functions[number].body
        reading = {v.variable for v in self.program.variables if v.value and mentions(v.value)}
        if mentions(body) or facts(body).used & reading:
            return True
        called = {n.function for n in descendants(body) if isinstance(n, p.UserCall | p.UserRef)}
        return any(self._function_mentions(n, seen) for n in called)

    def is_closed(self, plan: p.Plan, relation: Relation) -> bool:
        """Whether a plan has one value for all rows of a relation."""
        known = facts(plan)
        return not known.free & set(relation.variables) and not known.reads_focus and known.pure

    # -- where nodes stand ------------------------------------------------------------------------

    def checked(self, plan: p.Expression, relation: Relation) -> p.Expression:
        """The expression; NotLifted unless it reads nothing of an input but what its row holds."""
        self.places_of(plan, relation)
        return plan

    def places_of(self, plan: p.Expression, relation: Relation) -> Places:
        """By input, where the nodes of a value stand; NotLifted if it leaves the units."""
        names = {name for places in relation.places.values() for name in places}
        used = facts(plan).used
        found = {}
        for name in sorted(names):
            own = {v: one[name] for v, one in relation.places.items() if name in one}
            if not used & own.keys():
                continue
            walk = Locality(self.program, name, self.cuts[input_name(name)], own)
            try:
                place = walk.value(plan, None)
            except NotDivided as why:
                raise NotLifted(why.reason, why.span) from None
            self._note(name, walk)
            if place.inside:
                found[name] = place
        return found

    def _note(self, name: str, walk: Locality) -> None:
        self.guards |= {(name, guard) for guard in walk.guards}
        self.held |= {(name, guard) for guard in walk.held}

    def _driven(self, plan: Any, tuples: bool) -> Relation | None:
        """The relation of units, if a plan over an input is the plan over each of its units."""
        names = mentions(plan)
        if len(names) != 1 or not facts(plan).free <= self.globals or not facts(plan).pure:
            return None
        (name,) = names
        cut = self.cuts.get(input_name(name))
        if cut is None:
            return None
        walk, place = Locality(self.program, name, cut), Place(inside=True)
        try:
            if tuples:
                if not walk.drive_tuples(plan, None):
                    return None
            else:
                place = walk.settle(walk.drive(plan, None), plan)
                if not place.inside:
                    raise NotDivided("it reads nothing that stands in units", plan.span)
        except NotDivided as why:
            self._why = why.reason, why.span
            return None
        if walk.others:
            return None
        self._note(name, walk)
        found = Relation(self._units_of(name), clock=walk.clock)
        document = found.base.columns[0]
        found = found.placed(document, {name: cut.document()})
        if tuples:
            found = _with_all(found, _over(plan, name, document))
            for variable, where in walk.places.items():
                if variable in found.bound and (where.inside or where.spine is not None):
                    found = found.placed(variable, {name: where})
            return found
        item = self.fresh("item")
        clause = p.Let(p.Unit(), item, _over(plan, name, document))
        return found.with_clause(clause, (item,), False).placed(item, {name: place})

    def _units_of(self, name: str) -> c.Units:
        if name not in self._units:
            number = self.sources.index(name)
            self._units[name] = c.Units(input_name(name), number, self.fresh("document"))
        return self._units[name]

    # -- sequences --------------------------------------------------------------------------------

    def items(self, plan: p.Expression, outer: Relation) -> tuple[Relation, p.Expression]:
        """A relation nested in the outer one, and what each of its rows gives: one after another
        they are the items of the value in the outer row.
        """
        if not self.mentions(plan):
            return outer, plan
        if self.is_closed(plan, outer):
            self._check_unfailing(plan, outer)
            found = self._driven(plan, tuples=False)
            if found is not None:
                return self._product(outer, found), p.Var(found.bound[-1])
        match plan:
            case p.Return():
                return self._return(plan, outer)
            case p.Comma(parts):
                return self._comma(parts, outer)
            case p.If() if any(map(self.mentions, branches(plan))):
                return self._branched(plan, outer)
            case p.SimpleMap(left, right) if not (counts_positions(right) or self.mentions(right)):
                found, result = self.items(left, outer)
                return found, replace(plan, left=result)
            case p.SimpleMap() | p.Filter():
                return self._focused(plan, outer)
            case p.Step(input, "child" | "attribute" | "self") if gives_distinct(input):
                found, result = self.items(input, outer)
                return found, replace(plan, input=result)
            case p.Convert(operand, type) if type.occurs == "many":
                found, result = self.items(operand, outer)
                return found, replace(plan, operand=result)
            case p.Call() if _gives(plan):
                return self._call(plan, plan.function.local, plan.args, outer)
            case _:
                return self.extend(plan, outer)

    def _check_unfailing(self, plan: Any, outer: Relation) -> None:
        """What is evaluated once for all rows of a branch must not fail where none takes it."""
        if self._guarded and not outer.is_one_row and may_fail(plan):
            raise NotLifted("a branch that is not taken may fail over an input", plan.span)

    def _product(self, outer: Relation, inner: Relation) -> Relation:
        """Each row of the outer relation with every row of one that does not depend on it."""
        if outer.is_one and not outer.clauses and not outer.scalars:
            return inner
        left, right = outer.closed(), inner.closed()
        if left.base.width:
            raise NotLifted("each row is compared with all rows of an input")
        return self._pairs(left, right, None)

    def _pairs(self, left: Relation, right: Relation, key: p.JoinKey | None) -> Relation:
        node = c.Join(
            left.base, right.base, key, left.variables + right.variables, left.base.width + 1
        )
        return Relation(node, places={**left.places, **right.places})

    def _return(self, plan: p.Return, outer: Relation) -> tuple[Relation, p.Expression]:
        plan, folds = decomposed(plan, self.fresh)
        self._folds.update(folds)
        self._kept.append(plan)
        found = self.tuples(plan.source, outer)
        return self.items(plan.result, found)

    def _comma(
        self, parts: tuple[p.Expression, ...], outer: Relation
    ) -> tuple[Relation, p.Expression]:
        whole = outer.closed()
        item = self.fresh("item")
        made = []
        places: dict[str, Place] = {}
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

    def _let(
        self, relation: Relation, variable: p.Variable, value: p.Expression
    ) -> tuple[Relation, Places]:
        """The relation with one more variable, whose value reads the row alone."""
        where = self.places_of(value, relation)
        made = relation.with_clause(p.Let(p.Unit(), variable, value), (variable,), False)
        made = replace(made, clock=made.clock or asks_clock(value))
        return made.placed(variable, where), where

    def _each(self, relation: Relation, variable: p.Variable, items: p.Expression) -> Relation:
        """A row for each item of a value that reads the row alone."""
        where = self.places_of(items, relation)
        clause = p.ForEach(p.Unit(), variable, items)
        made = relation.with_clause(clause, (variable,), True)
        made = replace(made, clock=made.clock or asks_clock(items))
        return made.placed(variable, where)

    def _focused(
        self, plan: p.SimpleMap | p.Filter, outer: Relation
    ) -> tuple[Relation, p.Expression]:
        """A predicate or a map whose focus is an item of a relation, as a loop."""
        if isinstance(plan, p.Filter):
            chosen = None if plan.reverse else positions_of(plan.predicate)
            if chosen is not None:
                return self._sliced(plan.input, chosen, outer)
            test = plan.predicate
            truth = self._predicate_class(test) == "truth" and not counts_positions(test)
            if truth and not self.mentions(test):
                found, result = self.items(plan.input, outer)
                return found, replace(plan, input=result)
            if self._is_place(plan):
                return self._picked(plan, outer)
            if self._predicate_class(plan.predicate) != "truth" or plan.reverse:
                raise NotLifted("a predicate may be a position or a truth value", plan.span)
        source = plan.input if isinstance(plan, p.Filter) else plan.left
        inner = plan.predicate if isinstance(plan, p.Filter) else plan.right
        item, position = self.fresh("item"), self.fresh("position")
        size = self.fresh("size") if facts(inner).last else None
        made = unfocused(inner, p.Var(item), p.Var(position), None if size is None else p.Var(size))
        if made is None:
            raise NotLifted("the focus is read in a way that no variable can replace", plan.span)
        counted = position if facts(inner).position or size is not None else None
        loop: p.Tuples = p.ForEach(p.Unit(), item, source, counted, span=plan.span)
        if isinstance(plan, p.Filter) and counted is None:
            return self.items(p.Return(self._filtered(loop, made), p.Var(item)), outer)
        found = self._loop(p.ForEach(p.Unit(), item, source, counted), outer, size)
        if isinstance(plan, p.SimpleMap):
            return self.items(made, found)
        return self.items(p.Return(p.Where(p.Unit(), made), p.Var(item)), found)

    def _predicate_class(self, predicate: p.Expression) -> str:
        return predicate_class(predicate, self._known.around())

    def _is_place(self, plan: p.Filter) -> bool:
        """Whether a predicate is a number that does not depend on the item."""
        known = facts(plan.predicate)
        number = self._predicate_class(plan.predicate) == "position"
        return number and not known.reads_focus and not plan.reverse

    def _picked(self, plan: p.Filter, outer: Relation) -> tuple[Relation, p.Expression]:
        """The item at a position that is computed."""
        if not self.is_closed(plan.predicate, outer):
            item, position = self.fresh("item"), self.fresh("position")
            loop = p.ForEach(p.Unit(), item, plan.input, position, span=plan.span)
            test = p.GeneralCompare("eq", p.Var(position), plan.predicate, span=plan.span)
            return self.items(p.Return(self._filtered(loop, test), p.Var(item)), outer)
        whole = outer.closed()
        found, result = self.items(plan.input, whole)
        item = self.fresh("item")
        found = self._each(found, item, result).closed()
        scalars, made = self.extend(plan.predicate, self._top)
        at = self.fresh("position")
        place, _ = self._let(scalars, at, made)
        node = c.Pick(
            found.base, place.closed().base, at, whole.base.width, found.variables,
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

    def _filtered(self, loop: p.Tuples, test: p.Expression) -> p.Tuples:
        """The loop with a condition, as a join where it compares."""
        tuples: p.Tuples = p.Where(loop, test)
        tuples = split_where(tuples, self._known)  # type: ignore[arg-type]
        return self._joined(tuples)

    def _joined(self, tuples: p.Tuples) -> p.Tuples:
        if not isinstance(tuples, p.Where):
            return tuples
        made = replace(tuples, source=self._joined(tuples.source))
        found: p.Tuples = join_from_comparison(made, self._known)  # type: ignore[assignment]
        return found

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
        """Functions that hand on items of a relation."""
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

    # -- values -----------------------------------------------------------------------------------

    def extend(self, plan: Any, outer: Relation) -> tuple[Relation, Any]:
        """The relation with more columns, and the expression over them that reads no input."""
        if not self.mentions(plan):
            return outer, plan
        if self.is_closed(plan, outer):
            self._check_unfailing(plan, outer)
            variable, node, places = self._scalar(plan)
            return outer.with_scalars({variable: node}).placed(variable, places), p.Var(variable)
        match plan:
            case p.Quantified(kind, source, test):
                return self._quantified(plan, kind == "some", source, test, outer)
            case p.GeneralCompare() if self._is_searched(plan):
                return self._searched(plan, outer)
            case p.Call(_, (argument, *_)) if is_fold(plan):
                return self._nested(argument, plan, outer)
            case p.Return() | p.SimpleMap() | p.Filter() | p.Comma():
                return self._nested(plan, None, outer)
            case p.Call() if _gives(plan):
                return self._nested(plan, None, outer)
            case p.UserCall() | p.UserRef() | p.DynamicCall() | p.Partial() | p.Inline() | p.Try():
                raise NotLifted("a function or try reads an input for each row", plan.span)
            case _ if is_conditional(plan):
                return self._conditional(plan, outer)
            case _:
                return self._children(plan, outer)

    def _children(self, plan: Any, outer: Relation) -> tuple[Relation, Any]:
        """Each operand that reads an input as a column."""
        relation = outer
        if isinstance(plan, p.StreamInput):
            raise NotLifted(*(self._why or ("it reads all of the input", plan.span)))
        inner = plan.right if isinstance(plan, p.Path | p.SimpleMap) else None
        inner = plan.predicate if isinstance(plan, p.Filter) else inner
        if inner is not None and self.mentions(inner):
            raise NotLifted("it reads an input for each item", plan.span)

        def one(child: Any) -> Any:
            nonlocal relation
            if child is inner:
                return child
            # the attributes of a constructor are parts of it, not values
            part = isinstance(child, p.MakeAttribute | p.MakeNamespace)
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
        whole = outer.closed()
        found, result = self.items(plan, whole)
        into = self.fresh("nested" if call is None else call.function.local)
        item = self.fresh("item")
        found, where = self._let(found, item, _member(result, call))
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
        hits = p.Return(self._filtered(loop, test), _TRUE, span=plan.span)
        return self.extend(called("exists", hits), outer)

    def _quantified(
        self, plan: p.Quantified, some: bool, source: p.Tuples, test: p.Expression, outer: Relation
    ) -> tuple[Relation, p.Expression]:
        """some … satisfies t  →  exists(… where t); every …  →  empty(… where not t)."""
        sought = test if some else p.If(test, _FALSE, _TRUE)
        hits = p.Return(self._filtered(source, sought), _TRUE, span=plan.span)
        return self.extend(called("exists" if some else "empty", hits), outer)

    def _scalar(self, plan: p.Expression) -> tuple[p.Variable, c.Node, Places]:
        """The one row that holds the value of an expression that reads no row."""
        known = self._scalars.get(plan)
        if known is None:
            known = self._scalars[plan] = self._scalar_made(plan)
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
                sought = test if kind == "some" else p.If(test, _FALSE, _TRUE)
                hits = p.Return(self._filtered(source, sought), _TRUE, span=plan.span)
                made = called("exists" if kind == "some" else "empty", hits)
                return self._nested(hits, made, self._top)
            case p.Call(_, (argument, *_)) if is_fold(plan) and self.mentions(argument):
                return self._nested(argument, plan, self._top)
            case _ if is_conditional(plan):
                return self._conditional(plan, self._top)
            case p.UserCall() | p.UserRef() | p.DynamicCall() | p.Partial() | p.Inline() | p.Try():
                raise NotLifted("a function reads an input", plan.span)
            case (
                p.Return() | p.Comma() | p.SimpleMap() | p.Filter() | p.Step() | p.Path()
                | p.StreamInput() | p.IntervalProjection() | p.VersionProjection() | p.Root()
                | p.SetOperation()
            ):  # fmt: skip
                if isinstance(plan, _WALKS) and self._driven(plan, tuples=False) is None:
                    if gives_distinct(plan):
                        return self._nested(plan, None, self._top)
                    return self._children(plan, self._top)
                return self._nested(plan, None, self._top)
            case p.Call() if _gives(plan):
                return self._nested(plan, None, self._top)
            case _:
                return self._children(plan, self._top)

    # -- tuples -----------------------------------------------------------------------------------

    def tuples(self, plan: p.Tuples, outer: Relation) -> Relation:
        """The tuples of a FLWOR as a relation nested in the outer one."""
        if isinstance(plan, p.Unit):
            return outer
        if self.mentions(plan) and self.is_closed(plan, outer):
            self._check_unfailing(plan, outer)
            if not (outer.is_one and not outer.clauses and not outer.scalars):
                return self._product(outer, self.tuples(plan, self._top))
            found = self._driven(plan, tuples=True)
            if found is not None:
                return found
        match plan:
            case p.ForEach(source):
                return self._for_each(plan, self.tuples(source, outer))
            case p.Let(source, variable, value):
                relation, made = self.extend(value, self.tuples(source, outer))
                return self._let(relation, variable, made)[0]
            case p.Where(source, test):
                return self._where(self.tuples(source, outer), test)
            case p.Join():
                return self._join(plan, outer)
            case p.GroupBy(source):
                return self._group(plan, self.tuples(source, outer), outer)
            case p.OrderBy(source):
                return self._order(plan, self.tuples(source, outer), outer)
            case p.CountTuples(source, variable):
                return self._number(self.tuples(source, outer), outer, variable, None)
            case p.Window(source):
                return self._window(plan, self.tuples(source, outer))

    def _where(self, relation: Relation, test: p.Expression) -> Relation:
        relation, made = self.extend(test, relation)
        self.checked(made, relation)
        found = relation.with_clause(p.Where(p.Unit(), made), (), False)
        return replace(found, clock=found.clock or asks_clock(made))

    def _for_each(self, plan: p.ForEach, relation: Relation) -> Relation:
        if not self.mentions(plan.items):
            where = self.places_of(plan.items, relation)
            own = bound_variables(replace(plan, source=p.Unit()))
            made = relation.with_clause(replace(plan, source=p.Unit()), own, True)
            made = replace(made, clock=made.clock or asks_clock(plan.items))
            return made.placed(plan.variable, where)
        return self._loop(plan, relation, None)

    def _loop(self, plan: p.ForEach, relation: Relation, size: p.Variable | None) -> Relation:
        """A loop over items that read an input."""
        whole = relation.closed()
        if plan.allowing_empty:
            relation, made = self._nested(plan.items, None, whole)
            return self._for_each(replace(plan, items=made), relation)
        found, result = self.items(plan.items, whole)
        found = self._each(found, plan.variable, result)
        if plan.position is None:
            return found
        return self._number(found, whole, plan.position, size)

    def _number(
        self, relation: Relation, outer: Relation, variable: p.Variable, size: p.Variable | None
    ) -> Relation:
        whole, around = relation.closed(), outer.closed()
        more = (variable,) if size is None else (variable, size)
        node = c.Number(
            whole.base, around.base.width, variable, size, whole.variables + more,
            whole.base.width,
        )  # fmt: skip
        return Relation(node, places=whole.places)

    def _join(self, plan: p.Join, outer: Relation) -> Relation:
        if not self.is_closed(plan.right, outer) or not self.mentions(plan.right):
            return self._nested_loops(plan, outer)
        left = self.tuples(plan.left, outer).closed()
        right = self.tuples(plan.right, self._top).closed()
        key = plan.keys[0]
        sides = key.left, key.right
        if any(map(self.mentions, sides)) or any(map(asks_clock, sides)):
            return self._nested_loops(plan, outer)
        self.checked(key.left, left)
        self.checked(key.right, right)
        found = self._pairs(left, right, key)
        for one in plan.keys:
            found = self._where(found, one.test)
        return found if plan.residual is None else self._where(found, plan.residual)

    def _nested_loops(self, plan: p.Join, outer: Relation) -> Relation:
        """The right side for each row of the left one, and the conditions after it."""
        tuples = _on_top(plan.right, plan.left)
        for key in plan.keys:
            tuples = p.Where(tuples, key.test)
        if plan.residual is not None:
            tuples = p.Where(tuples, plan.residual)
        return self.tuples(tuples, outer)

    def _group(self, plan: p.GroupBy, relation: Relation, outer: Relation) -> Relation:
        folds: list[c.Fold] = []
        keys = []
        for key in plan.keys:
            column = self.fresh(key.variable.name)
            relation, made = self.extend(key.value, relation)
            relation, _ = self._let(relation, column, called("data", made))
            keys.append((column, key.variable))
        for one in self._folds.get(id(plan), ()):
            column = self.fresh("member")
            relation, made = self.extend(one.value, relation)
            relation, _ = self._let(relation, column, _member(made, one.call))
            folds.append(c.Fold(one.call, column, one.into))
        folds += [c.Fold(None, before, after) for before, after in plan.carried]
        whole, around = relation.closed(), outer.closed()
        carried = tuple(v for v in around.variables if v in whole.variables)
        columns = (
            carried + tuple(variable for _, variable in keys) + tuple(fold.into for fold in folds)
        )
        width = around.base.width
        node = c.Group(whole.base, width, tuple(keys), tuple(folds), carried, columns, width + 1)
        found = Relation(node, places={v: whole.places[v] for v in carried if v in whole.places})
        for before, after in plan.carried:
            found = found.placed(after, whole.places.get(before, {}))
        return found

    def _order(self, plan: p.OrderBy, relation: Relation, outer: Relation) -> Relation:
        keys = []
        for key in plan.keys:
            column = self.fresh("order")
            relation, made = self.extend(key.value, relation)
            relation, _ = self._let(relation, column, called("data", made))
            keys.append(c.SortKey(column, key.descending, key.empty_greatest))
        whole, around = relation.closed(), outer.closed()
        node = c.Order(
            whole.base, around.base.width, tuple(keys), whole.variables, whole.base.width
        )
        return Relation(node, places=whole.places)

    def _window(self, plan: p.Window, relation: Relation) -> Relation:
        own = bound_variables(replace(plan, source=p.Unit()))
        tests = [b.test for b in (plan.start, plan.end) if b is not None and b.test is not None]
        if any(map(self.mentions, tests)):
            raise NotLifted("a window condition reads an input", plan.span)
        if not self.mentions(plan.items):
            where = self.places_of(plan.items, relation)
            made = relation.with_clause(replace(plan, source=p.Unit()), own, True)
            for variable in own:
                made = made.placed(variable, where)
            return replace(made, clock=True) if asks_clock(plan) else made
        if asks_clock(replace(plan, items=p.EMPTY)):
            raise NotLifted("a window condition reads the clock", plan.span)
        if plan.kind == "general" or plan.start is None:
            raise NotLifted("all sub-sequences are windows", plan.span)
        around = relation.closed()
        found, result = self.items(plan.items, around)
        item = self.fresh("item")
        found = self._each(found, item, result).closed()
        window = replace(plan, source=p.Unit(), items=p.Var(item))
        where = found.places.get(item, {})
        node = c.Window(
            found.base, around.base.width, item, window, around.variables, around.variables + own,
            around.base.width + 1,
        )  # fmt: skip
        made = Relation(node, places=around.places)
        for variable in own:
            made = made.placed(variable, where)
        for test in tests:
            self.checked(test, made)
        return made


_SEQUENCES: Final = (p.Step, p.Path, p.SimpleMap, p.Filter, p.Return, p.IntervalProjection)
_WALKS: Final = (
    p.Step, p.Path, p.StreamInput, p.IntervalProjection, p.VersionProjection, p.Root,
    p.SetOperation,
)  # fmt: skip
_GIVING: Final = frozenset({"data", "unordered", "distinct-values", "head", "tail", "sort"})


def _gives(plan: p.Call) -> bool:
    """Whether a function hands on items of a relation, so that it is one itself."""
    if plan.function.uri != FN:
        return False
    match plan.function.local, plan.args:
        case "subsequence", (_, p.Const((first,)), *rest):
            return _subsequence(first, rest) is not None
        case local, (_,):
            return local in _GIVING
        case _:
            return False


def _pairs_up(node: c.Node, outer: c.Node) -> bool:
    """Whether a nested relation has about as many rows as outer rows times those of an input.

    To keep them would cost more than to evaluate the whole again.
    """
    if node is outer:
        return False
    if isinstance(node, c.Join) and node.left.width and (node.key is None or node.key.op != "eq"):
        return True
    return any(_pairs_up(one, outer) for one in c.inputs_of(node) if one.width >= outer.width)


def _is_hidden(plan: p.Expression) -> bool:
    """Whether an expression has no meaning outside of the row that it stands in."""
    return facts(plan).reads_focus


def _copies(plan: p.Expression) -> bool:
    """Whether a value is no node of an input, so that nobody can tell it from one made again."""
    return static_type(plan).only(ATOMIC) or isinstance(plan, p.MakeElement)


def _over(plan: Any, name: str, document: p.Variable) -> Any:
    """The plan with the document of a unit in the place of an input."""

    def put(node: Any) -> Any:
        found = isinstance(node, p.StreamInput) and node.name == name
        return p.Var(document) if found else node

    return bottom_up(plan, put)


def _with_all(relation: Relation, plan: p.Tuples) -> Relation:
    """The relation with all clauses of a FLWOR."""
    if isinstance(plan, p.Unit):
        return relation
    assert not isinstance(plan, p.Join)
    found = _with_all(relation, plan.source)
    clause = replace(plan, source=p.Unit())
    nested = isinstance(plan, p.ForEach | p.Window)
    return found.with_clause(clause, bound_variables(clause), nested)


def _either(plan: p.If) -> tuple[p.Expression, p.Expression]:
    """if (t) then a else b  →  a where t, b where not t"""
    tests = plan.test, p.If(plan.test, _FALSE, _TRUE)
    results = plan.then, plan.otherwise
    return tuple(  # type: ignore[return-value]
        p.Return(p.Where(p.Unit(), test), result, span=plan.span)
        for test, result in zip(tests, results, strict=True)
    )


def _on_top(upper: p.Tuples, lower: p.Tuples) -> p.Tuples:
    """One FLWOR's clauses after another's."""
    match upper:
        case p.Unit():
            return lower
        case p.Join(left):
            return replace(upper, left=_on_top(left, lower))
        case _:
            return replace(upper, source=_on_top(upper.source, lower))


def _member(value: p.Expression, call: p.Call | None) -> p.Expression:
    """What a fold keeps of each row: values, unless it is the items that count."""
    if call is None or call.function.local in ("count", "exists", "empty"):
        return value
    return called("data", value)


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


def called(name: str, argument: p.Expression) -> p.Call:
    """A call of a function of one argument."""
    function = lookup(FN, name, 1)
    assert function is not None
    return p.Call(function, (argument,), span=argument.span)


def asks_clock(plan: p.Plan) -> bool:
    """Whether a plan reads the clock, or lifespans that may end now."""
    temporal = (p.Instant, p.LifespanBound, p.IntervalProjection, p.VersionProjection)
    return any(
        isinstance(node, (*temporal, p.AllenCompare, p.Interval))
        or (isinstance(node, p.Call) and node.function.local.startswith("current-"))
        for node in descendants(plan)
    )


__all__ = ["CONTEXT", "NotLifted", "Planner", "Relation", "asks_clock", "called"]
