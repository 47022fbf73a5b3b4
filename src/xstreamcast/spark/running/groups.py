"""How groups are made of what tasks tell: of each group, values of the tuples that a task has.

result($a) over all tuples of a group  →  rest(v, …), where v is put together from what each task
finds for `$a/price`, `count($a)` and the like among its own tuples of the group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, cast

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.cut import NotDivided
from xstreamcast.algebra.division import FOLDS, Division, Fold, Grouped, Part
from xstreamcast.algebra.free import facts, free_numbers
from xstreamcast.algebra.locality import Locality
from xstreamcast.algebra.over import gathering
from xstreamcast.algebra.walk import descendants, map_children
from xstreamcast.functions.signature import FN

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program

_WALKING: Final = (
    p.Step, p.Path, p.SetOperation, p.NodeCompare, p.UserCall, p.DynamicCall, p.Root, p.Inline,
    p.FunctionRef, p.UserRef, p.LifespanBound, p.IntervalProjection, p.VersionProjection, p.Treat,
    p.AllenCompare, p.InstanceOf, p.TypeSwitch,
)  # fmt: skip
_ALREADY: Final = (p.Var, p.Inline, p.Try)  # not looked into any further


@dataclass(frozen=True, slots=True)
class Use:
    """A value over the tuples of a group: what a task finds is folded, and stands for it after."""

    variable: p.Variable
    value: p.Expression
    fold: Fold


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of tuples; what is used of each; then clauses over them, their order, the result."""

    group: p.GroupBy
    uses: tuple[Use, ...]
    tail: p.Tuples
    order: tuple[p.OrderKey, ...]
    result: p.Expression

    @property
    def asked(self) -> p.Expression:
        """What tasks are asked: the values for each group."""
        return p.Return(self.group, p.Comma(tuple(one.value for one in self.uses)))

    @property
    def rest(self) -> p.Expression:
        """What is done with groups that are whole."""
        return p.Return(self.tail, p.Comma((self.result, *(key.value for key in self.order))))


def unordered(program: Program) -> tuple[Program, tuple[p.OrderKey, ...]]:
    """The program without an `order by` after `group by`: its keys are asked beside the result."""
    body = program.body
    if not isinstance(body, p.Return) or not isinstance(body.source, p.OrderBy):
        return program, ()
    order = body.source
    plain = p.Return(order.source, p.Comma((body.result, *(key.value for key in order.keys))))
    if gathering(plain, p.GroupBy) is None:
        return program, ()
    return replace(program, body=plain), order.keys


def groups_of(program: Program, division: Division, order: tuple[p.OrderKey, ...]) -> Groups | str:
    """How the groups of a division are made in parts, or why they are not."""
    (part,) = division.parts
    shape = part.shape
    assert isinstance(shape, Grouped)
    taking = _Taking(program, division, part, shape)
    full = taking.split(shape.result)
    if facts(full).used & taking.carried:
        return "what is done with a group needs all of its tuples at once"
    if any(isinstance(node, p.StreamInput) for node in descendants(full)):
        return "what is done with a group reads another input"
    if facts(full).reads_focus or not facts(full).pure:
        return "what is done with a group depends on more than the group"
    items = {one.variable for one in taking.uses if one.fold == "items"}
    if items and any(isinstance(node, _WALKING) for node in descendants(full)):
        return "what is done with a group walks over its nodes"
    tail: p.Tuples = p.Unit()
    if order and isinstance(full, p.Return):
        tail, full = full.source, full.result
    if not order:
        return Groups(shape.group, tuple(taking.uses), tail, (), full)
    if not isinstance(full, p.Comma) or len(full.parts) != 1 + len(order):
        return "groups are sorted after they were taken apart"
    keys = tuple(
        replace(key, value=value) for key, value in zip(order, full.parts[1:], strict=True)
    )
    return Groups(shape.group, tuple(taking.uses), tail, keys, full.parts[0])


class _Taking:
    """One walk over what is done with a group: the values that tasks can find are taken out."""

    def __init__(self, program: Program, division: Division, part: Part, shape: Grouped) -> None:
        self._program, self._input = program, part.input
        self._cut = (division.deeper or (division,))[-1].cuts[part.input]
        self._source = shape.tuples
        self.carried = frozenset(after for _, after in shape.group.carried)
        self._before = {after: before for before, after in shape.group.carried}
        self._globals = frozenset(one.variable for one in program.variables)
        self.uses: list[Use] = []
        self._numbers = _numbers(program, shape)
        self._walk = Locality(program, part.input, self._cut)
        self._walk.places[part.document] = self._cut.document()
        self._document = part.document
        focus = None if part.input is not None else self._cut.document()
        self._walk.drive_tuples(shape.tuples, focus)

    def split(self, plan: Any) -> Any:
        """The plan with variables in the place of what tasks find."""
        if not facts(plan).used & self.carried:
            return plan
        match plan:
            case p.Call(function, (argument,)) if (
                function.uri == FN and function.local in FOLDS and self._adds_up(argument)
            ):
                return self._used(argument, cast(Fold, function.local))
            case _ if self._adds_up(plan):
                return self._used(plan, "items")
            case _ if isinstance(plan, _ALREADY):
                return plan
            case _:
                return map_children(plan, self.split)

    def _used(self, value: p.Expression, fold: Fold) -> p.Var:
        for one in self.uses:
            if one.value == value and one.fold == fold:
                return p.Var(one.variable)
        self.uses.append(Use(p.Variable(next(self._numbers), "used"), value, fold))
        return p.Var(self.uses[-1].variable)

    def _adds_up(self, plan: Any) -> bool:
        """Whether the value over all tuples is that over some, and then that over the others."""
        known = facts(plan)
        if not isinstance(plan, p.Expression) or known.reads_focus or not known.pure:
            return False
        mine = known.free & self.carried
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
        walk = Locality(self._program, self._input, self._cut, {variable: place})
        try:
            walk.drive(plan, None)
        except NotDivided:
            return False
        return not walk.held and not walk.guards

    def _stands(self, plan: p.Expression) -> bool:
        """Whether its nodes all stand in units, so that no two tasks find the same one."""
        match plan:
            case p.Var(variable) if variable == self._document:
                return True
            case p.Var(variable):
                found = [one for one in _bindings(self._source) if one[0] == variable]
                return len(found) == 1 and self._stands(found[0][1])
            case p.Step(input) | p.Filter(input) | p.Root(input) | p.IntervalProjection(input):
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


def _numbers(program: Program, shape: Grouped) -> Iterator[int]:
    """Numbers of variables that nobody uses, far from those of other parts."""
    return count(next(free_numbers(program, (shape.group, shape.result))) + 1000)
