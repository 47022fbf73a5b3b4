"""A relation under construction, and what stops one from being made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import NodePlace
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.analysis.timing import asks_clock
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.circuit.analysis.group_folds import GroupMembers
from xstreamcast.errors import Span
from xstreamcast.model.atomic import BOOLEAN

TRUE: Final = p.Const((p.Atom(BOOLEAN, True),))
FALSE: Final = p.Const((p.Atom(BOOLEAN, False),))
Places = Mapping[str, NodePlace]  # by input: where the nodes of a variable are


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
        """The relation, knowing where the nodes of a variable are."""
        return replace(self, places={**self.places, variable: places}) if places else self

    def closed(self) -> Relation:
        """The relation as one node."""
        if not self.clauses and not self.scalars:
            return self
        tuples: p.Tuples = p.Unit()
        for clause in self.clauses:
            side = "left" if isinstance(clause, p.TupleJoin) else "source"
            tuples = replace(clause, **{side: tuples})
        width = self.base.width + int(self.nested)
        node = c.Rows(
            self.base, tuples, (*self.variables, *self.scalars), width, self.nested,
            tuple(self.scalars.items()), clock=self.clock,
        )  # fmt: skip
        return Relation(node, places=self.places)


@dataclass(frozen=True, slots=True)
class GroupRows:
    """The rows that a group was made of, and what a variable holds in each of them.

    `plain`: keys that are texts, so that those of all rows are the key of the group.
    """

    source: Relation
    keys: tuple[tuple[p.Variable, p.Variable], ...]
    outer: int
    held: GroupMembers
    plain: frozenset[p.Variable] = frozenset()


def member(value: p.Expression, call: p.Call | None, relation: Relation) -> p.Expression:
    """What a fold keeps of each row: values, unless it is the items that count."""
    if call is None:
        return value
    if call.function.local in ("count", "exists", "empty"):
        # the lifespans of what is counted are not read, so that the clock need not revise them
        moves = asks_clock(value) or _is_projected(value, relation)
        return p.SimpleMap(value, TRUE, span=value.span) if moves else value
    return called("data", value)


def _is_projected(value: p.Expression, relation: Relation) -> bool:
    """Whether a variable of the value is bound to something that depends on the clock."""
    used = facts(value).used
    for clause in relation.clauses:
        match clause:
            case p.Let(_, variable, bound) | p.ForEach(_, variable, bound) if variable in used:
                if asks_clock(bound):
                    return True
            case _:
                pass
    return False
