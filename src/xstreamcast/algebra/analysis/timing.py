"""How a part depends on the clock: whether it is known when a unit's answer may next change.

If `now` occurs only in bounds of projections and in comparisons with the bounds of
lifespans and dateTimes in the content, as now, now - D or now + D, and no lifespan is read
that such a bound moves, then the answer of a unit changes only when a bound passes one of the
instants in the unit: now = t + D, for an instant t and an offset D. Which versions there are is up
to the stream: numbers of versions do not depend on the clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.item_kinds import static_type
from xstreamcast.algebra.nodes.static_type import ATOMIC
from xstreamcast.algebra.walk import children, descendants
from xstreamcast.errors import Error
from xstreamcast.functions.cast.calendar import parse_duration
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import DATE_TIME, DAY_TIME_DURATION, STRING
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import NOW, SECOND, START, parse_instant
from xstreamcast.model.sequence_type import AtomicItem, NodeItem

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program

_ATOMISING: Final = frozenset(
    {"sum", "count", "avg", "min", "max", "exists", "empty", "not", "boolean", "number"}
    | {"string", "data", "string-join", "distinct-values", "concat", "contains", "string-length"}
)
_OBSERVING: Final = (p.LifespanBound, p.Interval, p.AllenCompare, p.UserCall, p.DynamicCall,
                     p.Inline, p.UserRef)  # fmt: skip
_HANDING_ON: Final = (p.Step, p.Path, p.SimpleMap, p.Convert, p.Treat, p.VersionProjection)


@dataclass(frozen=True, slots=True)
class Timing:
    """Offsets from a unit's instants to when its answer may change; instants that are written.

    `content`: dateTimes in what the unit contains are among its instants.
    """

    offsets: tuple[int, ...]
    fixed: tuple[int, ...]
    content: bool = False


class _Unknown(Exception):
    """The clock is used in a way that gives no instants beforehand."""


def timing(
    plans: list[p.Plan], seen: frozenset[p.Variable] | None = None, content: bool = False,
    instants: Instants = frozenset(),
) -> Timing | None:  # fmt: skip
    """How plans depend on the clock; None if nothing can be said beforehand.

    `seen`: of the variables of a plan that is tuples, those that others read; None: all of them.
    `content`: whether dateTimes in what units contain will be looked for. `instants`: names of
    elements that are events: a projection takes them or not, and clips nothing.
    """
    look = _Lifespans(instants)
    offsets: set[int] = set()
    fixed: set[int] = set()
    met = False
    try:
        for plan in plans:
            reads = _Reads(plan)
            for node in descendants(plan):
                _look(node, offsets, fixed)
                met |= reads.note(node, offsets)
            look.hidden(plan, False, {}, seen)
            if _clock_reads(plan) != reads.known or look.sees_moving(plan):
                return None
    except _Unknown:
        return None
    if met and not content:
        return None
    return Timing(tuple(sorted(offsets)), tuple(sorted(fixed)), met)


def _look(node: p.Plan, offsets: set[int], fixed: set[int]) -> None:
    match node:
        case p.IntervalProjection(_, first, last):
            for bound in (first,) if last is None else (first, last):
                offset = _offset(bound)
                if isinstance(offset, int):
                    offsets.add(offset)
                elif offset is not None:
                    fixed.add(offset[0])
        case p.LifespanBound("vtFrom"):
            pass  # when something began does not move: what is clipped to a moving begin is hidden
        case _ if isinstance(node, _OBSERVING):
            raise _Unknown


class _Reads:
    """Where a plan reads the clock in ways that give the instants of changes beforehand."""

    def __init__(self, plan: p.Plan) -> None:
        self.known = 0  # how often it is read so
        nodes = list(descendants(plan))
        self._bound = {n.variable: n for n in nodes if isinstance(n, p.Let | p.ForEach)}
        sources = [_bound_to(n) for n in self._bound.values()]
        sources += [n.input for n in nodes if isinstance(n, p.Step)]
        makes = (p.MakeElement, p.MakeDocument, p.MakeText, p.MakeAttribute)
        self._makes = any(isinstance(n, makes) for one in sources for n in descendants(one))

    def note(self, node: p.Plan, offsets: set[int]) -> bool:
        """Look at a node of the plan → whether it compares content with the clock."""
        match node:
            case p.IntervalProjection(_, first, last):
                self.known += sum(_clock_reads(one) for one in (first, last) if one is not None)
            case p.GeneralCompare(_, left, right) | p.ValueCompare(_, left, right):
                general = isinstance(node, p.GeneralCompare)
                for one, other in ((left, right), (right, left)):
                    found = self._compared(one, other, general)
                    if found is not None:
                        self.known += 1
                        offsets.add(found[0])
                        return found[1]
            case _:
                pass
        return False

    def _compared(
        self, one: p.Expression, other: p.Expression, general: bool
    ) -> tuple[int, bool] | None:
        """D where the result changes when now = t + D; whether t is in the content."""
        match one, other:
            case (
                p.Arithmetic("-", clock, p.LifespanBound("vtFrom")),
                p.Cast(p.Const((atom,))),
            ) if _is_now(clock) and (micros := _micros(str(atom.value))) is not None:
                return micros, False
        ago, (source, later) = _before_now(other), _moved(one)
        if ago is None:
            return None
        if isinstance(source, p.LifespanBound) and source.which == "vtFrom":
            return ago + later, False
        if not self._makes and self._is_read(source, general and later == 0):
            return ago + later, True
        return None

    def _is_read(self, plan: p.Expression, general: bool) -> bool:
        """Whether it is a dateTime that is in a unit; `general`: untyped text becomes one."""
        match plan:
            case p.Cast(operand, AtomicItem(tag)) if tag == DATE_TIME:
                return self._is_node(operand)
            case _:
                return general and self._is_node(plan)

    def _is_node(self, plan: p.Expression) -> bool:
        match plan:
            case p.Step():
                return True
            case p.Filter(input):
                return self._is_node(input)
            case p.Path(_, right):
                return self._is_node(right)
            case p.Call(function, (argument,)) if function.uri == FN:
                return function.local in ("data", "string") and self._is_node(argument)
            case p.Var(variable) if variable in self._bound:
                return self._is_node(_bound_to(self._bound[variable]))
            case _:
                return False


def _bound_to(clause: p.Let | p.ForEach) -> p.Expression:
    return clause.value if isinstance(clause, p.Let) else clause.items


def _is_now(plan: p.Expression) -> bool:
    match plan:
        case p.Instant("now"):
            return True
        case p.Call(function):
            return (function.uri, function.local) == (FN, "current-dateTime")
        case _:
            return False


def _before_now(plan: p.Expression) -> int | None:
    """D for now - D."""
    clock, later = _moved(plan)
    return -later if _is_now(clock) else None


def _moved(plan: p.Expression) -> tuple[p.Expression, int]:
    """e + D as e and D."""
    match plan:
        case p.Arithmetic("+" | "-" as op, left, p.Cast(p.Const((atom,)))) if (
            micros := _micros(str(atom.value))
        ) is not None:
            return left, micros if op == "+" else -micros
        case _:
            return plan, 0


def content_instants(document: p.Variable, each: p.Variable) -> p.Expression:
    """The dateTimes that are in a unit, as text."""
    every = p.Step(p.Var(document), "descendant", NodeItem("element"))
    nodes = p.Comma((every, p.Step(every, "attribute", NodeItem("attribute"))))
    moment = AtomicItem(DATE_TIME)
    some = p.Where(p.ForEach(p.Unit(), each, nodes), p.Castable(p.Var(each), moment, False))
    return p.Return(some, p.Cast(p.Cast(p.Var(each), moment, False), AtomicItem(STRING), False))


def reached(program: Program) -> int:
    """The last instant that an interval of a projection may reach; NOW if it may be after now
    whenever that is, START if none does.
    """
    found = START
    plans: list[p.Plan] = [program.body, *(one.body for one in program.functions)]
    plans += [one.value for one in program.variables if one.value is not None]
    for node in (one for plan in plans for one in descendants(plan)):
        if isinstance(node, p.IntervalProjection):
            end = node.first if node.last is None else node.last
            try:
                offset = _offset(end)
            except _Unknown:
                return NOW
            if isinstance(offset, tuple):
                found = max(found, offset[0])
            elif offset is not None and offset < 0:
                return NOW
    return found


def ago(bound: p.Expression) -> int | None:
    """How long before now a bound is, if it moves with the clock; 0 if it is ahead."""
    try:
        offset = _offset(bound)
    except _Unknown:
        return None
    return max(offset, 0) if isinstance(offset, int) else None


def _offset(bound: p.Expression) -> int | tuple[int] | None:
    """D for now - D; an instant in a tuple; None for start."""
    match bound:
        case p.Instant("now"):
            return 0
        case p.Instant("start"):
            return None
        case p.Arithmetic("-" | "+" as op, p.Instant("now"), p.Cast(p.Const((atom,)))):
            micros = _micros(str(atom.value))
            if micros is not None:
                return micros if op == "-" else -micros
        case p.Cast(p.Const((atom,))):
            found = parse_instant(str(atom.value))
            if found is not None:
                return (found[0],)
    raise _Unknown


def _micros(text: str) -> int | None:
    """The microseconds of a duration of days and less; None if it is none, or is finer."""
    try:
        exact = parse_duration(DAY_TIME_DURATION, text).seconds * SECOND
    except Error:
        return None
    return int(exact) if exact == int(exact) else None


def _clock_reads(plan: p.Plan) -> int:
    """How often a plan reads the clock."""
    return sum(
        isinstance(node, p.Instant)
        or (isinstance(node, p.Call) and node.function.local.startswith("current-"))
        for node in descendants(plan)
    )


Lets = dict[p.Variable, p.Expression]
Instants = frozenset[tuple[str, str]]  # names: uri, local


class _Lifespans:
    """Who sees lifespans that move with the clock; `instants` are names of events, which do not."""

    def __init__(self, instants: Instants) -> None:
        self._instants = instants

    def _moves(self, plan: p.IntervalProjection) -> bool:
        """Whether lifespans are clipped to bounds that move: an end of now does not."""
        if p.is_current(plan) or self._is_event(plan.operand):
            return False
        begin, end = _offset(plan.first), _offset(plan.first if plan.last is None else plan.last)
        return isinstance(begin, int) or (isinstance(end, int) and end != 0)

    def _is_event(self, plan: p.Expression) -> bool:
        match plan:
            case p.Filter(input):
                return self._is_event(input)
            case p.Step(_, "child" | "descendant", NodeItem("element", uri, local)):
                return (uri, local) in self._instants
            case _:
                return False

    def sees_moving(self, plan: p.Plan) -> bool:
        """Whether lifespans are read where some of them move with the clock."""
        nodes = list(descendants(plan))
        return any(_sees_lifespans(node) for node in nodes) and any(
            isinstance(node, p.IntervalProjection) and self._moves(node) for node in nodes
        )

    def hidden(
        self, plan: p.Plan, atomised: bool, lets: Lets, seen: frozenset[p.Variable] | None = None
    ) -> None:
        """_Unknown if the lifespan of something projected may be seen in the answer.

        `lets`: values that are looked at where their variables are used.
        """
        match plan:
            case p.IntervalProjection(operand):
                if not atomised and self._moves(plan):
                    raise _Unknown
                self.hidden(operand, atomised, lets)
                return
            case p.Let(source, variable, bound) | p.ForEach(source, variable, bound):
                self.hidden(source, False, lets, seen)
                if seen is None or variable in seen:
                    self.hidden(bound, False, lets)
                lets[variable] = bound
                return
            case p.Var(variable):
                if variable in lets:
                    self.hidden(lets[variable], atomised, lets)
                return
            case p.Where(source, test):
                self.hidden(source, False, lets, seen)
                self.hidden(test, True, lets)
                return
            case p.Filter(input, predicate):
                self.hidden(input, atomised, lets)
                self.hidden(predicate, True, lets)
                return
            case p.OrderBy(source, keys):
                self.hidden(source, False, lets, seen)
                for key in keys:
                    self.hidden(key.value, True, lets)
                return
            case p.Return(source, result):
                self.hidden(source, False, lets, frozenset())
                self.hidden(result, atomised, lets)
                return
            case _:
                inner = _atomises(plan) or (atomised and isinstance(plan, _HANDING_ON))
        for child in children(plan):
            self.hidden(child, inner, lets)


def _sees_lifespans(node: p.Plan) -> bool:
    match node:
        case p.LifespanBound():
            return True
        case p.Step(_, "attribute", test):
            return test.local in (None, "vtFrom", "vtTo")
        case _:
            return False


def _atomises(plan: p.Plan) -> bool:
    """Whether the lifespans of what a plan reads are never read."""
    match plan:
        case p.GeneralCompare() | p.ValueCompare() | p.Arithmetic() | p.And() | p.Or():
            return True
        case p.Call(function):
            return function.uri == FN and function.local in _ATOMISING
        case p.Path(_, right) | p.SimpleMap(_, right):
            return static_type(right).only(ATOMIC)
        case p.Step(_, axis, test):
            return axis == "attribute" or test.kind == "text"  # neither shows a lifespan
        case _:
            return False


def asks_clock(plan: p.Plan) -> bool:
    """Whether a plan reads the clock, or lifespans that may end now."""
    temporal = (p.Instant, p.LifespanBound, p.IntervalProjection, p.VersionProjection)
    return any(
        isinstance(node, (*temporal, p.AllenCompare, p.Interval))
        or (isinstance(node, p.Call) and node.function.local.startswith("current-"))
        for node in descendants(plan)
    )
