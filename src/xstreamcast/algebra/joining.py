"""Joins between inputs: where another input is reached only through an equality.

part(unit, other)  →  part(unit, the units of other that share a compared value with it)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.cut import ELSEWHERE, Cut, NotDivided, Place
from xstreamcast.algebra.division import Grouped, Listed, Shape, Sorted
from xstreamcast.algebra.joining_added import additive
from xstreamcast.algebra.joining_finding import Finding, Unprobed
from xstreamcast.algebra.locality import Locality
from xstreamcast.algebra.probe import Probe
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import descendants


def probed(
    shape: Shape, program: Program, cuts: Mapping[str | None, Cut], others: frozenset[str],
    numbers: Iterator[int],
) -> tuple[Shape, tuple[Probe, ...]]:  # fmt: skip
    """The shape with documents of matching units in the place of inputs, where that is exact."""
    hidden = _read_elsewhere(program)
    targets = {name for name in others if name in cuts} - hidden
    while targets:
        finding = Finding(program, frozenset(targets), numbers)
        try:
            made = finding.shape(shape)
            return made, tuple(_checked(one, made, program, cuts) for one in finding.probes)
        except Unprobed as reason:
            targets.discard(reason.name)
    return shape, ()


def _read_elsewhere(program: Program) -> set[str]:
    """The inputs that declared functions and variables read."""
    plans = [f.body for f in program.functions]
    plans += [v.value for v in program.variables if v.value is not None]
    return {n.name for q in plans for n in descendants(q) if isinstance(n, p.StreamInput)}


def _checked(probe: Probe, shape: Shape, program: Program, cuts: Mapping[str | None, Cut]) -> Probe:
    """The probe, if nothing that the shape does with its units leaves them."""
    walk = _Beside(program, probe.input, cuts[probe.input], origin=probe.document)
    try:
        walk.places[probe.document] = walk.cut.document()
        match shape:
            case Listed(expression):
                walk.value(expression, None)
            case Sorted(tuples, keys, result):
                walk.look_tuples(tuples, None)
                walk.values([*(key.value for key in keys), result], None)
            case Grouped(_, group, result):
                walk.look_tuples(group, None)
                walk.value(result, None)
    except NotDivided:
        raise Unprobed(probe.input) from None
    adds = isinstance(shape, Listed) and additive(shape.expression, probe.document)
    return replace(probe, guards=frozenset(walk.guards), additive=adds)


@dataclass(slots=True)
class _Beside(Locality):
    """A walk over a part that another input drives: paths from the probe's document are driven."""

    origin: p.Variable = field(kw_only=True)

    def look(self, plan: p.Expression, focus: Place | None) -> Place:
        if isinstance(plan, p.Root):
            place = self.look(plan.operand, focus)
            if place == ELSEWHERE:
                return place
        if _begins(plan, self.origin):
            return self.settle(self.drive(plan, focus), plan)
        return Locality.look(self, plan, focus)


def _begins(plan: p.Expression, origin: p.Variable) -> bool:
    """Whether a path starts at a variable."""
    match plan:
        case p.Var(variable):
            return variable == origin
        case p.Step(source) | p.Filter(source) | p.Path(source) | p.SimpleMap(source):
            return _begins(source, origin)
        case p.IntervalProjection(source) | p.Root(source):
            return _begins(source, origin)
        case _:
            return False
