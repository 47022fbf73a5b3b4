"""Dates and times: a day of the proleptic Gregorian calendar, a time within it, a time zone.

Own values in place of elementpath's, because those compare years before they apply time zones
(2000-01-01T00:00:00+01:00 is not 1999-12-31T23:00:00Z there), keep no more than microseconds, and
cost a datetime object each. Here a value is three integers and a comparison is one subtraction.
"""

from __future__ import annotations

from typing import Final

from xstreamcast.model.frozen import dataclass

SECOND: Final = 1_000_000_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

_CYCLE: Final = 146_097  # days in 400 years


@dataclass(frozen=True, slots=True)
class DateTime:
    """A dateTime, or some parts of one: the type of its column decides which parts count.

    Parts that a type lacks have the reference value of F&O 3.1: a time is on 1972-12-31, a gDay in
    1972-12, a gMonth and gMonthDay in 1972, a gYear and gYearMonth at their first day; so all
    comparisons are comparisons of instants. Years count astronomically: 0 is a year.
    """

    day: int  # days since 0001-01-01, local
    nanos: int = 0  # since local midnight
    offset: int | None = None  # time zone, minutes east of UTC

    @staticmethod
    def of(
        year: int, month: int = 1, day: int = 1, nanos: int = 0, offset: int | None = None
    ) -> DateTime:
        """The value with these parts."""
        return DateTime(day_number(year, month, day), nanos, offset)

    def instant(self, timezone: int = 0) -> int:
        """Nanoseconds since 0001-01-01T00:00:00Z; `timezone` is the default time zone."""
        offset = timezone if self.offset is None else self.offset
        return self.day * DAY + self.nanos - offset * MINUTE

    def ymd(self) -> tuple[int, int, int]:
        """Year, month and day."""
        return civil(self.day)

    @property
    def year(self) -> int:
        return civil(self.day)[0]

    @property
    def month(self) -> int:
        return civil(self.day)[1]

    @property
    def day_of_month(self) -> int:
        return civil(self.day)[2]

    @property
    def hour(self) -> int:
        return self.nanos // HOUR

    @property
    def minute(self) -> int:
        return self.nanos // MINUTE % 60

    @property
    def second(self) -> int:
        """Whole seconds."""
        return self.nanos // SECOND % 60

    @property
    def fraction(self) -> int:
        """Nanoseconds within the second."""
        return self.nanos % SECOND

    def plus(self, nanos: int) -> DateTime:
        """The value plus a number of nanoseconds, in the same time zone."""
        days, rest = divmod(self.nanos + nanos, DAY)
        return DateTime(self.day + days, rest, self.offset)

    def plus_months(self, months: int) -> DateTime:
        """The value plus a number of months; a day that the month lacks becomes its last day."""
        year, month, day = civil(self.day)
        year, month = year + (month - 1 + months) // 12, (month - 1 + months) % 12 + 1
        day = min(day, days_in_month(year, month))
        return DateTime(day_number(year, month, day), self.nanos, self.offset)

    def zoned(self, offset: int | None) -> DateTime:
        """The same local parts with another time zone, or none."""
        return DateTime(self.day, self.nanos, offset)

    def moved(self, offset: int) -> DateTime:
        """The same instant as seen in another time zone."""
        shift = 0 if self.offset is None else offset - self.offset
        return self.plus(shift * MINUTE).zoned(offset)


def is_leap(year: int) -> bool:
    """Whether the year has a 29 February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year: int, month: int) -> int:
    """28 to 31."""
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def day_number(year: int, month: int, day: int) -> int:
    """Days since 0001-01-01, which is 0."""
    # Years that begin in March put the leap day last, so that one formula holds for all months.
    y = year - (month <= 2)
    era, of_era = divmod(y, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * _CYCLE + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 306


def civil(number: int) -> tuple[int, int, int]:
    """Year, month, day of a day number: civil(day_number(y, m, d))  →  y, m, d."""
    era, of_era = divmod(number + 306, _CYCLE)
    y = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * y + y // 4 - y // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return y + era * 400 + (month <= 2), month, day
