"""Which variables and plans give each node once, in document order, so that folds may add them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import counts_positions
from xstreamcast.algebra.analysis.item_kinds import predicate_class
from xstreamcast.algebra.walk import descendants
from xstreamcast.functions.signature import FN

NARROW: Final = ("child", "attribute", "self")  # steps that keep different nodes apart
Side = Literal["left", "right"]


def stays_narrow(plan: p.Expression) -> bool:
    """Whether a path from the focus gives different nodes for different nodes."""
    match plan:
        case p.Focus():
            return True
        case p.Step(input, axis):
            return axis in NARROW and stays_narrow(input)
        case p.Filter(input, predicate, False):
            truth = predicate_class(predicate) == "truth" and not counts_positions(predicate)
            return truth and stays_narrow(input)
        case _:
            return False


def distinct_variables(
    plan: p.Tuples, known: frozenset[p.Variable] = frozenset()
) -> frozenset[p.Variable]:
    """Variables that are bound to other nodes in each tuple, in document order over the tuples.

    `known`: those that hold such nodes before the first clause.
    """
    match plan:
        case p.Where(source):
            return distinct_variables(source, known)
        case p.TupleJoin(p.Unit(), right):
            return distinct_variables(right, known)
        case p.Let(source, variable, value):
            found = distinct_variables(source, known)
            return found | {variable} if begins_at(value) in found else found
        case p.ForEach(source, variable, items):
            first = _is_first(source)
            origin = begins_at(items, narrow=not first)
            if first and isinstance(origin, p.StreamInput):
                return frozenset({variable})
            before = known if first else distinct_variables(source, known)
            return frozenset({variable}) if begins_at(items) in before else frozenset()
        case _:
            return frozenset()


def constructed_variables(plan: p.Tuples) -> frozenset[p.Variable]:
    """Variables that are bound to an element that is made for each tuple, one after another."""
    match plan:
        case p.Where(source) | p.TupleJoin(p.Unit(), source):
            return constructed_variables(source)
        case p.Let(source, variable, value):
            own = {variable} if _makes_elements(value) else set()
            return constructed_variables(source) | own
        case p.ForEach(_, variable, items) if _makes_elements(items):
            return frozenset({variable})
        case _:
            return frozenset()


def _makes_elements(plan: p.Expression) -> bool:
    """Whether all its items are elements that it makes."""
    match plan:
        case p.MakeElement():
            return True
        case p.Return(_, result):
            return _makes_elements(result)
        case _:
            return False


def repeated_variables(plan: p.Tuples) -> Mapping[p.Variable, Side]:
    """Variables that are bound to other nodes in each row of one side of a join, in their order."""
    match plan:
        case p.Where(source) | p.ForEach(source):
            return repeated_variables(source)
        case p.Let(source, variable, value):
            known = dict(repeated_variables(source))
            origin = begins_at(value)
            if isinstance(origin, p.Variable) and origin in known:
                known[variable] = known[origin]
            return known
        case p.TupleJoin(left, right) if not isinstance(left, p.Unit):
            found: dict[p.Variable, Side] = dict.fromkeys(distinct_variables(left), "left")
            found |= dict.fromkeys(distinct_variables(right), "right")
            return found
        case _:
            return {}


def reads_copies(plan: p.Expression) -> bool:
    """Whether a plan reads copies, of which each is another node."""
    return any(
        isinstance(node, p.IntervalProjection | p.VersionProjection) for node in descendants(plan)
    )


def _is_first(plan: p.Tuples) -> bool:
    while isinstance(plan, p.Let | p.Where):
        plan = plan.source
    return isinstance(plan, p.Unit)


def begins_at(plan: p.Expression, narrow: bool = True) -> p.Variable | p.StreamInput | None:
    """What a path starts at; None if nodes of different starts may be the same."""
    match plan:
        case p.Var(variable):
            return variable
        case p.StreamInput():
            return plan
        case p.Step(input, axis):
            return None if narrow and axis not in NARROW else begins_at(input, narrow)
        case p.Filter(input):
            return begins_at(input, narrow)
        case p.Path(left, right):
            return None if narrow and not stays_narrow(right) else begins_at(left, narrow)
        case p.IntervalProjection(operand):
            return begins_at(operand, narrow)
        case _:
            return None


def gives_distinct(plan: p.Expression) -> bool:
    """Whether a FLWOR gives different nodes in document order."""
    match plan:
        case p.Return(source, result):
            origin = begins_at(result)
            return isinstance(origin, p.Variable) and origin in distinct_variables(source)
        case p.Step(input, axis):
            walks = isinstance(begins_at(plan), p.StreamInput)
            return walks or (axis in NARROW and gives_distinct(input))
        case p.Filter(input):
            return gives_distinct(input)
        case p.Call(function, (one, *_)) if function.uri == FN:
            return function.local in ("subsequence", "head", "tail") and gives_distinct(one)
        case p.IntervalProjection(operand):  # copies, one after another
            walks = isinstance(begins_at(operand, narrow=False), p.StreamInput)
            return walks or gives_distinct(operand)
        case _:
            return False
