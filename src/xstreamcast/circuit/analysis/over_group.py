"""Expressions over what a group holds: positions, loops that choose, what distributes over rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import counts_positions, facts
from xstreamcast.algebra.analysis.item_kinds import predicate_class, static_type
from xstreamcast.algebra.nodes.static_type import ATOMIC
from xstreamcast.algebra.walk import descendants
from xstreamcast.circuit.analysis.distinct_nodes import (
    NARROW,
    stays_narrow,
)
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import INTEGER
from xstreamcast.model.sequence_type import SequenceType

ONE: Final = p.Const((p.Atom(INTEGER, 1),))
ORDERS: Final = frozenset({"lt", "le", "gt", "ge"})


def sliced(plan: p.Expression) -> p.Expression | None:
    """What a plan takes some positions of; None if it is anything else."""
    match plan:
        case p.Filter(input, predicate, False):
            whole = facts(predicate)
            positions = predicate_class(predicate) == "position" or whole.position or whole.last
            return input if positions else None
        case p.Call(function, (input, *others)) if function.uri == FN:
            slices = function.local in ("head", "subsequence")
            return input if slices and all(isinstance(one, p.Const) for one in others) else None
        case _:
            return None


def nested_in_group(plan: Any) -> p.ForEach | p.ForWindow | None:
    """The first loop of a FLWOR that makes groups or windows of its items; None of any other."""
    if not isinstance(plan, p.Return):
        return None
    first, *others = clauses_of(plan.source) or [p.Unit()]
    if not any(isinstance(one, p.GroupBy | p.ForWindow) for one in (first, *others)):
        return None
    return first if isinstance(first, p.ForEach | p.ForWindow) else None


class Compared(NamedTuple):
    """A loop, the conditions on its items, and how those that are left are ordered."""

    loop: p.ForEach
    tests: tuple[p.Expression, ...]
    orders: tuple[p.OrderBy, ...]


def compared_in_group(plan: Any) -> Compared | None:
    """A loop with conditions on its items, if one of them compares with something else."""
    if not isinstance(plan, p.Return):
        return None
    tests: list[p.Expression] = []
    orders: list[p.OrderBy] = []
    tuples = plan.source
    while isinstance(tuples, p.OrderBy):
        orders.append(tuples)
        tuples = tuples.source
    while isinstance(tuples, p.Where):
        tests.append(tuples.test)
        tuples = tuples.source
    if isinstance(tuples, p.TupleJoin) and isinstance(tuples.left, p.Unit):
        tests += [] if tuples.residual is None else [tuples.residual]
        tests += [key.test for key in tuples.keys]
        tuples = tuples.right
    while isinstance(tuples, p.Where):
        tests.append(tuples.test)
        tuples = tuples.source
    match tuples:
        case p.ForEach(p.Unit(), variable, _, None, False):
            pass
        case _:
            return None
    if not any(_compares(test, variable) for test in tests):
        return None
    return Compared(tuples, tuple(reversed(tests)), tuple(reversed(orders)))


def _compares(test: p.Expression, variable: p.Variable) -> bool:
    """Whether it compares a value of a variable with one that does not depend on it."""
    match test:
        case p.GeneralCompare(op, one, other) | p.ValueCompare(op, one, other):
            known = [variable in facts(side).free for side in (one, other)]
            apart = known[0] != known[1]
            return op in ORDERS | {"eq"} and apart and bool(facts((one, other)[known[0]]).free)
        case _:
            return False


def from_rows(plan: p.Return, first: p.Tuples, other: p.Tuples) -> p.Return:
    """The FLWOR with another first clause."""

    def put(tuples: Any) -> Any:
        return other if tuples is first else replace(tuples, source=put(tuples.source))

    return replace(plan, source=put(plan.source))


def sorts(plan: p.Expression) -> bool:
    return any(
        isinstance(node, p.OrderBy)
        or (isinstance(node, p.Call) and (node.function.uri, node.function.local) == (FN, "sort"))
        for node in descendants(plan)
    )


def uncounted(plan: Any, source: p.Expression) -> Any:
    """count(sort(e))  →  count(e), where sort(e) is evaluated, too."""
    match plan:
        case p.Call(function, (p.Call(inner, (one,)) as counted,)) if (
            function.local,
            inner.local,
        ) == ("count", "sort") and counted == source:
            return replace(plan, args=(one,))
        case _:
            return plan


def distributes(plan: p.Expression, after: p.Variable, apart: bool) -> bool:
    """Whether the value over several tuples is that over each, one after another.

    A predicate, and what is mapped or returned for each tuple, must not read the tuples: it
    would read all of them (`$all[v > avg($all/v)]`).
    """
    if any(after in facts(one).free for one in _beside(plan)):
        return False
    match plan:
        case p.Var(variable):
            return variable == after
        case p.Step(input, axis):
            return apart and axis in NARROW and distributes(input, after, apart)
        case p.Path(left, right) if static_type(right).only(ATOMIC):  # nothing is sorted
            return not counts_positions(right) and distributes(left, after, apart)
        case p.Path(left, right):
            return apart and stays_narrow(right) and distributes(left, after, apart)
        case p.SimpleMap(left, right):
            return not counts_positions(right) and distributes(left, after, apart)
        case p.Filter(input, predicate, False):
            truth = predicate_class(predicate) == "truth" and not counts_positions(predicate)
            return truth and distributes(input, after, apart)
        case p.Return(source):
            loop = _loop(source)
            return loop is not None and distributes(loop.items, after, apart)
        case p.IntervalProjection(operand, first, last):  # copies, one after another
            bounds = [one for one in (first, last) if one is not None]
            free = any(facts(one).free or facts(one).reads_focus for one in bounds)
            return not free and distributes(operand, after, apart)
        case p.Convert(operand, SequenceType(_, "many")):
            return distributes(operand, after, apart)
        case p.Call(function, (argument,)) if (function.uri, function.local) == (FN, "data"):
            return distributes(argument, after, apart)
        case _:
            return False


def _beside(plan: p.Expression) -> tuple[p.Plan, ...]:
    """What is evaluated for each item of a sequence."""
    match plan:
        case p.Path(_, right) | p.SimpleMap(_, right):
            return (right,)
        case p.Filter(_, predicate):
            return (predicate,)
        case p.Return(source, result):
            return (result, *_of_each(source))
        case _:
            return ()


def _loop(plan: p.Tuples) -> p.ForEach | None:
    """The first loop of clauses that choose, bind and loop for each of its items; None if some
    clause reads several.
    """
    match plan:
        case p.ForEach(p.Unit(), _, _, None, False):
            return plan
        case p.Where(source) | p.Let(source) | p.ForEach(source) | p.TupleJoin(p.Unit(), source):
            return _loop(source)
        case _:
            return None


def _of_each(plan: p.Tuples) -> tuple[p.Plan, ...]:
    """What such clauses evaluate for each item."""
    match plan:
        case p.ForEach(p.Unit()):
            return ()
        case p.Where(source, one) | p.Let(source, _, one) | p.ForEach(source, _, one):
            return one, *_of_each(source)
        case p.TupleJoin(p.Unit(), source, keys, residual):
            tests = [key.test for key in keys] + ([] if residual is None else [residual])
            return *tests, *_of_each(source)
        case _:
            return ()


def behind_lets(plan: p.Return) -> p.Return | None:
    """A FLWOR as variables and what is returned; None if it does not begin with variables.

    let $v := e for … return r  →  let $v := e return (for … return r)
    """
    clauses = clauses_of(plan.source)
    first = next((i for i, one in enumerate(clauses) if not isinstance(one, p.Let)), len(clauses))
    if first == len(clauses):
        return plan if clauses else None
    rest: list[Any] = clauses[first:]
    if not first or any(isinstance(one, p.GroupBy | p.TupleJoin) for one in rest):
        return None
    tuples: p.Tuples = p.Unit()
    for clause in rest:
        tuples = replace(clause, source=tuples)
    inner = replace(plan, source=tuples)
    return replace(plan, source=clauses[first - 1], result=inner)


def clauses_of(plan: p.Tuples) -> list[p.Tuples]:
    """The clauses of a FLWOR, the first one first; a join counts as one."""
    found: list[p.Tuples] = []
    while not isinstance(plan, p.Unit):
        found.append(plan)
        if isinstance(plan, p.TupleJoin):
            break
        plan = plan.source
    return found[::-1]


def is_distinct(plan: p.Expression) -> bool:
    """Whether it is the different values of something, as the default collation has it."""
    match plan:
        case p.Call(function, (_,)):
            return (function.uri, function.local) == (FN, "distinct-values")
        case _:
            return False


def longer(plan: Any, last: p.Variable, first: p.Variable) -> bool | None:
    """Whether it is the length of a window; False: one less; None: it is anything else."""
    match plan:
        case p.Arithmetic("-", p.Var(a), p.Var(b)) if (a, b) == (last, first):
            return False
        case p.Arithmetic("+", left, right) if right == ONE:
            return True if longer(left, last, first) is False else None
        case _:
            return None


def without_unread(plan: p.Tuples, used: frozenset[p.Variable]) -> p.Tuples:
    """The clauses behind the last grouping without a let that is no longer read."""
    if isinstance(plan, p.GroupBy | p.ForWindow | p.TupleJoin | p.Unit):
        return plan
    if isinstance(plan, p.Let) and plan.variable not in used and facts(plan.value).pure:
        return without_unread(plan.source, used)
    own = facts(replace(plan, source=p.Unit())).used
    source = without_unread(plan.source, used | own)
    return plan if source is plan.source else replace(plan, source=source)


def window_length(window: p.ForWindow) -> tuple[p.Variable, p.Variable] | None:
    """The positions of the last and the first item, if both have names."""
    start, end = window.start, window.end
    if start is None or end is None or start.position is None or end.position is None:
        return None
    return end.position, start.position
