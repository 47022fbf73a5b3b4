"""Times as the papers write them, in the words that XQuery has for them.

vtFrom($a) >= 2003-01-05  →  vtFrom($a) >= 2003-01-05T00:00:00
now < 2003-01-05 + P1D    →  now < 2003-01-05T00:00:00 + P1D
now - P1Y2M3DT4H          →  now - P1Y2M - P3DT4H
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from xstreamcast.syntax.grammar.xcql import temporal
from xstreamcast.syntax.tree import ArithmeticExpr, ComparisonExpr, Expr, TimeLiteral

_MONTHS: Final = re.compile(r"P(?:\d+Y)?(?:\d+M)?")


def compared(found: ComparisonExpr) -> ComparisonExpr:
    """A date that is compared with an instant is its midnight."""
    left, right = _midnight(found.left, found.right), _midnight(found.right, found.left)
    same = left is found.left and right is found.right
    return found if same else replace(found, left=left, right=right)


def added(found: ArithmeticExpr) -> ArithmeticExpr:
    """A duration of years to seconds is added as two: months, then days and less."""
    right = found.right
    if found.operator not in ("+", "-") or not isinstance(right, TimeLiteral):
        return found
    if right.kind != "duration":
        return found
    date, _, clock = right.text.partition("T")
    months = _MONTHS.match(date)
    assert months is not None
    rest = f"P{date[months.end() :]}" + (f"T{clock}" if clock else "")
    first = replace(found, right=TimeLiteral("yearMonthDuration", months[0], right.span))
    return replace(found, left=first, right=TimeLiteral("dayTimeDuration", rest, right.span))


def _midnight(value: Expr, other: Expr) -> Expr:
    instant = temporal(other) and not (_is_date(other) or _is_duration(other))
    return _at_midnight(value) if instant and _is_date(value) else value


def _at_midnight(value: Expr) -> Expr:
    match value:
        case TimeLiteral("date", text):
            return TimeLiteral("dateTime", f"{text[:10]}T00:00:00{text[10:]}", value.span)
        case ArithmeticExpr(_, left, _):
            return replace(value, left=_at_midnight(left))
        case _:
            return value


def _is_date(value: Expr) -> bool:
    """A date, or one that a duration is added to."""
    match value:
        case TimeLiteral("date"):
            return True
        case ArithmeticExpr("+" | "-", left, right):
            return _is_date(left) and _is_duration(right)
        case _:
            return False


def _is_duration(value: Expr) -> bool:
    return isinstance(value, TimeLiteral) and value.kind not in ("date", "dateTime")
