"""What is known now is not computed later."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.errors import Error
from xstreamcast.functions.compare import general_compare
from xstreamcast.functions.numbers.arithmetic import arithmetic, negate
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import BOOLEAN, DECIMAL, DOUBLE, INTEGER, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.rewrite.known import Known

# Values of these types mean the same everywhere: no time zone, no namespace, no collation.
_PLAIN: Final = frozenset({INTEGER, DECIMAL, DOUBLE, STRING, BOOLEAN})
_NUMBERS: Final = frozenset({INTEGER, DECIMAL, DOUBLE})
TRUE: Final = p.Const((p.Atom(BOOLEAN, True),))
FALSE: Final = p.Const((p.Atom(BOOLEAN, False),))


def fold_constants(plan: p.Expression | p.Where, known: Known) -> p.Plan:
    """An expression of constants is a constant; what fails is left to fail when it is evaluated.

    1 + 2  →  3        if (true()) then a else b  →  a        (1, (2, 3))  →  1, 2, 3
    """
    match plan:
        case p.Arithmetic(op, p.Const((a,)), p.Const((b,))) if {a.tag, b.tag} <= _NUMBERS:
            return _tried(plan, lambda: arithmetic(op, _items(a), _items(b)))
        case p.Unary("-", p.Const((a,))) if a.tag in _NUMBERS:
            return _tried(plan, lambda: negate(_items(a)))
        case p.GeneralCompare(op, p.Const((a,)), p.Const((b,))) if _alike(a, b):
            return _compared(plan, op, a, b)
        case p.ValueCompare(op, p.Const((a,)), p.Const((b,))) if _alike(a, b):
            return _compared(plan, op, a, b)
        case p.Call(function, args) if function.uri == FN:
            return _called(plan, function.local, args)
        case p.If(p.Const((p.Atom(tag, value),)), then, otherwise) if tag == BOOLEAN:
            return then if value else otherwise
        case p.And(operands):
            return _narrowed(plan, operands, TRUE, FALSE)
        case p.Or(operands):
            return _narrowed(plan, operands, FALSE, TRUE)
        case p.Comma(parts):
            return _sequence(plan, parts)
        case p.Where(source, test) if test == TRUE:
            return source
        case _:
            return plan


def _called(plan: p.Call, name: str, args: tuple[p.Expression, ...]) -> p.Expression:
    match name, args:
        case ("true", ()):
            return replace(TRUE, span=plan.span)
        case ("false", ()):
            return replace(FALSE, span=plan.span)
        case ("not", (p.Const((p.Atom(tag, value),)),)) if tag == BOOLEAN:
            return replace(FALSE if value else TRUE, span=plan.span)
        case _:
            return plan


def _narrowed(
    plan: p.And | p.Or, operands: tuple[p.Expression, ...], dull: p.Const, decides: p.Const
) -> p.Expression:
    """Operands that change nothing go; so do those after one that decides."""
    kept = [one for one in operands if one != dull]
    if decides in kept:
        kept = kept[: kept.index(decides) + 1]
    if not kept:
        return dull
    if len(kept) == 1 and kept[0] == decides:
        return decides
    if len(kept) == len(operands):
        return plan
    # A single operand is not a truth value yet: the operator around it makes it one.
    return replace(plan, operands=tuple(kept))


def _sequence(plan: p.Comma, parts: tuple[p.Expression, ...]) -> p.Expression:
    if len(parts) == 1:
        return parts[0]
    if not any(isinstance(a, p.Comma) for a in parts) and not _neighbours(parts):
        return plan
    flat: list[p.Expression] = []
    for part in parts:
        for one in part.parts if isinstance(part, p.Comma) else (part,):
            last = flat[-1] if flat else None
            if isinstance(one, p.Const) and isinstance(last, p.Const):
                flat[-1] = replace(last, atoms=last.atoms + one.atoms)
            else:
                flat.append(one)
    return flat[0] if len(flat) == 1 else replace(plan, parts=tuple(flat))


def _neighbours(parts: tuple[p.Expression, ...]) -> bool:
    return any(isinstance(a, p.Const) and isinstance(b, p.Const) for a, b in pairwise(parts))


def _alike(a: p.Atom, b: p.Atom) -> bool:
    return a.tag in _PLAIN and (a.tag == b.tag or {a.tag, b.tag} <= _NUMBERS)


def _compared(
    plan: p.GeneralCompare | p.ValueCompare, op: p.CompareOp, a: p.Atom, b: p.Atom
) -> p.Expression:
    try:
        found = general_compare(op, Column(_items(a)), Column(_items(b)))
    except Error:
        return plan
    return replace(TRUE if found[0] else FALSE, span=plan.span)


def _tried(plan: p.Arithmetic | p.Unary, compute: object) -> p.Expression:
    try:
        items: Items = compute()  # type: ignore[operator]
    except Error:
        return plan
    ((tag, value),) = items.pairs()
    return p.Const((p.Atom(tag, value),), span=plan.span)


def _items(atom: p.Atom) -> Items:
    return Items.of(atom.tag, [atom.value])
