"""The components of dates and times as text: numbers, names, fractions, time zones."""

from __future__ import annotations

from typing import Final

from xstreamcast.errors import Error
from xstreamcast.functions.pictures.calendar_picture import Marker, invalid
from xstreamcast.functions.pictures.numerals import (
    DigitPattern,
    digit_pattern,
    is_digit,
    numeral,
    ordinal_suffix,
    titled,
)
from xstreamcast.model.date_time import DateTime, civil, day_number

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NAMED: Final = frozenset("MFPCE")
_MILITARY: Final = "YXWVUTSRQPONZABCDEFGHIKLM"


def component_text(marker: Marker, value: DateTime) -> str:
    """One marker of a picture filled in."""
    if marker.component in "Zz":
        return _zone(marker, value.offset)
    if marker.component == "f":
        return _fraction(marker, value.fraction)
    number = _number(marker.component, value)
    if marker.how in ("N", "n", "Nn") and marker.component in _NAMED:
        return _name(marker, number)
    if marker.component in "PCE":
        return _name(marker, number)
    return _count(marker, number)


def _number(component: str, value: DateTime) -> int:
    year, month, day = value.ymd()
    match component:
        case "Y":
            return abs(year)
        case "M":
            return month
        case "D":
            return day
        case "d":
            return value.day - day_number(year, 1, 1) + 1
        case "F":
            return value.day % 7 + 1  # 0001-01-01 was a Monday
        case "W":
            return iso_week(value.day)
        case "w":
            return week_in_month(value.day)
        case "H":
            return value.hour
        case "h":
            return (value.hour - 1) % 12 + 1
        case "P":
            return value.hour // 12
        case "m":
            return value.minute
        case "s":
            return value.second
        case _:
            return int(year > 0)


def iso_week(day: int) -> int:
    """The week of the year, 1 being the one with the first Thursday."""
    thursday = day - day % 7 + 3
    return (thursday - day_number(civil(thursday)[0], 1, 1)) // 7 + 1


def week_in_month(day: int) -> int:
    """The week of the month, 1 being the one with the month's first Thursday."""
    thursday = day - day % 7 + 3
    year, month, _ = civil(thursday)
    return (thursday - day_number(year, month, 1)) // 7 + 1


# -- numbers --------------------------------------------------------------------------------------


def _count(marker: Marker, number: int) -> str:
    ordinal = marker.modifier == "o"
    pattern = _pattern(marker)
    number = _shortened(marker, number, pattern)
    other = None if pattern else numeral(number, marker.how, ordinal)
    if other is not None:
        return other.ljust(marker.least or 0)
    pattern = pattern or DigitPattern(ord("0"), 1, (), 1)
    least = max(pattern.least, marker.least or 0) if not marker.plain else marker.least
    least = least or pattern.least
    made = DigitPattern(pattern.zero, least, pattern.groups, pattern.digits)
    return made.write(str(number)) + (ordinal_suffix(number) if ordinal else "")


def _pattern(marker: Marker) -> DigitPattern | None:
    """The digit pattern that the presentation is, if it is one."""
    if not any(map(is_digit, marker.how)):
        return None
    try:
        return digit_pattern(marker.how, "FOFD1340")
    except Error as wrong:
        raise invalid(marker.how, wrong.message) from None


def _shortened(marker: Marker, number: int, pattern: DigitPattern | None) -> int:
    """The last digits of a year where the picture has no room for all of them."""
    if marker.component != "Y":
        return number
    if marker.most is not None:
        return int(number % 10**marker.most)
    if marker.least is None and pattern is not None and pattern.digits > 1:
        return int(number % 10**pattern.digits)
    return number


def _fraction(marker: Marker, nanos: int) -> str:
    """Fractional seconds: cut, never rounded."""
    how = marker.how if any(map(is_digit, marker.how)) else "1"
    # Separators and optional digits count from the left here, so the pattern is read mirrored.
    pattern = digit_pattern(how[::-1], "FOFD1340")
    least, most = pattern.least, pattern.digits
    if marker.least is not None or marker.most is not None or most == 1:
        least = max(marker.least or 1, least if most > 1 else 1)
        most = marker.most or 9
        most = max(most, least)
    digits = f"{nanos:09d}".rstrip("0").ljust(least, "0")[:most]
    digits = digits.rstrip("0").ljust(least, "0") if len(digits) > least else digits
    mirrored = DigitPattern(pattern.zero, 0, pattern.groups, pattern.digits)
    return mirrored.write(digits[::-1])[::-1]


# -- names ----------------------------------------------------------------------------------------


def _name(marker: Marker, number: int) -> str:
    match marker.component:
        case "M":
            name = MONTHS[number - 1]
        case "F":
            name = DAYS[number - 1]
        case "P":
            name = ("Am", "Pm")[number]
        case "E":
            name = ("BC", "AD")[number]
        case _:
            name = "AD"
    cased = {"N": name.upper(), "Nn": titled(name)}.get(marker.how, name.lower())
    return _fitted(marker, cased)


def _fitted(marker: Marker, name: str) -> str:
    """A name cut to its width: three letters are the usual short form, if they fit."""
    if marker.most is not None and len(name) > marker.most:
        name = name[: max(3, marker.least or 0)] if marker.most >= 3 else name[: marker.most]
    return name.ljust(marker.least or 0)


# -- time zones -----------------------------------------------------------------------------------


def _zone(marker: Marker, offset: int | None) -> str:
    if marker.how == "Z" and marker.component == "Z":
        military = _military(offset)
        if military is not None:
            return military
    if offset is None:
        return ""
    if marker.modifier == "t" and offset == 0:
        return "Z"
    prefix = "GMT" if marker.component == "z" else ""
    if prefix and offset == 0 and not any(map(is_digit, marker.how)):
        return "GMT"
    how = marker.how if any(map(is_digit, marker.how)) else "01:01"
    if marker.plain and marker.most is not None and marker.most < 6:
        how = "1" if (marker.least or 1) < 6 else how
    return prefix + _offset(how, offset)


def _military(offset: int | None) -> str | None:
    if offset is None:
        return "J"
    hours, minutes = divmod(offset, 60)
    return _MILITARY[hours + 12] if minutes == 0 and -12 <= hours <= 12 else None


def _offset(how: str, offset: int) -> str:
    """Sign, hours and minutes: one or two digits mean minutes only where there are any."""
    digits = [sign for sign in how if is_digit(sign)]
    zero = digit_pattern(digits[0], "FOFD1340").zero
    separator = next((sign for sign in how if not is_digit(sign)), "")
    hours, minutes = divmod(abs(offset), 60)
    width = len(how.partition(separator)[0]) if separator else (len(digits) - 1) % 2 + 1
    text = str(hours).rjust(width, "0")
    if separator or len(digits) > 2:
        text += f"{separator}{minutes:02d}"
    elif minutes:
        text += f":{minutes:02d}"
    local = "".join(chr(zero + int(s)) if s.isascii() and s.isdigit() else s for s in text)
    return ("-" if offset < 0 else "+") + local
