"""Where a part compares values of its units with values of another input: probes are put there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.division import Grouped, Listed, Shape, Sorted
from xstreamcast.algebra.free import bound_variables, facts
from xstreamcast.algebra.joining_sides import (
    NOTHING_AFTER,
    After,
    Around,
    conditioned,
    conjuncts,
    focused_sides,
    inputs,
    put_in,
    sides_on,
    single,
    with_side,
    within,
)
from xstreamcast.algebra.probe import Probe
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.shapes import plans_of
from xstreamcast.algebra.timing import asks_clock
from xstreamcast.algebra.walk import STREAMS, children, descendants, map_children
from xstreamcast.algebra.windowed import Windowed
from xstreamcast.model.atomic import BOOLEAN

_TRUE: Final = p.Const((p.Atom(BOOLEAN, True),))
_CLOSED: Final = (p.TypeSwitch, p.Try, p.Inline, p.SetVariable, p.Block)


class Unprobed(Exception):
    """An input is reached otherwise than through an equality."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(slots=True)
class Finding:
    """One walk: probes found so far, those that later ones depend on first."""

    program: Program
    targets: frozenset[str]
    numbers: Iterator[int]
    probes: list[Probe] = field(default_factory=list)

    def shape(self, shape: Shape) -> Shape:
        """The shape with documents of probes in the place of inputs, of which none is left."""
        made = self._walked(shape)
        for plan in plans_of(made):
            self._refuse(plan)
        return made

    def _walked(self, shape: Shape) -> Shape:
        match shape:
            case Listed(expression):
                return Listed(self.walk(expression, ()))
            case Sorted(tuples, keys, result):
                made = self.tuples(tuples, ())
                sorting = tuple(replace(k, value=self.walk(k.value, (made,))) for k in keys)
                return Sorted(made, sorting, self.walk(result, (made,)))
            case Grouped(tuples, group, result):
                for plan in (*(key.value for key in group.keys), result):
                    self._refuse(plan)
                made = self.tuples(tuples, ())
                return Grouped(made, replace(group, source=made), result)
            case Windowed():
                return shape  # reads no other input

    def _met(self, plan: p.Plan) -> set[str]:
        found = {node.name for node in descendants(plan) if isinstance(node, p.StreamInput)}
        return found & self.targets

    def _refuse(self, plan: p.Plan) -> None:
        for name in self._met(plan):
            raise Unprobed(name)

    # -- expressions ------------------------------------------------------------------------------

    def walk(self, plan: Any, around: Around) -> Any:
        """The expression with documents of probes in the place of inputs."""
        if not self._met(plan):
            return plan
        match plan:
            case p.StreamInput(name):
                raise Unprobed(name)
            case p.GeneralCompare("eq", left, right):
                return self._compared(plan, left, right, around)
            case p.Filter(source, predicate):
                made = self._looked_up(plan, around)
                if made is not None:
                    return made
                inner = self.walk(source, around)
                return replace(plan, input=inner, predicate=self.walk(predicate, (*around, inner)))
            case p.Path(left, right) | p.SimpleMap(left, right):
                inner = self.walk(left, around)
                return replace(plan, left=inner, right=self.walk(right, (*around, inner)))
            case p.Return(source, result):
                tuples = self.tuples(source, around)
                return replace(plan, source=tuples, result=self.walk(result, (*around, tuples)))
            case p.Quantified(kind, source, test):
                if kind == "some" and test != _TRUE:
                    source, test = conditioned(source, test), _TRUE
                tuples = self.tuples(source, around)
                test = self.walk(test, (*around, tuples))
                return replace(plan, source=tuples, test=test)
            case _:
                if isinstance(plan, _CLOSED):
                    self._refuse(plan)
                return map_children(plan, lambda child: self.walk(child, around))

    def _compared(
        self, plan: p.GeneralCompare, left: p.Expression, right: p.Expression, around: Around
    ) -> p.Expression:
        """values of the unit = values of the other input."""
        for there, here in ((left, right), (right, left)):
            name = self._begins_at(there)
            if name is None:
                continue
            closed = self._closed(there, name)
            compared = self.walk(here, around)
            document = self._probe(name, around, compared, closed, plan)
            made = put_in(there, name, document)
            return p.GeneralCompare(
                "eq", *((made, compared) if there is left else (compared, made)), span=plan.span
            )
        return map_children(plan, lambda child: self.walk(child, around))

    def _looked_up(self, plan: p.Filter, around: Around) -> p.Expression | None:
        """other[its value = values of the unit and …]."""
        name = self._begins_at(plan.input)
        if name is None or plan.reverse:
            return None
        tests = conjuncts(plan.predicate)
        for test in tests:
            sides = focused_sides(test)
            if sides is None or self._met(sides[0]) or facts(sides[1]).reads_focus:
                continue
            others = [one for one in tests if one is not test]
            source = plan.input
            for one in others:
                if not self._met(one) and self._is_closed(one, frozenset()):
                    source = p.Filter(source, one)
            closed = self._closed(p.SimpleMap(source, sides[0]), name)
            compared = self.walk(sides[1], around)
            document = self._probe(name, around, compared, closed, test)
            source = put_in(plan.input, name, document)
            inner = (*around, source)
            kept = {id(one): self.walk(one, inner) for one in others}
            kept[id(test)] = with_side(test, sides[1], compared)
            made = tuple(kept[id(one)] for one in tests)
            predicate = made[0] if len(made) == 1 else p.And(made, span=plan.predicate.span)
            return replace(plan, input=source, predicate=predicate)
        return None

    # -- tuples -----------------------------------------------------------------------------------

    def tuples(self, plan: Any, around: Around, after: After = NOTHING_AFTER) -> Any:
        """The tuples with documents of probes in the place of inputs.

        `after`: conditions that all of them must meet in the end.
        """
        if not self._met(plan):
            return plan
        match plan:
            case p.Join(left, right, keys, residual):
                return self._joined(plan, left, right, keys, residual, around, after)
            case p.ForEach():
                made = self._loop(plan, around, after)
                if made is not None:
                    return made
                after = after.bound(plan)
            case p.Where(_, test):
                after = after.tested(test)
            case p.Let():
                after = after.bound(plan)
            case p.Window():
                self._refuse_boundaries(plan)
                after = NOTHING_AFTER
            case _:
                after = NOTHING_AFTER
        source = self.tuples(plan.source, around, after)
        inner = (*around, source)
        return map_children(
            plan,
            lambda child: source if isinstance(child, STREAMS) else self.walk(child, inner),
        )

    def _refuse_boundaries(self, plan: p.Window) -> None:
        for child in children(plan):
            if child is not plan.source and child is not plan.items:
                self._refuse(child)

    def _joined(
        self, plan: p.Join, left: p.Tuples, right: p.Tuples, keys: tuple[p.JoinKey, ...],
        residual: p.Expression | None, around: Around, after: After,
    ) -> p.Tuples:  # fmt: skip
        for key in keys:
            self._refuse(key.left)
            self._refuse(key.right)
        first = self.tuples(left, around, after.bound(right))
        second = right
        if self._met(right):
            second = self._right(first, right, keys, around)
        made = replace(plan, left=first, right=second)
        if residual is None:
            return made
        return replace(made, residual=self.walk(residual, (*around, replace(made, residual=None))))

    def _right(
        self, left: p.Tuples, right: p.Tuples, keys: tuple[p.JoinKey, ...], around: Around
    ) -> p.Tuples:
        """The right side of a join over the units that agree on the first equality."""
        name = self._loop_over(right)
        for key in keys:
            if name is not None and key.op == "eq":
                there, here = (single(side, key.general) for side in (key.right, key.left))
                closed = self._closed(p.Return(right, there), name)
                document = self._probe(name, (*around, left), here, closed, key.test)
                put: p.Tuples = put_in(right, name, document)
                return put
        self._refuse(right)
        return right

    def _loop(self, plan: p.ForEach, around: Around, after: After) -> p.Tuples | None:
        """for $v in other, where its value = values of the tuples before."""
        name = self._begins_at(plan.items) if self._plain_loop(plan) else None
        for test in after.tests if name is not None else ():
            sides = sides_on(test, plan.variable)
            if sides is None or self._met(test) or facts(sides[1]).free & after.variables:
                continue
            assert name is not None
            source = self.tuples(plan.source, around, after.bound(plan))
            general = isinstance(test, p.GeneralCompare)
            there, here = (single(side, general) for side in sides)
            closed = self._closed(p.Return(self._alone(plan, test, after), there), name)
            document = self._probe(name, (*around, source), here, closed, test)
            return replace(plan, source=source, items=put_in(plan.items, name, document))
        return None

    def _alone(self, loop: p.ForEach, test: p.Expression, after: After) -> p.Tuples:
        """The loop by itself, with the conditions that read nothing else."""
        made: p.Tuples = replace(loop, source=p.Unit())
        allowed = frozenset({loop.variable})
        for one in after.tests:
            if one is not test and self._is_closed(one, allowed):
                made = p.Where(made, one)
        return made

    def _plain_loop(self, loop: p.ForEach) -> bool:
        return loop.position is None and not loop.allowing_empty

    def _loop_over(self, tuples: p.Tuples) -> str | None:
        """The one input that tuples go over, if they do nothing but that and choose among them."""
        while isinstance(tuples, p.Where | p.Let):
            tuples = tuples.source
        if not isinstance(tuples, p.ForEach) or not isinstance(tuples.source, p.Unit):
            return None
        return self._begins_at(tuples.items) if self._plain_loop(tuples) else None

    # -- probes -----------------------------------------------------------------------------------

    def _begins_at(self, plan: p.Expression) -> str | None:
        """The input that a path starts at, if it meets no other."""
        origin: Any = plan
        while True:
            match origin:
                case p.Step(source) | p.Filter(source) | p.Path(source) | p.SimpleMap(source):
                    origin = source
                case p.IntervalProjection(source):
                    origin = source
                case p.StreamInput(name) if self._met(plan) == {name}:
                    return name if inputs(plan) == 1 else None
                case _:
                    return None

    def _closed(self, plan: p.Expression, name: str) -> p.Expression:
        """The values over an input, freed from conditions that are not its own."""
        made: p.Expression = self._relaxed(plan)
        bound = facts(made)
        known = frozenset(v.variable for v in self.program.variables)
        if not bound.free <= known or bound.reads_focus or not bound.pure or asks_clock(made):
            raise Unprobed(name)
        if inputs(made) != 1:
            raise Unprobed(name)
        return made

    def _relaxed(self, plan: Any) -> Any:
        """Without conditions that read what is not its own: more values, never fewer."""
        match plan:
            case p.Filter(source, predicate):
                inner = self._relaxed(source)
                alone = self._is_closed(predicate, frozenset())
                return replace(plan, input=inner) if alone else inner
            case p.Where(source, test):
                inner = self._relaxed(source)
                alone = self._is_closed(test, frozenset(bound_variables(source)))
                return replace(plan, source=inner) if alone else inner
            case p.Step(source):
                return replace(plan, input=self._relaxed(source))
            case p.Path(left) | p.SimpleMap(left):
                return replace(plan, left=self._relaxed(left))
            case p.ForEach(source, _, items):
                return replace(plan, source=self._relaxed(source), items=self._relaxed(items))
            case p.Return(source) | p.Let(source):
                return replace(plan, source=self._relaxed(source))
            case _:
                return plan

    def _is_closed(self, plan: p.Expression, allowed: frozenset[p.Variable]) -> bool:
        known = frozenset(v.variable for v in self.program.variables)
        return facts(plan).free <= known | allowed and inputs(plan) == 0

    def _probe(
        self, name: str, around: Around, compared: p.Expression, there: p.Expression,
        test: p.Expression,
    ) -> p.Variable:  # fmt: skip
        document = p.Variable(next(self.numbers), name)
        unit = p.Variable(next(self.numbers), name)
        here = within(around, compared)
        own = facts(compared)
        if own.position or own.last or facts(here).reads_focus or self._met(here):
            raise Unprobed(name)
        over = put_in(there, name, unit)
        self.probes.append(Probe(name, document, unit, here, over, span=test.span))
        return document
