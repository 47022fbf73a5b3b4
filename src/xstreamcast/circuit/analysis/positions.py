"""Predicates that choose items by their positions alone."""

from __future__ import annotations

from typing import Final

from xstreamcast.algebra import plan as p

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
