"""Times as the papers write them, in the words that XQuery has for them.

vtFrom($a) >= 2003-01-05  →  vtFrom($a) >= 2003-01-05T00:00:00
now - P1Y2M3DT4H          →  now - P1Y2M - P3DT4H
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from xstreamcast.syntax.grammar.xcql import temporal
from xstreamcast.syntax.tree import Arithmetic, Comparison, Expr, TimeLiteral

_MONTHS: Final = re.compile(r"P(?:\d+Y)?(?:\d+M)?")


def compared(found: Comparison) -> Comparison:
    """A date that is compared with an instant is its midnight."""
    left, right = _midnight(found.left, found.right), _midnight(found.right, found.left)
    same = left is found.left and right is found.right
    return found if same else replace(found, left=left, right=right)


def added(found: Arithmetic) -> Arithmetic:
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
    match value, other:
        case TimeLiteral("date"), TimeLiteral("date" | "duration" | "dayTimeDuration"):
            return value
        case TimeLiteral("date", text), _ if temporal(other):
            return TimeLiteral("dateTime", f"{text[:10]}T00:00:00{text[10:]}", value.span)
        case _:
            return value
