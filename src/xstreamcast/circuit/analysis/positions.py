"""Predicates that choose items by their positions alone."""

from __future__ import annotations

from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.algebra.analysis.free import facts
from xstreamcast.algebra.nodes.static_type import Kinds
from xstreamcast.circuit.analysis.calls import called
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.rewrite.known import Known

Chosen = tuple[int, int | None]  # the first and last position; negative ones count from the end
_SWAPPED: Final = {"eq": "eq", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def positions_of(predicate: p.Expression, position: p.Variable | None = None) -> Chosen | None:
    """The positions that a predicate lets through; None if it is anything else.

    `position`: a variable that holds the position, in the place of position().
    """
    match predicate:
        case p.Const((p.Atom(value=bool()),)):
            return None
        case p.Const((p.Atom(value=int(n)),)) if n >= 1 and position is None:
            return n, n
        case p.Last() if position is None:
            return -1, -1
        case p.Arithmetic("-", p.Last(), p.Const((p.Atom(value=int(n)),))) if position is None:
            return (-n - 1, -n - 1) if n >= 0 else None
        case p.And((one, other)):
            return _both(positions_of(one, position), positions_of(other, position))
        case p.GeneralCompare(op, left, right) | p.ValueCompare(op, left, right):
            if _is_position(left, position):
                return _compared(op, right)
            if _is_position(right, position) and op in _SWAPPED:
                return _compared(_SWAPPED[op], left)
    return None


def _is_position(plan: p.Expression, position: p.Variable | None) -> bool:
    if position is None:
        return isinstance(plan, p.Position)
    return plan == p.Var(position)


def _compared(op: str, bound: p.Expression) -> Chosen | None:
    match op, bound:
        case "eq", p.Last():
            return -1, -1
        case "eq", p.Const(atoms) if atoms and all(type(a.value) is int for a in atoms):
            numbers = sorted({atom.value for atom in atoms})
            whole = numbers == list(range(numbers[0], numbers[-1] + 1))
            return (numbers[0], numbers[-1]) if whole and numbers[0] >= 1 else None
        case "le", p.Const((p.Atom(value=int(n)),)):
            return 1, n
        case "lt", p.Const((p.Atom(value=int(n)),)):
            return 1, n - 1
        case "ge", p.Const((p.Atom(value=int(n)),)):
            return max(1, n), None
        case "gt", p.Const((p.Atom(value=int(n)),)):
            return max(1, n + 1), None
        case "gt", p.Arithmetic("-", p.Last(), p.Const((p.Atom(value=int(n)),))) if n >= 1:
            return -n, None
    return None


def _both(one: Chosen | None, other: Chosen | None) -> Chosen | None:
    if one is None or other is None or one[0] < 0 or other[0] < 0:
        return None
    ends = [end for end in (one[1], other[1]) if end is not None]
    return max(one[0], other[0]), min(ends) if ends else None


def at_positions(plan: p.Call, known: Known) -> p.Filter | None:
    """subsequence(e, $i, n)  →  e[position() >= round($i) and position() < round($i) + round(n)]

    if it begins where a variable says. Both bounds are one number each, or the call would fail.
    """
    match plan:
        case p.Call(function, (source, *bounds)) if (
            (function.uri, function.local) == (FN, "subsequence")
            and not all(isinstance(one, p.Const) for one in bounds)
            and not any(facts(one).reads_focus for one in bounds)
            and all(known.type_of(one).one for one in bounds)
            and all(known.type_of(one).only(Kinds.NUMERIC) for one in bounds)
        ):
            pass
        case _:
            return None
    rounded = lookup(FN, "round", 1)
    assert rounded is not None
    doubles = [called("number", one) for one in bounds]
    first, *length = (p.Call(rounded, (one,), span=one.span) for one in doubles)
    test: p.Expression = p.GeneralCompare("ge", p.Position(), first, span=plan.span)
    if length:
        end = p.Arithmetic("+", first, *length, span=plan.span)
        test = p.And((test, p.GeneralCompare("lt", p.Position(), end, span=plan.span)))
    return p.Filter(source, test, span=plan.span)
