"""Folds over fragments inside of units, kept where the units are read.

for $a in units … sum($a/child/value)  →  the sum of what each child gave when it was last evaluated

A unit with many children then costs what changed in it, wherever in the circuit it is evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import Cut, TagCut
from xstreamcast.algebra.analysis.free import bound_variables
from xstreamcast.algebra.analysis.timing import Timing
from xstreamcast.algebra.program import Program
from xstreamcast.circuit import nodes as c
from xstreamcast.circuit.node_sources import in_order, sources_of, with_sources
from xstreamcast.circuit.unit_folds.fold import UnitExpression
from xstreamcast.circuit.unit_folds.search import with_kept_folds
from xstreamcast.circuit.unit_folds.verdict import verdict_of


def with_inner_folds(
    program: Program, circuit: c.Circuit, cuts: Mapping[str | None, Cut]
) -> c.Circuit:
    """The circuit whose units keep folds over fragments inside of them, where that is exact."""
    for units in [node for node in in_order(circuit.root) if isinstance(node, c.Units)]:
        if isinstance(cuts.get(units.input), TagCut):
            circuit = _Reader(program, circuit, cuts, units).rewritten()
    return circuit


class _Reader:
    """All that reads the units of one input."""

    def __init__(
        self, program: Program, circuit: c.Circuit, cuts: Mapping[str | None, Cut], units: c.Units
    ) -> None:
        self._program, self._circuit, self._cuts, self._units = program, circuit, cuts, units
        self._nodes = in_order(circuit.root)
        self._maps = [
            node for node in self._nodes if isinstance(node, c.Rows) and node.source is units
        ]

    def rewritten(self) -> c.Circuit:
        readers = [node for node in self._nodes if self._units in sources_of(node)]
        if len(readers) != len(self._maps) or any(map(_reads_more, self._maps)):
            return self._circuit
        cut = self._cuts[self._units.input]
        assert isinstance(cut, TagCut)
        given = self._expressions()
        taken = p.Comma(tuple(p.Var(v) for node in self._nodes for v in node.columns))
        made = with_kept_folds(self._program, cut, given, taken)
        if not any(reader.inner for reader in made):
            return self._circuit
        bodies = [reader.expression for reader in made]
        if not all(map(_binds_all, self._maps, bodies)):
            return self._circuit
        alone = len(made) == 1 and not self._maps
        judged = verdict_of(self._program, made[0]) if alone else None
        return self._with(made, bodies, judged)

    def _expressions(self) -> list[UnitExpression]:
        """What reads the units: the maps, and the result where units make answers."""
        plans: list[p.Expression] = [
            p.Return(node.tuples, p.Comma(tuple(map(p.Var, node.columns)))) for node in self._maps
        ]
        if self._circuit.root is self._units:
            plans.append(self._circuit.result)
        units = self._units
        return [UnitExpression(units.document, units.input, plan, units.clock) for plan in plans]

    def _with(
        self, readers: list[UnitExpression], bodies: list[p.Expression], judged: Any
    ) -> c.Circuit:
        inner = tuple({id(one): one for reader in readers for one in reader.inner}.values())
        clocks = [reader.timing for reader in readers if reader.clock]
        units = replace(
            self._units, inner=inner, judged=judged, clock=bool(clocks), timing=_all_of(clocks)
        )
        made: dict[int, c.Node] = {id(self._units): units}
        for node, body in zip(self._maps, bodies, strict=False):
            assert isinstance(body, p.Return)
            made[id(node)] = replace(node, source=units, tuples=body.source)
        for one in self._nodes:
            if id(one) not in made:
                made[id(one)] = with_sources(one, made)
        result = self._circuit.result
        if self._circuit.root is self._units:
            result = bodies[-1]
        return replace(self._circuit, root=made[id(self._circuit.root)], result=result)


def _reads_more(node: c.Rows) -> bool:
    return bool(node.scalars or node.whole)


def _binds_all(node: c.Rows, body: p.Expression) -> bool:
    """Whether all columns of a map are still bound by it."""
    if not isinstance(body, p.Return):
        return False
    bound = set(node.source.columns)
    plan: Any = body.source
    while not isinstance(plan, p.Unit):
        if isinstance(plan, p.TupleJoin):
            return False
        bound |= set(bound_variables(replace(plan, source=p.Unit())))
        plan = plan.source
    return set(node.columns) <= bound


def _all_of(found: list[Timing | None]) -> Timing | None:
    """When any of them may change; None if one may at any time, or none does."""
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        return None
    return Timing(
        tuple(sorted({o for one in known for o in one.offsets})),
        tuple(sorted({f for one in known for f in one.fixed})),
    )
