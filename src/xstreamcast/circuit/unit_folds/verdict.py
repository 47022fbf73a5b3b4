"""Units that are answered or not, by a comparison of what is kept of them with the rest of them.

for $a in units where f(kept) op g($a) return r($a)  →  what a new value of `kept` may change is
whether a unit is answered, not what its answer is
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import bottom_up
from xstreamcast.circuit.unit_folds.fold import Inner, UnitExpression
from xstreamcast.circuit.unit_folds.paths import asks_clock, is_plain, unused_numbers
from xstreamcast.functions.kept import KEPT

Comparison = p.GeneralCompare | p.ValueCompare


@dataclass(frozen=True, slots=True)
class Verdict:
    """`whole` compares for each tuple of `units`, and `result` answers those that pass.

    `steady` are the sides that only a unit's own content, or its timers, can change, by the
    variables that represent them; `alone` is the test over these and the kept values.
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


def verdict_of(program: Program, reader: UnitExpression) -> Verdict | None:
    """How units whose items are the answer are judged; None if there is more to it."""
    if program.settings.sequential or not reader.inner:
        return None
    match reader.expression:
        case p.Return(
            p.Where(p.ForEach(p.Unit(), _, p.Step(above), None, False) as units, test), result
        ) if (
            isinstance(test, Comparison)
            and is_plain(above, reader)
            and not _kept_in(units, reader)
            and not _kept_in(result, reader)
        ):
            return _judged(program, reader, units, test, result)
        case _:
            return None


def _judged(
    program: Program,
    reader: UnitExpression,
    units: p.ForEach,
    test: Comparison,
    result: p.Expression,
) -> Verdict | None:
    numbers = unused_numbers(program, [reader], p.Var(reader.document))
    outer = {units.variable, reader.document, *(v.variable for v in program.variables)}
    whole: list[p.Expression] = []
    alone: list[p.Expression] = []
    steady: list[tuple[p.Variable, p.Expression]] = []
    for side in (test.left, test.right):
        known, kept = facts(side), _kept_in(side, reader)
        if known.reads_focus or not known.pure:
            return None
        if kept:
            bare = bottom_up(side, _bare)
            if not facts(bare).free <= {one.values for one in reader.inner} or asks_clock([bare]):
                return None
            whole.append(side)
            alone.append(bare)
            continue
        if not known.free <= outer:
            return None
        if not isinstance(side, p.Const):
            steady.append((p.Variable(next(numbers), "steady"), side))
        operand = side if isinstance(side, p.Const) else p.Var(steady[-1][0])
        whole.append(operand)
        alone.append(operand)
    if not any(_kept_in(side, reader) for side in (test.left, test.right)):
        return None
    return Verdict(
        units,
        replace(test, left=whole[0], right=whole[1]),
        replace(test, left=alone[0], right=alone[1]),
        tuple(steady),
        result,
        reader.inner,
    )


def _kept_in(plan: p.Plan, reader: UnitExpression) -> bool:
    """Whether it reads what is kept."""
    bound = {v for one in reader.inner for v in (one.roots, one.counts, one.values)}
    return bool(facts(plan).used & bound)


def _bare(node: p.Plan) -> p.Plan:
    """The values themselves in the place of those of a node."""
    match node:
        case p.Call(function, (_, _, _, values)) if function is KEPT:
            return values
        case _:
            return node
