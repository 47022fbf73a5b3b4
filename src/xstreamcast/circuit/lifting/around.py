"""Nodes around units: elements that are above several of them, and so must not count twice.

count(units/ancestor::a)          →  each element is counted by the first piece that finds it
count(units/ancestor::a//b)       →  each b by the first piece after which something above it counts
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.cut import Cut, DepthCut, NotDivided
from xstreamcast.algebra.program import Program
from xstreamcast.circuit.analysis.locality import Locality
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.sequence_type import NodeItem

_UP: Final = frozenset({"parent", "ancestor", "ancestor-or-self"})
_COUNTED: Final = frozenset({"count", "exists", "empty"})


@dataclass(frozen=True, slots=True)
class NodesAround:
    """Nodes are counted by identity: those that were found, or all below them that pass `below`."""

    below: NodeItem | None = None

    def counting(self, fold: str, nodes: p.Expression) -> p.Call:
        """The call that counts nodes, or what is below them: what is read for it must be there."""
        function = lookup(FN, fold, 1)
        assert function is not None
        counted = nodes if self.below is None else p.Step(nodes, "descendant", self.below)
        return p.Call(function, (counted,))

    def nodes(self, call: p.Expression) -> p.Expression:
        """The nodes that such a call goes out from."""
        assert isinstance(call, p.Call)
        (counted,) = call.args
        if self.below is None:
            return counted
        assert isinstance(counted, p.Step)
        return counted.input


@dataclass(frozen=True, slots=True)
class CountTarget:
    """What is counted: `nodes` found by going up from units, or what is below them."""

    fold: str
    nodes: p.Step
    around: NodesAround
    walk: Locality


def counted_around(
    plan: p.Expression, program: Program, name: str | None, cuts: Mapping[str | None, Cut]
) -> CountTarget | None:
    """How to count what a call counts, if it goes up from units; None if not."""
    match plan:
        case p.Call(function, (p.Step() as counted,)) if (
            function.uri == FN and function.local in _COUNTED
        ):
            found = _up(counted)
            if found is None:
                return None
        case _:
            return None
    step, around = found
    walk = Locality(program, name, cuts[name])
    try:
        walk.driven(step.input)
    except NotDivided:
        return None
    if walk.others or walk.clock:
        return None
    if around.below is not None and isinstance(cuts[name], DepthCut):
        assert around.below.local is not None
        walk.guards.add((around.below.uri, around.below.local))
    return CountTarget(function.local, step, around, walk)


def _up(counted: p.Step) -> tuple[p.Step, NodesAround] | None:
    """The step up, and the path below it."""
    if counted.axis in _UP:
        return counted, NodesAround()
    match counted:
        case p.Step(p.Step(_, axis) as inner, "descendant", test) if axis in _UP:
            named = test.kind == "element" and test.local is not None
            return (inner, NodesAround(test)) if named else None
    return None
