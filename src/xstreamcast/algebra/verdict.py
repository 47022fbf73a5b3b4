"""Units that are answered or not, by a comparison of what is kept of them with the rest of them.

for $a in units where f(kept) op g($a) return r($a)  →  what a new value of `kept` may change is
whether a unit is answered, not what its answer is
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.division import Division, Listed, Part
from xstreamcast.algebra.free import facts
from xstreamcast.algebra.inner import Inner
from xstreamcast.algebra.inner_paths import asks_clock, is_plain, unused_numbers
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.functions.kept import KEPT

Comparison = p.GeneralCompare | p.ValueCompare


@dataclass(frozen=True, slots=True)
class Verdict:
    """`whole` compares for each tuple of `units`, and `result` answers those that pass.

    `steady` are the sides that only a unit's own content, or its timers, can change, by the
    variables that stand for them; `alone` is the test over these and the kept values.
    """

    units: p.ForEach
    whole: Comparison
    alone: Comparison
    steady: tuple[tuple[p.Variable, p.Expression], ...]
    result: p.Expression
    inner: tuple[Inner, ...]

    @property
    def general(self) -> bool:
        """Whether untyped values are compared as numbers with numbers."""
        return isinstance(self.whole, p.GeneralCompare)


def verdict_of(program: Program, division: Division) -> Verdict | None:
    """How units of a query are judged; None if there is more to it."""
    if not division.plain or program.settings.sequential:
        return None
    part = division.parts[0]
    beside = part.others or part.around or part.limit is not None
    if beside or not part.inner or part.fold != "items" or not isinstance(part.shape, Listed):
        return None
    match part.shape.expression:
        case p.Return(
            p.Where(p.ForEach(p.Unit(), _, p.Step(above), None, False) as units, test), result
        ) if (
            isinstance(test, Comparison)
            and is_plain(above, part)
            and not _kept_in(units, part)
            and not _kept_in(result, part)
        ):
            return _judged(program, division, units, test, result)
        case _:
            return None


def _judged(
    program: Program, division: Division, units: p.ForEach, test: Comparison, result: p.Expression
) -> Verdict | None:
    part, numbers = division.parts[0], unused_numbers(program, division)
    outer = {units.variable, part.document, *(v.variable for v in program.variables)}
    whole: list[p.Expression] = []
    alone: list[p.Expression] = []
    steady: list[tuple[p.Variable, p.Expression]] = []
    for side in (test.left, test.right):
        known, kept = facts(side), _kept_in(side, part)
        if known.reads_focus or not known.pure:
            return None
        if kept:
            bare = bottom_up(side, _bare)
            if not facts(bare).free <= {one.values for one in part.inner} or asks_clock([bare]):
                return None
            whole.append(side)
            alone.append(bare)
            continue
        if not known.free <= outer:
            return None
        if not isinstance(side, p.Const):
            steady.append((p.Variable(next(numbers), "steady"), side))
        stands = side if isinstance(side, p.Const) else p.Var(steady[-1][0])
        whole.append(stands)
        alone.append(stands)
    if not any(_kept_in(side, part) for side in (test.left, test.right)):
        return None
    return Verdict(
        units,
        replace(test, left=whole[0], right=whole[1]),
        replace(test, left=alone[0], right=alone[1]),
        tuple(steady),
        result,
        part.inner,
    )


def _kept_in(plan: p.Plan, part: Part) -> bool:
    """Whether it reads what is kept."""
    bound = {v for one in part.inner for v in (one.roots, one.counts, one.values)}
    return bool(facts(plan).used & bound)


def _bare(node: p.Plan) -> p.Plan:
    """The values themselves in the place of those of a node."""
    match node:
        case p.Call(function, (_, _, _, values)) if function is KEPT:
            return values
        case _:
            return node
