"""Durations: months and seconds, which no rule turns into each other."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from xstreamcast.model.exact import EXACT
from xstreamcast.model.frozen import dataclass

ZERO: Final = Decimal(0)
_MINUTE: Final = Decimal(60)


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration of any of the three types; both parts have the same sign, or are 0."""

    months: int = 0
    seconds: Decimal = ZERO

    @property
    def negative(self) -> bool:
        return self.months < 0 or self.seconds < 0

    def __neg__(self) -> Duration:
        return Duration(-self.months, self.seconds.copy_negate())

    def __str__(self) -> str:
        """The canonical form; a duration of nothing is written in seconds."""
        sign, months = "-" if self.negative else "", abs(self.months)
        seconds = self.seconds.copy_abs()
        whole = int(seconds)
        date = _part(months // 12, "Y") + _part(months % 12, "M") + _part(whole // 86400, "D")
        clock = _part(whole // 3600 % 24, "H") + _part(whole // 60 % 60, "M")
        clock += _seconds(EXACT.remainder(seconds, _MINUTE))
        if not date and not clock:
            return "PT0S"
        return f"{sign}P{date}{'T' + clock if clock else ''}"


def _part(count: int, letter: str) -> str:
    return f"{count}{letter}" if count else ""


def _seconds(value: Decimal) -> str:
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text}S" if value else ""
