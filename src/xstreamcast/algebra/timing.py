"""How a part depends on the clock: where it can be told when a unit's answer may next change.

If `now` occurs only in bounds of projections and beside bounds of lifespans that it is compared
with, as now, now - D or now + D, and nobody looks at lifespans that such a bound moves, then the
answer of a unit changes only when a bound passes one of the instants in the unit: now = t + D, for
an instant t and an offset D. Which versions there are is up to the stream: numbers of versions do
not depend on the clock.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis import static_type
from xstreamcast.algebra.static_type import ATOMIC
from xstreamcast.algebra.walk import children, descendants
from xstreamcast.functions.signature import FN
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import SECOND, parse_instant

_ATOMISING: Final = frozenset(
    {"sum", "count", "avg", "min", "max", "exists", "empty", "not", "boolean", "number"}
    | {"string", "data", "string-join", "distinct-values", "concat", "contains", "string-length"}
)
_DURATION: Final = re.compile(
    r"(-)?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,6})?)S)?)?", re.ASCII
)
_OBSERVING: Final = (p.LifespanBound, p.Interval, p.AllenCompare, p.UserCall, p.DynamicCall,
                     p.Inline, p.UserRef)  # fmt: skip
_HANDING_ON: Final = (p.Step, p.Path, p.SimpleMap, p.Convert, p.Treat, p.VersionProjection)


@dataclass(frozen=True, slots=True)
class Timing:
    """Offsets from a unit's instants to when its answer may change; instants that are written."""

    offsets: tuple[int, ...]
    fixed: tuple[int, ...]


class _Unknown(Exception):
    """The clock is used in a way that tells nothing beforehand."""


def timing(plans: list[p.Plan], seen: frozenset[p.Variable] | None = None) -> Timing | None:
    """How plans depend on the clock; None if nothing can be said beforehand.

    `seen`: of the variables of a plan that is tuples, those that others read; None: all of them.
    """
    offsets: set[int] = set()
    fixed: set[int] = set()
    try:
        for plan in plans:
            for node in descendants(plan):
                _look(node, offsets, fixed)
            _hidden(plan, False, {}, seen)
            if _instants(plan) != _bounds(plan) or _sees_moving(plan):
                return None
    except _Unknown:
        return None
    return Timing(tuple(sorted(offsets)), tuple(sorted(fixed)))


def _look(node: p.Plan, offsets: set[int], fixed: set[int]) -> None:
    match node:
        case p.IntervalProjection(_, first, last):
            for bound in (first,) if last is None else (first, last):
                offset = _offset(bound)
                if isinstance(offset, int):
                    offsets.add(offset)
                elif offset is not None:
                    fixed.add(offset[0])
        case p.Call(function) if function.local.startswith("current-"):
            raise _Unknown
        case p.GeneralCompare() | p.ValueCompare():
            offset = _compared(node)
            if offset is not None:
                offsets.add(offset)
        case p.LifespanBound("vtFrom"):
            pass  # when something began does not move: what is clipped to a moving begin is hidden
        case _ if isinstance(node, _OBSERVING):
            raise _Unknown


def _compared(plan: p.GeneralCompare | p.ValueCompare) -> int | None:
    """D for a comparison whose result changes when now = t + D, t being when a lifespan begins."""
    for one, other in ((plan.left, plan.right), (plan.right, plan.left)):
        match one, other:
            case p.LifespanBound("vtFrom"), p.Instant("now"):
                return 0
            case p.LifespanBound("vtFrom"), p.Arithmetic(_, p.Instant("now"), p.Cast(p.Const())):
                offset = _offset(other)
                return offset if isinstance(offset, int) else None
            case (
                p.Arithmetic("+" | "-" as op, p.LifespanBound("vtFrom"), p.Cast(p.Const((atom,)))),
                p.Instant("now"),
            ):
                micros = _micros(str(atom.value))
                return micros if op == "+" else -micros
            case (
                p.Arithmetic("-", p.Instant("now"), p.LifespanBound("vtFrom")),
                p.Cast(p.Const((atom,))),
            ):
                return _micros(str(atom.value))
            case _:
                pass
    return None


def ago(bound: p.Expression) -> int | None:
    """How long before now a bound lies, if it moves with the clock; 0 if it lies ahead."""
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
            return micros if op == "-" else -micros
        case p.Cast(p.Const((atom,))):
            found = parse_instant(str(atom.value))
            if found is not None:
                return (found[0],)
    raise _Unknown


def _micros(text: str) -> int:
    """The microseconds of a duration of days and less."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise _Unknown
    sign, days, hours, minutes, seconds = found.groups()
    whole = ((int(days or 0) * 24 + int(hours or 0)) * 60 + int(minutes or 0)) * 60
    micros = int((Decimal(whole) + Decimal(seconds or 0)) * SECOND)
    return -micros if sign else micros


def _instants(plan: p.Plan) -> int:
    return sum(isinstance(node, p.Instant) for node in descendants(plan))


def _bounds(plan: p.Plan) -> int:
    """How often the clock is asked in bounds of projections, and beside bounds of lifespans."""
    found = 0
    for node in descendants(plan):
        match node:
            case p.IntervalProjection(_, first, last):
                found += sum(_instants(bound) for bound in (first, last) if bound is not None)
            case p.GeneralCompare() | p.ValueCompare():
                found += _compared(node) is not None
            case _:
                pass
    return found


def _moves(plan: p.IntervalProjection) -> bool:
    """Whether lifespans are clipped to bounds that move with the clock; an end of now does not."""
    if p.is_current(plan):
        return False
    begin, end = _offset(plan.first), _offset(plan.first if plan.last is None else plan.last)
    return isinstance(begin, int) or (isinstance(end, int) and end != 0)


def _sees_moving(plan: p.Plan) -> bool:
    """Whether somebody looks at lifespans where some of them move with the clock."""
    nodes = list(descendants(plan))
    return any(_sees_lifespans(node) for node in nodes) and any(
        isinstance(node, p.IntervalProjection) and _moves(node) for node in nodes
    )


def _sees_lifespans(node: p.Plan) -> bool:
    match node:
        case p.LifespanBound():
            return True
        case p.Step(_, "attribute", test):
            return test.local in (None, "vtFrom", "vtTo")
        case _:
            return False


Lets = dict[p.Variable, p.Expression]


def _hidden(
    plan: p.Plan, atomised: bool, lets: Lets, seen: frozenset[p.Variable] | None = None
) -> None:
    """_Unknown if the lifespan of something projected may be seen in the answer.

    `lets`: values that are looked at where their variables are used.
    """
    match plan:
        case p.IntervalProjection(operand):
            if not atomised and _moves(plan):
                raise _Unknown
            _hidden(operand, atomised, lets)
            return
        case p.Let(source, variable, value):
            _hidden(source, False, lets, seen)
            if seen is None or variable in seen:
                _hidden(value, False, lets)
            lets[variable] = value
            return
        case p.Var(variable):
            if variable in lets:
                _hidden(lets[variable], atomised, lets)
            return
        case p.Where(source, test):
            _hidden(source, False, lets, seen)
            _hidden(test, True, lets)
            return
        case p.Filter(input, predicate):
            _hidden(input, atomised, lets)
            _hidden(predicate, True, lets)
            return
        case p.ForEach(source, variable, items):
            _hidden(source, False, lets, seen)
            if seen is None or variable in seen:
                _hidden(items, False, lets)
            lets[variable] = items
            return
        case p.OrderBy(source, keys):
            _hidden(source, False, lets, seen)
            for key in keys:
                _hidden(key.value, True, lets)
            return
        case p.Return(source, result):
            _hidden(source, False, lets, frozenset())
            _hidden(result, atomised, lets)
            return
        case _:
            inner = _atomises(plan) or (atomised and isinstance(plan, _HANDING_ON))
    for child in children(plan):
        _hidden(child, inner, lets)


def _atomises(plan: p.Plan) -> bool:
    """Whether nobody sees the lifespans of what a plan reads."""
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
