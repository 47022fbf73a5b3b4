"""Durations: months and nanoseconds, which no rule turns into each other."""

from __future__ import annotations

from dataclasses import dataclass

from xstreamcast.model.date_time import DAY, HOUR, MINUTE, SECOND


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration of any of the three types; both parts have the same sign, or are 0."""

    months: int = 0
    nanos: int = 0

    @property
    def negative(self) -> bool:
        return self.months < 0 or self.nanos < 0

    def __neg__(self) -> Duration:
        return Duration(-self.months, -self.nanos)

    def __str__(self) -> str:
        """The canonical form; a duration of nothing is written in seconds."""
        sign, months, nanos = "-" if self.negative else "", abs(self.months), abs(self.nanos)
        if not months and not nanos:
            return "PT0S"
        date = _part(months // 12, "Y") + _part(months % 12, "M") + _part(nanos // DAY, "D")
        rest = nanos % DAY
        clock = _part(rest // HOUR, "H") + _part(rest // MINUTE % 60, "M")
        seconds = rest % MINUTE
        clock += seconds_text(seconds) + "S" if seconds else ""
        return f"{sign}P{date}{'T' + clock if clock else ''}"


def _part(count: int, letter: str) -> str:
    return f"{count}{letter}" if count else ""


def seconds_text(nanos: int) -> str:
    """Nanoseconds as decimal seconds without trailing zeros."""
    whole, fraction = divmod(nanos, SECOND)
    return str(whole) + (f".{fraction:09d}".rstrip("0") if fraction else "")
