"""Paths inside units, split into parts, and facts that plans need about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import free_numbers
from xstreamcast.algebra.analysis.timing import ago
from xstreamcast.algebra.program import Program
from xstreamcast.algebra.walk import descendants
from xstreamcast.circuit.unit_folds.fold import Inner, UnitExpression
from xstreamcast.functions.kept import KEPT
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.sequence_type import NodeItem

_SCOPED: Final = frozenset({"in-scope-prefixes", "namespace-uri-for-prefix", "resolve-QName"})


@dataclass(slots=True)
class FirstStep:
    """The step from a unit down to its fragments, taken off a path and noted."""

    units: set[p.Variable]
    focused: bool
    child: p.Expression
    test: NodeItem | None = None
    origin: p.Expression | None = None

    def put(self, plan: p.Expression) -> p.Expression | None:
        """The path with the child in the place of that step; None if it begins otherwise."""
        match plan:
            case p.Step(input, "child", test) if self._is_origin(input):
                self.test, self.origin = test, input
                return self.child
            case p.Step(input) | p.Filter(input):
                return self._inside(plan, "input", input)
            case p.Path(left) | p.SimpleMap(left):
                return self._inside(plan, "left", left)
            case p.IntervalProjection(operand):
                return self._inside(plan, "operand", operand)
            case p.Return(source):
                found = self._tuples(source)
                return None if found is None else replace(plan, source=found)
            case _:
                return None

    def _inside(self, plan: Any, name: str, below: p.Expression) -> p.Expression | None:
        found = self.put(below)
        return None if found is None else replace(plan, **{name: found})

    def _tuples(self, plan: p.Tuples) -> p.Tuples | None:
        match plan:
            case p.ForEach(p.Unit(), _, items, None, False):
                found = self.put(items)
                return None if found is None else replace(plan, items=found)
            case p.Where(source) | p.Let(source) | p.ForEach(source):
                below = self._tuples(source)
                return None if below is None else replace(plan, source=below)
            case _:
                return None

    def _is_origin(self, plan: p.Expression) -> bool:
        if isinstance(plan, p.Focus):
            return self.focused
        return isinstance(plan, p.Var) and plan.variable in self.units


def seen_back(plan: p.Expression, child: p.Variable) -> int | None:
    """How long before now a path still sees a child, if it sees it through a projection alone."""
    match plan:
        case p.IntervalProjection(p.Var(variable), first) if variable == child:
            return ago(first)
        case p.Step(inside) | p.Filter(inside) | p.IntervalProjection(inside):
            return seen_back(inside, child)
        case p.Path(inside) | p.SimpleMap(inside):
            return seen_back(inside, child)
        case _:
            return None


def call_of(name: str, operand: p.Expression) -> p.Call:
    function = lookup(FN, name, 1)
    assert function is not None
    return p.Call(function, (operand,))


def with_parts(plan: Any, **parts: Any) -> Any:
    """The node with other parts; itself if they are the same."""
    new = {name: part for name, part in parts.items() if part is not getattr(plan, name)}
    return replace(plan, **new) if new else plan


def is_plain(plan: p.Expression, reader: UnitExpression) -> bool:
    """Whether a path goes from the document down by steps alone."""
    match plan:
        case p.Var(variable):
            return variable == reader.document
        case p.Step(input, "child" | "descendant" | "descendant-or-self" | "self"):
            return is_plain(input, reader)
        case p.Filter(input) | p.TreeRoot(input):
            return is_plain(input, reader)
        case _:
            return False


def unit_tests(reader: UnitExpression) -> Iterator[NodeItem]:
    """The names of elements that paths from the document lead to, or are filtered by."""
    for node in descendants(reader.expression):
        match node:
            case p.ForEach(_, _, items):
                step = items
            case p.Filter(items):
                step = items
            case _:
                continue
        while isinstance(step, p.Filter):
            step = step.input
        if isinstance(step, p.Step) and is_plain(step.input, reader) and step.test.local:
            yield step.test


def scoped(plan: p.Plan) -> bool:
    """Whether it may see which namespaces are in scope around a fragment."""
    return any(
        isinstance(node, p.Call | p.FunctionRef) and node.function.local in _SCOPED
        for node in descendants(plan)
    )


def without_kept(node: p.Plan, kept: dict[p.Variable, Inner]) -> p.Plan:
    match node:
        case p.Call(_, (p.Call(function, (*_, p.Var(values))),)) if (
            function is KEPT and values in kept
        ):
            return p.Var(values)
        case _:
            return node


def as_stream(document: p.Variable, name: str) -> Any:
    def put(node: p.Plan) -> p.Plan:
        is_document = isinstance(node, p.Var) and node.variable == document
        return p.StreamInput(name) if is_document else node

    return put


def asks_clock(plans: list[p.Plan]) -> bool:
    temporal = (p.Instant, p.LifespanBound, p.IntervalProjection, p.VersionProjection)
    return any(
        isinstance(node, (*temporal, p.AllenCompare, p.Interval, p.UserCall))
        or (isinstance(node, p.Call) and node.function.local.startswith("current-"))
        for plan in plans
        for node in descendants(plan)
    )


def unused_numbers(
    program: Program, readers: Sequence[UnitExpression], taken: p.Expression
) -> Iterator[int]:
    """Numbers of variables that no plan uses."""
    plans = [program.body, taken, *(reader.expression for reader in readers)]
    return free_numbers(program, plans, [reader.document.number for reader in readers])
