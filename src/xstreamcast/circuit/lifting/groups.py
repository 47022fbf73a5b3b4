"""What is nested in groups: sequences over the rows that each group was made of."""

from __future__ import annotations

from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.lifting.lifting import Lifting
from xstreamcast.circuit.lifting.relation import GroupRows, NotLifted, Relation
from xstreamcast.circuit.node_sources import in_order


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
        return Relation(node, places=rows.source.places), p.Var(rows.held.before)

    def _of_group(self, plan: p.Expression, outer: Relation) -> tuple[Relation, p.Expression]:
        """A sequence over the rows of a group as a column; else it is made of the group's items."""
        self._in_members = True
        try:
            relation, made = self._nested(plan, None, outer)
            assert isinstance(relation.base, c.Nest)
            self._check_columns(relation.base.inner[-1][0])
            return relation, made
        except NotLifted:
            pass
        finally:
            self._in_members = False
        return self.extend(self._over_items(plan), outer)

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
