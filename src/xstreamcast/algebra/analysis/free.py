"""What a plan reads from around itself, and what makes it more than a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.walk import children

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program


class Facts(NamedTuple):
    """What is known of a plan from its nodes alone.

    used, bound: variables that occur, variables bound inside. focus: reads the context item, its
    position or the size of the context. makes_nodes: two evaluations give different nodes. pure: no
    assignment and no function whose value may differ from call to call. calls: calls a function
    whose body is not looked into.
    """

    used: frozenset[p.Variable] = frozenset()
    bound: frozenset[p.Variable] = frozenset()
    focus: bool = False
    position: bool = False
    last: bool = False
    makes_nodes: bool = False
    pure: bool = True
    calls: bool = False

    @property
    def free(self) -> frozenset[p.Variable]:
        """Variables that must be bound around it: numbers are unique, so no scope is needed."""
        return self.used - self.bound

    @property
    def reads_focus(self) -> bool:
        """Whether its value depends on the focus in any way."""
        return self.focus or self.position or self.last


def free_variables(plan: p.Plan) -> frozenset[p.Variable]:
    """The variables a plan needs from around it."""
    return facts(plan).free


def uses_focus(plan: p.Plan) -> bool:
    """Whether a plan reads the context item, its position or the size of the context."""
    return facts(plan).reads_focus


def counts_positions(plan: p.Plan) -> bool:
    """Whether a plan reads position() or last() of its own focus, not only the context item."""
    match plan:
        case p.Position() | p.Last():
            return True
        case p.Path(left) | p.SimpleMap(left) | p.Filter(left):
            return counts_positions(left)
        case p.Inline() | p.FunctionRef():
            return False
        case _ if not (facts(plan).position or facts(plan).last):
            return False
        case _:
            return any(map(counts_positions, children(plan)))


def bound_variables(plan: p.Tuples) -> tuple[p.Variable, ...]:
    """The variables of the tuples of a stream, in the order they are bound."""
    match plan:
        case p.Unit():
            return ()
        case p.TupleJoin(left, right):
            return bound_variables(left) + bound_variables(right)
        case p.GroupBy(_, keys, carried):
            return tuple(key.variable for key in keys) + tuple(after for _, after in carried)
        case p.Where(source) | p.OrderBy(source):
            return bound_variables(source)
        case _:
            return bound_variables(plan.source) + bound_by(plan)


# Nodes have no place for a cache, and hashing one walks all of it. So facts are kept by identity;
# the node is kept with them, so that its identity is not given to another.
_KNOWN: Final[dict[int, tuple[p.Plan, Facts]]] = {}
_MOST: Final = 50_000


def facts(plan: p.Plan) -> Facts:
    """The facts of a plan; found once for each node."""
    known = _KNOWN.get(id(plan))
    if known is not None:
        return known[1]
    if len(_KNOWN) > _MOST:
        _KNOWN.clear()
    found = _found(plan)
    _KNOWN[id(plan)] = (plan, found)
    return found


def free_numbers(
    program: Program, plans: Iterable[p.Plan], taken: Iterable[int] = ()
) -> Iterator[int]:
    """Numbers of variables that neither the program nor these plans use."""
    used = [0, *taken, *(one.variable.number for one in program.variables)]
    for plan in (*plans, *(one.body for one in program.functions)):
        known = facts(plan)
        used += [one.number for one in known.used | known.bound]
    used += [one.variable.number for f in program.functions for one in f.parameters]
    return count(max(used) + 1)


def _found(plan: p.Plan) -> Facts:
    match plan:
        case p.Var(variable):
            return Facts(used=frozenset({variable}))
        case p.Focus():
            return Facts(focus=True)
        case p.Position():
            return Facts(position=True)
        case p.Last():
            return Facts(last=True)
        case p.Path(left, right) | p.SimpleMap(left, right) | p.Filter(left, right):
            return _joined(facts(left), (_unfocused(facts(right)),))
        case p.Inline(parameters, _, body):
            own = Facts(bound=frozenset(q.variable for q in parameters), makes_nodes=True)
            return _joined(own, (_unfocused(facts(body)),))
        case _:
            own = _of_itself(plan) if type(plan) in _MORE_THAN_PARTS else _NOTHING
            return _joined(own, map(facts, children(plan)))


_NOTHING: Final = Facts()
# All that `_of_itself` has a case for.
_MORE_THAN_PARTS: Final = frozenset(
    {
        *(p.Call, p.FunctionRef, p.UserCall, p.DynamicCall, p.SetVariable, p.MakeDocument),
        *(p.MakeElement, p.MakeAttribute, p.MakeText, p.MakeComment, p.MakePi, p.MakeNamespace),
        *(p.IntervalProjection, p.VersionProjection, p.TypeSwitch, p.Try, p.GroupBy, p.ForEach),
        *(p.Let, p.CountTuples, p.ForWindow),
    }
)


def _of_itself(plan: p.Plan) -> Facts:
    """What a node adds to the facts of its children."""
    match plan:
        case p.Call(function) | p.FunctionRef(function):
            reads = function.focus
            return Facts(focus=reads, position=reads, last=reads, pure=function.deterministic)
        case p.UserCall() | p.DynamicCall():
            return Facts(makes_nodes=True, calls=True)
        case p.SetVariable(variable):
            return Facts(used=frozenset({variable}), pure=False)
        case (
            p.MakeDocument()
            | p.MakeElement()
            | p.MakeAttribute()
            | p.MakeText()
            | p.MakeComment()
            | p.MakePi()
            | p.MakeNamespace()
            | p.IntervalProjection()
            | p.VersionProjection()
        ):
            return Facts(makes_nodes=True)
        case p.TypeSwitch(variable):
            return Facts(bound=frozenset({variable}))
        case p.Try(_, catches):
            return Facts(bound=frozenset(v for c in catches for v in _catch_variables(c)))
        case p.GroupBy(_, _, carried):
            return Facts(frozenset(before for before, _ in carried), frozenset(bound_by(plan)))
        case p.ForEach() | p.Let() | p.CountTuples() | p.ForWindow():
            return Facts(bound=frozenset(bound_by(plan)))
        case _:
            return _NOTHING


def bound_by(plan: p.Tuples) -> tuple[p.Variable, ...]:
    """The variables that an operator itself binds."""
    match plan:
        case p.ForEach(_, variable, _, position):
            return (variable,) if position is None else (variable, position)
        case p.Let(_, variable) | p.CountTuples(_, variable):
            return (variable,)
        case p.ForWindow(start=start, end=end, variable=variable):
            ends = [v for b in (start, end) if b is not None for v in b.variables()]
            return (variable, *ends)
        case p.GroupBy(_, keys, carried):
            return (*(key.variable for key in keys), *(after for _, after in carried))
        case _:
            return ()


def _catch_variables(catch: p.Catch) -> tuple[p.Variable, ...]:
    v = catch.variables
    return (
        v.code,
        v.description,
        v.value,
        v.module,
        v.line_number,
        v.column_number,
        v.additional,
    )  # fmt: skip


def _unfocused(inner: Facts) -> Facts:
    """Facts of an operand that has a focus of its own."""
    if not inner.reads_focus:
        return inner
    return inner._replace(focus=False, position=False, last=False)


def _joined(first: Facts, parts: Iterable[Facts]) -> Facts:
    """Facts of a node and of its parts; most have what one of their own parts has: it is shared."""
    found = first
    for part in parts:
        if part is _NOTHING or part is found:
            continue
        found = part if found is _NOTHING else _both(found, part)
    return found


def _both(a: Facts, b: Facts) -> Facts:
    used = a.used if b.used <= a.used else b.used if a.used <= b.used else a.used | b.used
    bound = a.bound if b.bound <= a.bound else a.bound | b.bound
    return Facts(
        used,
        bound,
        a.focus or b.focus,
        a.position or b.position,
        a.last or b.last,
        a.makes_nodes or b.makes_nodes,
        a.pure and b.pure,
        a.calls or b.calls,
    )
