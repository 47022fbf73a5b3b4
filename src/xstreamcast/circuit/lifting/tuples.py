"""The clauses of a FLWOR over an input: each a relation."""

from __future__ import annotations

from dataclasses import replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import bound_variables, facts
from xstreamcast.algebra.analysis.timing import asks_clock
from xstreamcast.algebra.nodes.static_type import Kinds
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.circuit.analysis.distinct_nodes import Side
from xstreamcast.circuit.analysis.over_group import ORDERS
from xstreamcast.circuit.analysis.positions import positions_of
from xstreamcast.circuit.lifting.join_keys import is_band, with_band, with_equality
from xstreamcast.circuit.lifting.relation import GroupRows, Relation, member
from xstreamcast.circuit.lifting.windows import LiftWindows
from xstreamcast.functions.call import CODEPOINT
from xstreamcast.rewrite.ask_existence_for_counts import SWAPPED


class LiftTuples(LiftWindows):
    """Cases of `tuples`."""

    def tuples(self, plan: p.Tuples, outer: Relation) -> Relation:
        """The tuples of a FLWOR as a relation nested in the outer one."""
        if isinstance(plan, p.Unit):
            return outer
        if not self.mentions(plan):
            pass
        elif self._is_shared(plan, outer):
            if not (outer.is_one and not outer.clauses and not outer.scalars):
                return self._product(outer, self.tuples(plan, self._top))
            found = self._driven(plan, tuples=True)
            if found is not None:
                return found
        elif (within := self._within_row(plan, outer, tuples=True)) is not None:
            return within
        match plan:
            case p.ForEach(source):
                return self._for_each(plan, self.tuples(source, outer))
            case p.Let(source, variable, value):
                relation, made = self.extend(value, self.tuples(source, outer))
                return self._let(relation, variable, made)[0]
            case p.Where(source, p.AllenCompare() as test):
                joined = self._interval_join(source, test, outer)
                return joined or self._where(self.tuples(source, outer), test)
            case p.Where() if (equated := with_equality(plan, outer)) is not None:
                return self.tuples(equated, outer)
            case p.Where() if (banded := with_band(plan, outer)) is not None:
                return self.tuples(banded, outer)
            case p.Where(p.CountTuples(source, variable), test) if _is_top(test, variable):
                return self._top_numbered(source, variable, test, outer)
            case p.Where(source, test):
                return self._where(self.tuples(source, outer), test)
            case p.TupleJoin():
                return self._join(plan, outer)
            case p.GroupBy(source):
                return self._group(plan, self.tuples(source, outer), outer)
            case p.OrderBy(source):
                return self._order(plan, self.tuples(source, outer), outer)
            case p.CountTuples(source, variable):
                return self._number(self.tuples(source, outer), outer, variable, None)
            case p.ForWindow(source):
                return self._window(plan, self.tuples(source, outer))

    def _where(self, relation: Relation, test: p.Expression) -> Relation:
        compared = self._within_group(relation, test) or self._threshold(relation, test)
        if compared is not None:
            relation, test = compared
        relation, made = self.extend(test, relation)
        self.checked(made, relation)
        found = relation.with_clause(p.Where(p.Unit(), made), (), False)
        return replace(found, clock=found.clock or asks_clock(made))

    def _threshold(
        self, relation: Relation, test: p.Expression
    ) -> tuple[Relation, p.Expression] | None:
        """Rows that compare with one value of an input: when it changes, those between are touched.

        where a > e  →  where exists(for $v in e where a > $v)
        """
        match test:
            case p.GeneralCompare(op, left, right) | p.ValueCompare(op, left, right):
                swapped = self.mentions(left)
            case _:
                return None
        row, value = (right, left) if swapped else (left, right)
        if (
            op not in ORDERS | {"eq"}
            or self.program.static.collation != CODEPOINT
            or not (self.mentions(value) and self._is_shared(value, relation))
            or self.mentions(row)
            or asks_clock(row)
            or not facts(row).free & set(relation.variables)
            or facts(row).reads_focus
        ):
            return None
        variable, node, places = self._scalar(value)
        if places:
            return None  # nodes, of which there may be many
        return self._held(
            relation, test, (row, value, SWAPPED[op] if swapped else op), node, variable
        )

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
        if plan.variable in self._roots:
            root = self._root_of(plan.items)
            assert root is not None
            return Relation(root)
        if plan.variable in self._spines:
            found = self._spine_rows(plan.variable, relation)
            if plan.position is None:
                return found
            return self._number(found, relation.closed(), plan.position, size)
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

    def _top_numbered(
        self, source: p.Tuples, variable: p.Variable, test: p.Expression, outer: Relation
    ) -> Relation:
        """count $n where $n <= 10: the first rows, numbered."""
        chosen, whole = positions_of(test, variable), self.tuples(source, outer).closed()
        assert chosen is not None
        width = outer.closed().base.width
        node = c.Slice(whole.base, width, *chosen, whole.variables, whole.base.width)
        return self._number(Relation(node, places=whole.places), outer, variable, None)

    def _join(self, plan: p.TupleJoin, outer: Relation) -> Relation:
        if not self.is_closed(plan.right, outer) or not self.mentions(plan.right):
            return self._nested_loops(plan, outer)
        left = self.tuples(plan.left, outer).closed()
        right = self.tuples(plan.right, self._top).closed()
        key = plan.keys[0]
        if self.mentions(key.left):
            left, key = self._with_key(left, key)
        sides = key.left, key.right
        if any(map(self.mentions, sides)) or any(map(asks_clock, sides)):
            return self._nested_loops(plan, outer)
        self.checked(key.left, left)
        self.checked(key.right, right)
        single = self._beside_one(plan.left, left, right, key, outer)
        if single is None:
            single = self._where(self._paired(left, right, key, plan.keys[1:]), key.test)
        found = single
        for one in plan.keys[1:]:
            found = self._where(found, one.test)
        return found if plan.residual is None else self._where(found, plan.residual)

    def _paired(
        self, left: Relation, right: Relation, key: p.JoinKey, others: tuple[p.JoinKey, ...]
    ) -> Relation:
        """The pairs that may agree on a key, or on two that make a band."""
        upper = next((one for one in others if is_band(key, one)), None)
        known = upper is not None and not self.mentions(upper.left) and not asks_clock(upper.left)
        # over documents that grow, joins drop rows when inputs end
        if upper is None or not known or self.growing or self.batch:
            return self._pairs(left, right, key)
        if not (left.base.width and right.base.width):
            return self._pairs(left, right, key)
        self.checked(upper.left, left)
        ends = (key, upper) if key.op in ("lt", "le") else (upper, key)
        node = c.BandJoin(
            left.base, right.base, *ends, left.variables + right.variables, left.base.width + 1
        )
        return Relation(node, places={**left.places, **right.places})

    def _beside_one(
        self, tuples: p.Tuples, left: Relation, right: Relation, key: p.JoinKey, outer: Relation
    ) -> Relation | None:
        """Rows that compare with values of a single row, which they read, too."""
        if not (outer.is_one_row and _only_lets(tuples)) or key.op == "ne":
            return None
        if self.program.static.collation != CODEPOINT or left.base.width:
            return None
        bound = self.fresh("bound")
        inner = self._let(left, bound, called("data", key.left))[0].closed()
        sides = key.right, key.left, SWAPPED[key.op]
        held = self._held(right, key.test, sides, inner.base, bound)
        if held is None:
            return None
        relation, test = held
        found = relation.with_clause(p.Where(p.Unit(), test), (), False).closed()
        values = {
            v: c.Rows(left.base, p.Unit(), (v,), 0) for v in left.variables if v not in self.globals
        }
        for variable, places in left.places.items():
            found = found.placed(variable, places)
        return found.with_scalars(values)

    def _with_key(self, left: Relation, key: p.JoinKey) -> tuple[Relation, p.JoinKey]:
        """A key that reads an input as a column of the rows."""
        found, made = self.extend(key.left, left)
        value = self.fresh("value")
        self._known.learn(value, self._known.type_of(called("data", key.left)))
        found, _ = self._let(found, value, called("data", made))
        compare = p.GeneralCompare if key.general else p.ValueCompare
        test = compare(key.op, p.Var(value), key.right, span=key.left.span)
        return found.closed(), replace(key, left=p.Var(value), test=test)

    def _interval_join(
        self, source: p.Tuples, test: p.AllenCompare, outer: Relation
    ) -> Relation | None:
        """A loop whose items all rows share, kept where their intervals compare with a row's."""
        inside: list[p.Where] = []
        while isinstance(source, p.Where):
            inside.append(source)
            source = source.source
        if not isinstance(source, p.ForEach) or source.position is not None:
            return None
        own = frozenset({source.variable})
        first = not facts(test.left).free & own
        sides = (test.left, test.right) if first else (test.right, test.left)
        before = set(bound_variables(source.source)) | set(outer.variables)
        fits = (
            bool(facts(sides[0]).free & before)
            and not facts(sides[0]).free & own
            and facts(sides[1]).free & (before | own) == own
            and not facts(source.items).free & before
            and not any(facts(one.test).free & before for one in inside)
            and not any(map(self.mentions, sides))
            and not any(map(_moves, sides))
            and not source.allowing_empty
        )
        if not fits:
            return None
        right: p.Tuples = replace(source, source=p.Unit())
        for one in reversed(inside):
            right = replace(one, source=right)
        if not (self.mentions(right) and self.is_closed(right, outer)):
            return None
        left, made = self.tuples(source.source, outer).closed(), self.tuples(right, self._top)
        made = made.closed()
        self.checked(sides[0], left)
        self.checked(sides[1], made)
        node = c.IntervalJoin(
            left.base, made.base, test.op, *sides, first, left.variables + made.variables,
            left.base.width + 1,
        )  # fmt: skip
        return Relation(node, places={**left.places, **made.places})

    def _nested_loops(self, plan: p.TupleJoin, outer: Relation) -> Relation:
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
        parts = self._decomposed.get(id(plan))
        of_items = []
        for one in () if parts is None else parts.folds:
            part = None if one.once is None else _side_of(relation.base, one.once)
            if not one.deferred:
                self._known.learn(one.into, self._known.type_of(one.call))
            unpaired = one.once is not None and part is None  # the rows are no pairs after all
            if unpaired or (one.different and self.program.static.collation != CODEPOINT):
                of_items.append(one)
                continue
            column = self.fresh("member")
            relation, made = self.extend(one.value, relation)
            kept = called("data", made) if one.different else member(made, one.call, relation)
            relation, _ = self._let(relation, column, kept)
            of = c.Fold(one.call, column, one.into, None, part, one.different, one.deferred)
            folds.append(of)
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
        plain = frozenset(key.variable for key in plan.keys if self._is_text(key.value))
        for held in () if parts is None else parts.members:
            self._members[held.variable] = GroupRows(whole, tuple(keys), width, held, plain)
        for one in of_items:
            value = called("data", one.call.args[0]) if one.deferred else one.call
            found, _ = self._let(found, one.into, value)
        return found

    def _is_text(self, plan: p.Expression) -> bool:
        """Whether equal values are the same: texts, compared by codepoints."""
        if self.program.static.collation != CODEPOINT:
            return False
        return _is_untyped(plan) or self._known.type_of(plan).kinds in (Kinds.STRING, Kinds.UNTYPED)

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


def _is_untyped(plan: p.Expression) -> bool:
    """Whether it gives elements or attributes: they have no type, and neither have their values."""
    match plan:
        case p.Step(_, _, test):
            return test.kind in ("element", "attribute")
        case p.Path(_, last) | p.Filter(last):
            return _is_untyped(last)
        case _:
            return False


def _side_of(node: c.Node, side: Side) -> tuple[int, int] | None:
    """The parts of a key that name the row of one side of a join; None if there is no join."""
    match node:
        case c.Rows(source=source):
            return _side_of(source, side)
        case c.Nest(outer=outer) | c.RangeFold(outer=outer):
            return _side_of(outer, side)
        case c.Join(left=left) | c.IntervalJoin(left=left) | c.BandJoin(left=left):
            return (0, left.width) if side == "left" else (left.width, left.width + 1)
        case _:
            return None


def _only_lets(plan: p.Tuples) -> bool:
    """Whether a FLWOR has one tuple in any case."""
    while isinstance(plan, p.Let):
        plan = plan.source
    return isinstance(plan, p.Unit)


def _is_top(test: p.Expression, variable: p.Variable) -> bool:
    chosen = positions_of(test, variable)
    return chosen is not None and chosen[0] == 1 and chosen[1] is not None


def _moves(plan: p.Expression) -> bool:
    """Whether an interval moves with the clock other than by an end that is now."""
    if isinstance(plan, p.Interval):
        return asks_clock(plan.first) or (plan.last is not None and asks_clock(plan.last))
    return asks_clock(plan)


def _on_top(upper: p.Tuples, lower: p.Tuples) -> p.Tuples:
    """One FLWOR's clauses after another's."""
    match upper:
        case p.Unit():
            return lower
        case p.TupleJoin(left):
            return replace(upper, left=_on_top(left, lower))
        case _:
            return replace(upper, source=_on_top(upper.source, lower))
