"""Groups whose rows tasks make: of each group, values over the rows that a task has.

result($a) over all rows of a group  →  rest(v, …), where v is put together from what each task
finds for `$a/price`, `count($a)` and the like among its own rows of the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import Cut, NotDivided
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import descendants, map_children
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.analysis.locality import Locality
from xstreamcast.circuit.batch.rows import NotDistributed, row_tuples
from xstreamcast.functions.signature import FN

GroupFold = Literal[
    "items", "count", "exists", "empty", "sum", "avg", "min", "max", "distinct-values"
]
FOLDS: Final = frozenset(
    {"count", "exists", "empty", "sum", "avg", "min", "max", "distinct-values"}
)
_WALKING: Final = (
    p.Step, p.Path, p.SetOperation, p.NodeCompare, p.UserCall, p.DynamicCall, p.TreeRoot, p.Inline,
    p.FunctionRef, p.UserRef, p.LifespanBound, p.IntervalProjection, p.VersionProjection, p.Treat,
    p.AllenCompare, p.InstanceOf, p.TypeSwitch,
)  # fmt: skip
_ALREADY: Final = (p.Var, p.Inline, p.Try)  # not looked into any further


@dataclass(frozen=True, slots=True)
class PartialFold:
    """A value over the rows of a group: what each task finds is folded, and represents it after."""

    variable: p.Variable
    value: p.Expression
    fold: GroupFold


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of rows; partial values of each; clauses over whole groups, their order, the result"""

    group: p.GroupBy
    partials: tuple[PartialFold, ...]
    tail: p.Tuples
    order: tuple[p.OrderKey, ...]
    result: p.Expression

    @property
    def partial_values(self) -> p.Expression:
        """What tasks evaluate: the values for each group."""
        return p.Return(self.group, p.Comma(tuple(one.value for one in self.partials)))

    @property
    def rest(self) -> p.Expression:
        """What is done with groups that are whole."""
        return p.Return(self.tail, p.Comma((self.result, *(key.value for key in self.order))))


def groups_of(
    program: Program, cut: Cut, node: c.Group, document: p.Variable, tail: p.Tuples,
    order: tuple[p.OrderKey, ...], result: p.Expression, fresh: Callable[[str], p.Variable],
) -> Groups:  # fmt: skip
    """How the rows of a group node are grouped in parts; NotDistributed if they are not."""
    if node.outer or node.carried:
        raise NotDistributed("groups are made within each row of another loop")
    taking = _Taking(program, cut, node, document, fresh)
    lets = [let for fold in node.folds if (let := taking.fold(fold)) is not None]
    for variable, value in reversed(lets):
        tail = _with_let(tail, variable, value)
    tail, result = taking.split(tail), taking.split(result)
    order = tuple(replace(key, value=taking.split(key.value)) for key in order)
    groups = Groups(taking.group, tuple(taking.partials), tail, order, result)
    _check(groups.rest, taking)
    return groups


def _with_let(tail: Any, variable: p.Variable, value: p.Expression) -> p.Tuples:
    """The clauses with one more before them."""
    if isinstance(tail, p.Unit):
        return p.Let(tail, variable, value)
    return replace(tail, source=_with_let(tail.source, variable, value))  # type: ignore[no-any-return]


def _check(rest: p.Expression, taking: _Taking) -> None:
    if facts(rest).used & taking.members:
        raise NotDistributed("the result of a group needs all of its rows at once")
    if facts(rest).reads_focus or not facts(rest).pure:
        raise NotDistributed("the result of a group depends on more than the group")
    items = any(one.fold == "items" for one in taking.partials)
    if items and any(isinstance(node, _WALKING) for node in descendants(rest)):
        raise NotDistributed("the result of a group navigates from its nodes")


class _Taking:
    """One walk over what is done with a group: the values that tasks can find are taken out."""

    def __init__(
        self, program: Program, cut: Cut, node: c.Group, document: p.Variable,
        fresh: Callable[[str], p.Variable],
    ) -> None:  # fmt: skip
        self._program, self._cut, self._document, self._fresh = program, cut, document, fresh
        self._source = row_tuples(node.source)
        self._globals = frozenset(one.variable for one in program.variables)
        self._before = {
            fold.into if fold.call is None else fresh("member"): fold.column for fold in node.folds
        }
        self._folds = dict(zip(node.folds, self._before, strict=True))
        self.members = frozenset(self._before)
        self.group = p.GroupBy(
            self._source,
            tuple(p.GroupKey(after, p.Var(before)) for before, after in node.keys),
            tuple((before, after) for after, before in self._before.items()),
        )
        self.partials: list[PartialFold] = []
        self._walk = Locality(program, None, cut)
        self._walk.places[document] = cut.document()
        try:
            self._walk.drive_tuples(self._source, None)
        except NotDivided:  # a column that holds all of a unit: where its nodes are is not known
            self._walk.places.clear()

    def fold(self, fold: c.Fold) -> tuple[p.Variable, p.Expression] | None:
        """A fold becomes a partial value; what has to be computed from that, if anything."""
        if fold.call is None:
            return None
        if fold.once is not None:
            raise NotDistributed("rows of a join count once for each row of one side")
        member = p.Var(self._folds[fold])
        if fold.name in FOLDS and len(fold.call.args) == 1 and not fold.different:
            self.partials.append(PartialFold(fold.into, member, cast(GroupFold, fold.name)))
            return None
        kept: GroupFold = "distinct-values" if fold.different else "items"
        values = self._partial(member, kept)
        return fold.into, replace(fold.call, args=(values, *fold.call.args[1:]))

    def split(self, plan: Any) -> Any:
        """The plan with variables in the place of what tasks find."""
        if not facts(plan).used & self.members:
            return plan
        match plan:
            case p.Call(function, (argument,)) if (
                function.uri == FN and function.local in FOLDS and self._adds_up(argument)
            ):
                return self._partial(argument, cast(GroupFold, function.local))
            case _ if self._adds_up(plan):
                return self._partial(plan, "items")
            case _ if isinstance(plan, _ALREADY):
                return plan
            case _:
                return map_children(plan, self.split)

    def _partial(self, value: p.Expression, fold: GroupFold) -> p.Var:
        for one in self.partials:
            if one.value == value and one.fold == fold:
                return p.Var(one.variable)
        self.partials.append(PartialFold(self._fresh("partial"), value, fold))
        return p.Var(self.partials[-1].variable)

    def _adds_up(self, plan: Any) -> bool:
        """Whether the value over all rows is that over some, and then that over the others."""
        known = facts(plan)
        if not isinstance(plan, p.Expression) or known.reads_focus or not known.pure:
            return False
        mine = known.free & self.members
        if len(mine) != 1 or not known.free - mine <= self._globals:
            return False
        (variable,) = mine
        match plan:
            case p.Var():
                return True
            case p.Call(function, (p.Var(),)) if (function.uri, function.local) == (FN, "data"):
                return True
            case _:
                return self._is_driven(plan, variable)

    def _is_driven(self, plan: p.Expression, variable: p.Variable) -> bool:
        before = self._before[variable]
        place = self._walk.places.get(before)
        if place is None or not place.inside or place.spine is not None or place.held:
            return False
        if not self._stands(p.Var(before)):
            return False
        walk = Locality(self._program, None, self._cut, {variable: place})
        try:
            walk.drive(plan, None)
        except NotDivided:
            return False
        return not walk.held and not walk.guards

    def _stands(self, plan: p.Expression) -> bool:
        """Whether all its nodes are in units, so that no two tasks find the same one."""
        match plan:
            case p.Var(variable) if variable == self._document:
                return True
            case p.Var(variable):
                found = [one for one in _bindings(self._source) if one[0] == variable]
                return len(found) == 1 and self._stands(found[0][1])
            case p.Step(input) | p.Filter(input) | p.TreeRoot(input) | p.IntervalProjection(input):
                return self._stands(input)
            case p.Path(left, right):
                return self._stands(left) and (self._stands(right) or isinstance(right, p.Focus))
            case p.Focus():
                return True
            case _:
                return False


def _bindings(tuples: p.Tuples) -> Iterator[tuple[p.Variable, p.Expression]]:
    """The variables that `for` and `let` bind, and to what."""
    for node in descendants(tuples):
        match node:
            case p.ForEach(_, variable, items):
                yield variable, items
            case p.Let(_, variable, value):
                yield variable, value
