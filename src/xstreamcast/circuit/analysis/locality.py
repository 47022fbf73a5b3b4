"""Whether a part of a plan can be computed unit by unit, and what it reads besides.

driven: value over the input  →  the values over its units, one after another.
looked at: reads only its own unit, and names and attributes around it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import (
    ELSEWHERE,
    Cut,
    Guard,
    NodePlace,
    NotDivided,
    are_elements,
    step,
)
from xstreamcast.algebra.analysis.free import counts_positions, facts
from xstreamcast.algebra.analysis.item_kinds import predicate_class
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import STREAMS, children, descendants
from xstreamcast.functions.signature import FN
from xstreamcast.model.sequence_type import NodeItem

_NAMES: Final = frozenset({"name", "local-name", "node-name", "namespace-uri"})
ABOVE: Final = frozenset(
    {"root", "path", "id", "idref", "element-with-id", "lang", "base-uri", "document-uri"}
    | {"generate-id", "collection", "uri-collection", "innermost", "outermost"}
)
_CLOCK: Final = frozenset({"current-dateTime", "current-date", "current-time"})
_TEMPORAL: Final = (
    p.Instant,
    p.LifespanBound,
    p.IntervalProjection,
    p.VersionProjection,
    p.Interval,
    p.AllenCompare,
)
_NODELESS: Final = (p.GeneralCompare, p.ValueCompare, p.And, p.Or, p.Arithmetic, p.Quantified)


@dataclass(slots=True)
class Locality:
    """One walk: the input that drives, its cut, and what was met on the way."""

    program: Program
    input: str | None  # None: the context item
    cut: Cut
    places: dict[p.Variable, NodePlace] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)  # inputs that are read whole
    guards: set[Guard] = field(default_factory=set)
    held: set[Guard] = field(default_factory=set)  # children that must not come apart
    clock: bool = False
    _seen: set[int] = field(default_factory=set)  # declared functions already looked into

    # -- driven -----------------------------------------------------------------------------------

    def driven(self, plan: p.Expression) -> None:
        """NotDivided unless the value is that over the units, one after another."""
        place = self.drive(plan, None if self.input is not None else self.cut.document())
        if not self.settle(place, plan).inside:
            raise NotDivided("it reads nothing inside units", plan.span)

    def drive(self, plan: p.Expression, focus: NodePlace | None) -> NodePlace:
        """Where the items of a driven expression are."""
        match plan:
            case p.StreamInput(name) if name == self.input:
                return self.cut.document()
            case p.Focus() if focus is not None:
                return focus
            case p.Var(variable) if variable in self.places:
                return self.places[variable]
            case p.TreeRoot(operand):
                return self._root(plan, operand, focus)
            case p.Step(input):
                return self._drive_step(plan, self.drive(input, focus))
            case p.Path(left, right) | p.SimpleMap(left, right):
                return self._drive_inner(right, self.drive(left, focus))
            case p.Filter(input, predicate, reverse):
                return self._drive_filter(plan, input, predicate, reverse, focus)
            case p.Return(source, result):
                return self._drive_return(source, result, focus)
            case p.IntervalProjection(operand, first, last):
                self.clock = True
                self.values([first] if last is None else [first, last], None)
                return self.settle(self.drive(operand, focus), plan)
            case p.Call(function, (argument,)) if (function.uri, function.local) == (FN, "data"):
                return self.settle(self.drive(argument, focus), plan)
            case p.SetOperation(_, left, right):  # units share no node
                one = self.settle(self.drive(left, focus), plan)
                return one.joined(self.settle(self.drive(right, focus), plan))
            case _:
                raise NotDivided("it needs all of the input at once", plan.span)

    def _root(self, plan: p.TreeRoot, operand: p.Expression, focus: NodePlace | None) -> NodePlace:
        place = self.drive(operand, focus)
        if place != self.cut.document():
            raise NotDivided("it navigates up to the root", plan.span)
        return place

    def _drive_step(self, plan: p.Step, place: NodePlace) -> NodePlace:
        try:
            return self._step(plan, place, plan.axis, plan.test, driving=True)
        except NotDivided:
            if place.spine is None or not place.inside:
                raise
            return self._step(plan, self._hold(place, plan), plan.axis, plan.test, driving=True)

    def _drive_inner(self, right: p.Expression, place: NodePlace) -> NodePlace:
        """The right side of a path: driven on from the spine, looked at inside a unit."""
        if counts_positions(right):
            raise NotDivided("it counts positions over all units", right.span)
        if place.spine is not None:
            return self.drive(right, place)
        self.settle(self.look(right, place), right)
        return place

    def _drive_filter(
        self,
        plan: p.Expression,
        input: p.Expression,
        predicate: p.Expression,
        reverse: bool,
        focus: NodePlace | None,
    ) -> NodePlace:
        place = self.drive(input, focus)
        known = facts(predicate)
        if reverse or known.position or known.last or predicate_class(predicate) != "truth":
            raise NotDivided("it counts positions over all units", plan.span)
        try:
            self.value(predicate, place)
        except NotDivided:
            place = self._hold(place, plan)
            self.value(predicate, place)
        return place

    def _drive_return(
        self, source: p.Tuples, result: p.Expression, focus: NodePlace | None
    ) -> NodePlace:
        if self.drive_tuples(source, focus):
            self.value(result, None)
            return NodePlace(inside=True)
        return self.drive(result, None)

    def drive_tuples(self, plan: p.Tuples, focus: NodePlace | None) -> bool:
        """Whether the tuples have come down into the units: those over all are those over each."""
        match plan:
            case p.Unit():
                return False
            case p.ForEach(source, variable, items, position, allowing_empty):
                down = self.drive_tuples(source, focus)
                if down:
                    self.places[variable] = self.value(items, focus)
                    return True
                if position is not None or allowing_empty:
                    raise NotDivided("it counts positions over all units", plan.span)
                place = self.drive(items, focus)
                if place.inside:
                    place = self.settle(place, items)
                self.places[variable] = place
                return place.inside
            case p.Let(source, variable, value):
                down = self.drive_tuples(source, focus)
                self.places[variable] = self._let(value, focus, down)
                return down
            case p.Where(source, test):
                down = self.drive_tuples(source, focus)
                self.value(test, focus)
                return down
            case p.ForWindow(source) if self.drive_tuples(source, focus):
                self._window(plan, focus)
                return True
            case p.TupleJoin(left, right) if self.drive_tuples(left, focus):
                self.look_tuples(right, focus)
                self.values(_join_operands(plan), focus)
                return True
            case p.GroupBy():
                raise NotDivided("group by brings tuples of all units together", plan.span)
            case p.OrderBy():
                raise NotDivided("order by compares tuples of all units", plan.span)
            case p.CountTuples():
                raise NotDivided("count numbers the tuples of all units", plan.span)
            case _:
                raise NotDivided("it needs all of the input at once", plan.span)

    def _let(self, value: p.Expression, focus: NodePlace | None, down: bool) -> NodePlace:
        if down:
            return self.value(value, focus)
        try:
            place = self.drive(value, focus)
        except NotDivided:
            return self.value(value, focus)
        if place.inside:
            raise NotDivided("let takes the content of all units together", value.span)
        return place

    # -- looked at --------------------------------------------------------------------------------

    def value(self, plan: p.Expression, focus: NodePlace | None) -> NodePlace:
        """Where the items of an expression are that reads its unit only."""
        return self.settle(self.look(plan, focus), plan)

    def values(self, plans: Iterable[p.Expression], focus: NodePlace | None) -> NodePlace:
        """Where the items of several are."""
        place = ELSEWHERE
        for plan in plans:
            place = place.joined(self.value(plan, focus))
        return place

    def settle(self, place: NodePlace, plan: p.Expression) -> NodePlace:
        """The place, which must be outside the spine; perhaps only if a guard holds."""
        if place.held:
            raise NotDivided("it reads the content of an element around the units", plan.span)
        if place.spine is None:
            return place
        try:
            settled, guard = self.cut.settled(place)
        except NotDivided as reason:
            raise NotDivided(reason.reason, plan.span) from None
        if guard is not None:
            self.guards.add(guard)
        return settled

    def _hold(self, place: NodePlace, plan: p.Expression) -> NodePlace:
        """The place settled, or held: its elements may be anywhere if children stay together."""
        try:
            return self.settle(place, plan)
        except NotDivided:
            if not place.inside or not are_elements(place.spine):
                raise
            return NodePlace(None, True, place.below, held=True)

    def look(self, plan: p.Expression, focus: NodePlace | None) -> NodePlace:
        """Where the items are; the spine may be among it, for names and attributes."""
        match plan:
            case p.Var(variable):
                return self.places.get(variable, ELSEWHERE)
            case p.Focus():
                if focus is None and self.input is None:
                    raise NotDivided("it reads the input a second time", plan.span)
                return ELSEWHERE if focus is None else focus
            case p.StreamInput(name):
                if name == self.input:
                    raise NotDivided("it reads the input a second time", plan.span)
                self.others.add(name)
                return ELSEWHERE
            case p.Step(input, axis, test):
                return self._step(plan, self.look(input, focus), axis, test, driving=False)
            case p.Path(left, right) | p.SimpleMap(left, right):
                return self.look(right, self.look(left, focus))
            case p.Filter(input, predicate):
                place = self.look(input, focus)
                self.value(predicate, place)
                return place
            case p.Return(source, result):
                self.look_tuples(source, focus)
                return self.value(result, focus)
            case p.Quantified(_, source, test):
                self.look_tuples(source, focus)
                self.value(test, focus)
                return ELSEWHERE
            case _:
                return self._look_further(plan, focus)

    def _look_further(self, plan: p.Expression, focus: NodePlace | None) -> NodePlace:
        match plan:
            case p.TreeRoot():
                raise NotDivided("it navigates up to the root", plan.span)
            case p.Call(function, args):
                return self._call(plan, function.local, args, focus)
            case p.FunctionRef(function) if function.local in ABOVE | _CLOCK:
                raise NotDivided(f"{function.name} may leave the unit", plan.span)
            case p.UserCall(number, args):
                self._declared(number)
                return self.values(args, focus)
            case p.UserRef(number):
                self._declared(number)
                return ELSEWHERE
            case p.TypeSwitch(variable, operand):
                self.places[variable] = self.value(operand, focus)
            case p.SetVariable():
                raise NotDivided("it assigns a variable", plan.span)
            case _ if isinstance(plan, _TEMPORAL):
                self.clock = True
        inner = ELSEWHERE if isinstance(plan, p.Inline) else focus
        place = self.values(self._expressions(plan, inner), inner)
        return ELSEWHERE if isinstance(plan, _NODELESS) else place

    def _step(
        self, plan: p.Expression, place: NodePlace, axis: str, test: NodeItem, driving: bool
    ) -> NodePlace:
        if place.held:
            return self._held_step(plan, axis, test, driving)
        try:
            return step(self.cut, place, axis, test, driving)
        except NotDivided as reason:
            raise NotDivided(reason.reason, plan.span) from None

    def _held_step(self, plan: p.Expression, axis: str, test: NodeItem, driving: bool) -> NodePlace:
        """Children of one name, which stay together; attributes, where they are not counted."""
        if axis == "child" and test.kind == "element" and test.local is not None:
            try:
                guard = self.cut.guard(test)
            except NotDivided as reason:
                raise NotDivided(reason.reason, plan.span) from None
            if guard is not None:
                self.held.add(guard)
            return NodePlace(inside=True, below=True)
        if axis == "attribute" and not driving:
            return ELSEWHERE
        raise NotDivided("it reads the content of an element around the units", plan.span)

    def _call(
        self, plan: p.Call, local: str, args: tuple[p.Expression, ...], focus: NodePlace | None
    ) -> NodePlace:
        if plan.function.uri == FN and local in _NAMES:
            for arg in args:
                self.look(arg, focus)
            return ELSEWHERE
        if plan.function.uri == FN and local in ABOVE:
            raise NotDivided(f"{plan.function.name} may leave the unit", plan.span)
        self.clock = self.clock or local in _CLOCK
        if plan.function.focus and focus is not None:
            self.settle(focus, plan)
        if plan.function.focus and focus is None and self.input is None:
            raise NotDivided("it reads the input a second time", plan.span)
        return self.values(args, focus)

    def _declared(self, number: int) -> None:
        """A declared function may do what stays below its arguments, and read other inputs."""
        if number in self._seen:
            return
        self._seen.add(number)
        body = self.program.functions[number].body
        for node in descendants(body):
            if isinstance(node, p.Step) and node.axis not in _SAFE:
                raise NotDivided(f"a function uses the axis {node.axis}", node.span)
        outer, self.places = self.places, {}
        self.value(body, ELSEWHERE)
        self.places = outer

    def look_tuples(self, plan: p.Tuples, focus: NodePlace | None) -> None:
        """Tuples made inside one unit, or of nothing of the input."""
        match plan:
            case p.Unit():
                return
            case p.ForEach(source, variable, items):
                self.look_tuples(source, focus)
                self.places[variable] = self.value(items, focus)
            case p.Let(source, variable, value):
                self.look_tuples(source, focus)
                self.places[variable] = self.value(value, focus)
            case p.ForWindow(source):
                self.look_tuples(source, focus)
                self._window(plan, focus)
            case p.GroupBy(source, keys, carried):
                self.look_tuples(source, focus)
                self.values([key.value for key in keys], focus)
                for before, after in carried:
                    self.places[after] = self.places.get(before, ELSEWHERE)
            case p.TupleJoin(left, right):
                self.look_tuples(left, focus)
                self.look_tuples(right, focus)
                self.values(_join_operands(plan), focus)
            case p.Where(source) | p.OrderBy(source) | p.CountTuples(source):
                self.look_tuples(source, focus)
                self.values(self._expressions(plan, focus), focus)

    def _window(self, plan: p.ForWindow, focus: NodePlace | None) -> None:
        place = self.value(plan.items, focus)
        self.places[plan.variable] = place
        for boundary in filter(None, (plan.start, plan.end)):
            named = (boundary.current, boundary.previous, boundary.next)
            self.places.update((one, place) for one in named if one is not None)
            if boundary.test is not None:
                self.value(boundary.test, focus)

    def _expressions(self, plan: p.Plan, focus: NodePlace | None) -> list[p.Expression]:
        """The expressions directly inside; tuples inside are looked at on the way."""
        found: list[p.Expression] = []
        for child in children(plan):
            if not isinstance(child, STREAMS):
                found.append(child)  # type: ignore[arg-type]
            elif not isinstance(plan, STREAMS):
                self.look_tuples(child, focus)  # type: ignore[arg-type]
        return found


_SAFE: Final = frozenset({"child", "descendant", "attribute", "self", "descendant-or-self"})


def _join_operands(plan: p.TupleJoin) -> list[p.Expression]:
    found = [side for key in plan.keys for side in (key.left, key.right)]
    return found if plan.residual is None else [*found, plan.residual]
