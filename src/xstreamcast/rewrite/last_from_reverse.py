"""The ends of a reversed sequence, without reversing it."""

from __future__ import annotations

from typing import Final

from xstreamcast.algebra import plan as p
from xstreamcast.functions import registry
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import INTEGER
from xstreamcast.rewrite.known import Known

_ONE: Final = p.Const((p.Atom(INTEGER, 1),))


def last_from_reverse(plan: p.Filter | p.Call, known: Known) -> p.Expression:
    """Which item is first from the other end is known from the sequence as it is.

    head(reverse(e))  →  e[last()]      reverse(e)[1]  →  e[last()]      reverse(e)[last()]  →  e[1]
    reverse(e)[n]  →  e[last() - (n - 1)]
    reverse(e)[position() <= n]  →  reverse(e[position() > last() - n])
    """
    match plan:
        case p.Call(head, (p.Call(reverse, (items,)),)):
            if _is(head, "head") and _is(reverse, "reverse"):
                return p.Filter(items, p.Last(), span=plan.span)
        case p.Filter(p.Call(reverse, (items,)), place, False) if _is(reverse, "reverse"):
            if place == _ONE:
                return p.Filter(items, p.Last(), span=plan.span)
            if place == p.Last():
                return p.Filter(items, _ONE, span=plan.span)
            return _from_the_end(plan, reverse, items, place)
        case _:
            pass
    return plan


def _from_the_end(
    plan: p.Filter, reverse: registry.Function, items: p.Expression, place: p.Expression
) -> p.Expression:
    match place:
        case p.Const((p.Atom(tag=tag, value=int(n)),)) if tag == INTEGER and n > 1:
            return p.Filter(items, _before_last(n - 1), span=plan.span)
        case p.GeneralCompare("le" | "lt" as op, p.Position(), p.Const((p.Atom(value=int(n)),))):
            kept = n if op == "le" else n - 1
            if kept >= 1:
                test = p.GeneralCompare("gt", p.Position(), _before_last(kept), span=place.span)
                return p.Call(reverse, (p.Filter(items, test, span=plan.span),), span=plan.span)
    return plan


def _before_last(n: int) -> p.Expression:
    return p.Arithmetic("-", p.Last(), p.Const((p.Atom(INTEGER, n),)))


def _is(function: registry.Function, local: str) -> bool:
    return (function.uri, function.local) == (FN, local)
