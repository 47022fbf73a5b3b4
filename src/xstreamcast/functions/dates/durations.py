"""The components of durations."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import maybe, one_or
from xstreamcast.model.atomic import DECIMAL, INTEGER
from xstreamcast.model.column import Column
from xstreamcast.model.duration import Duration
from xstreamcast.model.exact import EXACT


def _component(name: str, tag: int, result: str, part: Callable[[Duration], Any]) -> None:
    def body(call: CallContext, arg: Column) -> Column:
        return maybe(tag, [None if value is None else part(value) for value in one_or(arg)])

    signature = f"fn:{name}-from-duration($arg as xs:duration?) as xs:{result}?"
    function(signature, doc=f"The {name} of a duration in its canonical form.")(body)


def _signed(count: int, value: Duration) -> int:
    return -count if value.negative else count


def _whole(value: Duration) -> int:
    return abs(int(value.seconds))


def _seconds(value: Duration) -> Decimal:
    return EXACT.remainder(value.seconds, Decimal(60))


_component("years", INTEGER, "integer", lambda d: _signed(abs(d.months) // 12, d))
_component("months", INTEGER, "integer", lambda d: _signed(abs(d.months) % 12, d))
_component("days", INTEGER, "integer", lambda d: _signed(_whole(d) // 86400, d))
_component("hours", INTEGER, "integer", lambda d: _signed(_whole(d) // 3600 % 24, d))
_component("minutes", INTEGER, "integer", lambda d: _signed(_whole(d) // 60 % 60, d))
_component("seconds", DECIMAL, "decimal", _seconds)
