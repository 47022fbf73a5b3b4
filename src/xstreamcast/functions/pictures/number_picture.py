"""Pictures of fn:format-number, parsed as in F&O 3.1, section 4.7."""

from __future__ import annotations

from xstreamcast.errors import Error, error
from xstreamcast.functions.decimal_format import DecimalFormat
from xstreamcast.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SubPicture:
    """One half of a picture, taken apart."""

    prefix: str
    suffix: str
    groups: tuple[int, ...]  # digits between each integer separator and the point
    regular: int  # the distance at which integer separators repeat, 0 if they do not
    fraction_groups: tuple[int, ...]  # digits between the point and each fraction separator
    least_integer: int
    scaling: int
    least_fraction: int
    most_fraction: int
    least_exponent: int
    shift: int  # 2 for per cent, 3 for per mille


def parse_picture(picture: str, using: DecimalFormat) -> tuple[SubPicture, SubPicture]:
    """The sub-pictures for positive and for negative numbers."""
    halves = picture.split(using.pattern_separator)
    if len(halves) > 2:
        raise _invalid(picture, f"has more than one {using.pattern_separator}")
    first = _sub_picture(picture, halves[0], using)
    if len(halves) == 2:
        return first, _sub_picture(picture, halves[1], using)
    return first, first


def _invalid(picture: str, why: str) -> Error:
    return error("FODF1310", f'the picture "{picture}" {why}')


def _sub_picture(picture: str, half: str, using: DecimalFormat) -> SubPicture:
    start, mantissa, exponent, end = _cut(half, using)
    integer, _, fraction = mantissa.partition(using.decimal_separator)
    _check(picture, half, (start, mantissa, exponent, end), using)
    digits, mark = using.digits(), using.grouping_separator
    least = sum(sign in digits for sign in integer)
    least_fraction = sum(sign in digits for sign in fraction)
    most_fraction = sum(sign in digits or sign == using.digit for sign in fraction)
    scaling, powers = least, len(exponent or "")
    # A picture must be able to show something: the adjustments of section 4.7.4.
    if least == 0 and most_fraction == 0:
        if exponent is not None:
            least_fraction = most_fraction = 1
        else:
            least = 1
    if exponent is not None and least == 0 and using.digit in integer:
        least = 1
    if least == 0 and least_fraction == 0:
        least_fraction = 1
    groups = _places(integer[::-1], mark)
    rest = start + end
    shift = 2 if using.percent in rest else 3 if using.per_mille in rest else 0
    return SubPicture(
        start, end, groups, _regular(groups, len(integer.replace(mark, ""))),
        _places(fraction, mark), least, scaling, least_fraction,
        max(most_fraction, least_fraction), powers, shift,
    )  # fmt: skip


def _cut(half: str, using: DecimalFormat) -> tuple[str, str, str | None, str]:
    """Prefix, mantissa, exponent (None without one) and suffix."""
    digits = using.digits()
    active = {*digits, using.digit, using.decimal_separator, using.grouping_separator}
    places = [i for i, sign in enumerate(half) if sign in active]
    if not places:
        return half, "", None, ""
    first, mark = places[0], using.exponent_separator
    split = _exponent_place(half, using)
    if split is None:
        last = places[-1] + 1
        return half[:first], half[first:last], None, half[last:]
    end = split + 1
    while end < len(half) and half[end] in digits:
        end += 1
    last = max([end, *(i + 1 for i in places)])
    return half[:first], half[first:split], half[split + len(mark) : last], half[last:]


def _exponent_place(half: str, using: DecimalFormat) -> int | None:
    """The position of the exponent separator, if it is between two active characters."""
    active = {*using.digits(), using.digit, using.decimal_separator, using.grouping_separator}
    for i in range(1, len(half) - 1):
        if half[i] == using.exponent_separator and half[i - 1] in active and half[i + 1] in active:
            return i
    return None


def _check(
    picture: str, half: str, parts: tuple[str, str, str | None, str], using: DecimalFormat
) -> None:
    """The rules of section 4.7.3, in its order."""
    start, mantissa, exponent, end = parts
    integer, _, fraction = mantissa.partition(using.decimal_separator)
    digits, digit, mark = using.digits(), using.digit, using.grouping_separator
    signs = half.count(using.percent) + half.count(using.per_mille)
    if half.count(using.decimal_separator) > 1:
        raise _invalid(picture, f"has more than one {using.decimal_separator}")
    if signs > 1 or (signs and exponent is not None):
        raise _invalid(picture, "has more than one percent, per-mille or exponent sign")
    if not any(sign in digits or sign == digit for sign in mantissa):
        raise _invalid(picture, "has no place for a digit")
    active = {*digits, digit, mark, using.decimal_separator}
    if any(s not in active for s in mantissa) or any(s in active for s in start + end):
        raise _invalid(picture, "has other characters between its digits")
    if mark * 2 in mantissa or integer.endswith(mark) or fraction.startswith(mark):
        raise _invalid(picture, f"has {mark} next to another separator")
    plain = integer.replace(mark, "").lstrip(digit)
    tail = fraction.replace(mark, "").rstrip(digit)
    if digit in plain or digit in tail:
        raise _invalid(picture, f"has {digit} on the wrong side of a digit")
    if exponent is not None and (not exponent or any(sign not in digits for sign in exponent)):
        raise _invalid(picture, "has an exponent that is not all digits")


def _places(signs: str, mark: str) -> tuple[int, ...]:
    """How many digits precede each separator."""
    places, seen = [], 0
    for sign in signs:
        if sign == mark:
            places.append(seen)
        else:
            seen += 1
    return tuple(places)


def _regular(groups: tuple[int, ...], digits: int) -> int:
    """The distance of separators if they repeat up to the left end, else 0."""
    if not groups or groups[0] == 0:
        return 0
    step = groups[0]
    repeats = groups == tuple(range(step, step * (len(groups) + 1), step))
    return step if repeats and digits - groups[-1] <= step else 0
