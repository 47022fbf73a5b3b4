"""What is nested in groups: sequences over the rows that each group was made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, TypeAlias

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.analysis.timing import asks_clock
from xstreamcast.algebra.nodes.static_type import Kinds
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.circuit.lifting.lifting import Lifting
from xstreamcast.circuit.lifting.relation import GroupRows, NotLifted, Relation
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.functions.call import CODEPOINT
from xstreamcast.model.atomic import DATE, DATE_TIME, TIME
from xstreamcast.model.sequence_type import AtomicItem
from xstreamcast.rewrite.ask_existence_for_counts import SWAPPED

_MOMENTS: Final = tuple(map(AtomicItem, (DATE_TIME, DATE, TIME)))

Sides: TypeAlias = tuple[p.Expression, p.Expression, str]  # a row's, the other, and how: row op it


class LiftGroups(Lifting):
    """Cases of `items` and `extend` for what reads the rows of a group."""

    def _loop_of_group(
        self, plan: p.Expression, outer: Relation
    ) -> tuple[Relation, p.Expression] | None:
        """Groups or windows of each group's rows, one after another; None unless every group has

        its own, in the order of the groups.
        """
        known = isinstance(outer.base, c.Group) and not outer.nested
        if not isinstance(plan, p.Return) or not known:
            return None
        if not all(isinstance(one, p.Let) for one in outer.clauses):
            return None
        self._in_members = self._in_groups = True
        try:
            found, result = self._return(plan, outer)
            self._check_columns(found.closed().base)
            if facts(result).free - set(found.variables) - self.globals:
                return None
        except NotLifted:
            return None
        finally:
            self._in_members = self._in_groups = False
        return found, result

    def _rows_of_group(self, rows: GroupRows, outer: Relation) -> tuple[Relation, p.Expression]:
        """What a variable held in each tuple of a group; keys are read as the group has them."""
        width = rows.outer + 1
        if outer.base.width != width:
            raise NotLifted("a group is read for each of several rows")
        keys = tuple(variable for column, variable in rows.keys if variable in rows.plain)
        columns = (*rows.source.variables, *keys)
        node = c.Members(
            rows.source.base, rows.outer, rows.keys, columns, width + 1, self._in_groups
        )
        self._group_of[id(node)] = outer
        return Relation(node, places=rows.source.places), p.Var(rows.held.before)

    def _of_group(
        self, plan: p.Expression, outer: Relation, call: p.Call | None = None
    ) -> tuple[Relation, p.Expression]:
        """A sequence over the rows of a group, or a fold of one, as a column; else it is made of

        the group's items.
        """
        self._in_members = True
        try:
            relation, made = self._nested(plan, call, outer)
            assert isinstance(relation.base, c.Nest)
            self._check_columns(relation.base.inner[-1][0])
            return relation, made
        except NotLifted:
            pass
        finally:
            self._in_members = False
        whole = plan if call is None else replace(call, args=(plan, *call.args[1:]))
        return self.extend(self._over_items(whole), outer)

    # -- rows that compare with a value of their group --------------------------------------------

    def _within_group(
        self, relation: Relation, test: p.Expression
    ) -> tuple[Relation, p.Expression] | None:
        """Rows of a group that compare with a value of their group: when it changes, those between

        the old one and the new one are touched. a = b  →  a >= b and a <= b
        """
        members = _members_below(relation.base)
        group = None if members is None else self._group_of.get(id(members))
        compared = None if group is None else self._sides(test, relation, group)
        if group is None or compared is None:
            return None
        row, value, op = compared
        bound = self.fresh("bound")
        inner = self._let(group, bound, called("data", value))[0].closed()
        return self._held(relation, test, (row, value, op), inner.base, bound)

    def _held(
        self, relation: Relation, test: p.Expression, compared: Sides, inner: c.Node,
        bound: p.Variable,
    ) -> tuple[Relation, p.Expression] | None:  # fmt: skip
        """Whether each row compares with a value that is a column of an inner row."""
        row, value, op = compared
        if op == "eq" and not (self._is_ordered(row) and self._known.type_of(value).at_most_one):
            return None
        general, holds = isinstance(test, p.GeneralCompare), []
        for one in ("ge", "le") if op == "eq" else (op,):
            whole, into = relation.closed(), self.fresh("holds")
            self.checked(row, whole)
            kind = p.GeneralCompare if general else p.ValueCompare
            compare = kind(one, row, p.Var(bound), span=test.span)
            key = p.JoinKey(row, p.Var(bound), general, compare, one)
            fold = c.Fold(called("exists", p.Var(bound)), bound, into)
            node = c.RangeFold(
                whole.base, inner, key, fold, (*whole.variables, into), whole.base.width,
                inner.width,
            )  # fmt: skip
            relation = Relation(node, places=whole.places)
            holds.append(p.Var(into))
        return relation, holds[0] if len(holds) == 1 else p.And(tuple(holds), span=test.span)

    def _sides(self, test: p.Expression, relation: Relation, group: Relation) -> Sides | None:
        """What a row compares by, what its group does, and how: row op group."""
        match test:
            case p.GeneralCompare(op, one, other) | p.ValueCompare(op, one, other):
                pass
            case _:
                return None
        own = set(relation.variables)
        swapped = not facts(one).free & own
        row, value = (other, one) if swapped else (one, other)
        known = facts(value).free - self.globals
        if (
            op not in SWAPPED
            or op == "ne"
            or self.program.static.collation != CODEPOINT
            or not facts(row).free & own
            or facts(row).free - own - self.globals
            or not known
            or known & own
            or known - set(group.variables)
            or any(self.mentions(side) or asks_clock(side) for side in (row, value))
            or any(facts(side).reads_focus for side in (row, value))
        ):
            return None
        return row, value, SWAPPED[op] if swapped else op

    def _is_ordered(self, plan: p.Expression) -> bool:
        """Whether it is at most one value that equals another where neither is less, and that
        can be compared by order with what it can be compared with.
        """
        known = self._known.type_of(plan)
        moment = isinstance(plan, p.Cast) and plan.target in _MOMENTS
        ordered = moment or any(map(known.only, (Kinds.NUMERIC, Kinds.STRING)))
        return known.at_most_one and ordered

    def _over_items(self, plan: p.Expression) -> p.Expression:
        """The plan over the items that a group's variable holds."""

        def put(node: Any) -> Any:
            known = isinstance(node, p.Var) and node.variable in self._members
            return p.Var(self._members[node.variable].held.after) if known else node

        return bottom_up(plan, put)  # type: ignore[no-any-return]

    def _check_columns(self, relation: c.Node) -> None:
        """NotLifted if a row of a group is to read what only the group's own row holds."""
        for node in in_order(relation):
            match node:
                case c.Rows(source=source, tuples=tuples, scalars=scalars):
                    read, known = facts(tuples).free, {variable for variable, _ in scalars}
                case c.Window(source=source, window=window):
                    read, known = facts(window).free, set()
                case _:
                    continue
            if read - known - set(source.columns) - self.globals:
                raise NotLifted("a row of a group reads columns of the group's row")


def _members_below(node: c.Node) -> c.Members | None:
    """The rows of groups that a relation is made of, row by row."""
    match node:
        case c.Members():
            return node
        case c.Rows(source=source):
            return _members_below(source)
        case c.RangeFold(outer=outer):
            return _members_below(outer)
        case _:
            return None
