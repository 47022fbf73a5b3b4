"""How a part depends on the clock: where it can be told when a unit's answer may next change.

If `now` occurs only in bounds of projections, as now, now - D or now + D, and nobody looks at
lifespans that such a bound moves, then the answer of a unit changes only when a bound passes one of
the instants in the unit: now = t + D, for an instant t and an offset D.
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
_OBSERVING: Final = (p.LifespanBound, p.VersionProjection, p.Interval, p.AllenCompare, p.UserCall,
                     p.DynamicCall, p.Inline, p.UserRef)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Timing:
    """Offsets from a unit's instants to when its answer may change; instants that are written."""

    offsets: tuple[int, ...]
    fixed: tuple[int, ...]


class _Unknown(Exception):
    """The clock is used in a way that tells nothing beforehand."""


def timing(plans: list[p.Plan]) -> Timing | None:
    """How plans depend on the clock; None if nothing can be said beforehand."""
    offsets: set[int] = set()
    fixed: set[int] = set()
    try:
        for plan in plans:
            for node in descendants(plan):
                _look(node, offsets, fixed)
            _hidden(plan, False)
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
        case p.LifespanBound("vtFrom"):
            pass  # when something began does not move: what is clipped to a moving begin is hidden
        case _ if isinstance(node, _OBSERVING):
            raise _Unknown


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
    """How often the clock is asked in bounds of projections."""
    return sum(
        _instants(bound)
        for node in descendants(plan)
        if isinstance(node, p.IntervalProjection)
        for bound in (node.first, node.last)
        if bound is not None
    )


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


def _hidden(plan: p.Plan, atomised: bool) -> None:
    """_Unknown if the lifespan of something projected may be seen in the answer."""
    match plan:
        case p.IntervalProjection(operand):
            if not atomised and _moves(plan):
                raise _Unknown
            _hidden(operand, atomised)
            return
        case p.GeneralCompare() | p.ValueCompare() | p.Arithmetic() | p.And() | p.Or():
            inner = True
        case p.Call(function) if function.uri == FN and function.local in _ATOMISING:
            inner = True
        case p.Path(_, right) | p.SimpleMap(_, right) if static_type(right).only(ATOMIC):
            inner = True
        case p.Step(_, axis, test) if axis == "attribute" or test.kind == "text":
            inner = True  # neither shows a lifespan
        case p.Step() | p.Path() | p.SimpleMap() | p.Filter() | p.Convert() | p.Treat():
            inner = atomised
        case p.Where(source, test):
            _hidden(source, False)
            _hidden(test, True)
            return
        case _:
            inner = False
    if isinstance(plan, p.Filter):
        _hidden(plan.input, inner)
        _hidden(plan.predicate, True)
        return
    for child in children(plan):
        _hidden(child, inner)


def asks_clock(plan: p.Plan) -> bool:
    """Whether a plan reads the clock, or lifespans that may end now."""
    temporal = (p.Instant, p.LifespanBound, p.IntervalProjection, p.VersionProjection)
    return any(
        isinstance(node, (*temporal, p.AllenCompare, p.Interval))
        or (isinstance(node, p.Call) and node.function.local.startswith("current-"))
        for node in descendants(plan)
    )
