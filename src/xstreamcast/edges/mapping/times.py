"""Times as feeds write them, to instants: xs:dateTime, RFC 822, epoch seconds, or by a format."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.kernels.instants import NOT_ONE, UNSURE, ZONED, instants
from xstreamcast.kernels.whole_numbers import whole_numbers
from xstreamcast.model.instant import SECOND, parse_instant

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.asking import TextColumn
    from xstreamcast.edges.mapping.form import TimeRule
    from xstreamcast.tape.layout import I64, Bools

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SHORT: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?"
)
_DAY: Final = re.compile(r"(?:[A-Za-z]{3,9}, *)?\d{1,2} [A-Za-z]{3} \d{4}")
_COMPACT: Final = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z|[+-]\d\d:?\d\d)?)?")
# 12 and 14 digits: as milliseconds they would be of the seventies, or of the year 2600
_DIGITS: Final = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?")
_NAMED_ZONE: Final = re.compile(r"(?<=:\d\d )(WET|WEST|BST|CET|CEST|EET|EEST|MSK|JST)$")
_ZONES: Final = {
    "WET": "+0000", "WEST": "+0100", "BST": "+0100", "CET": "+0100", "CEST": "+0200",
    "EET": "+0200", "EEST": "+0300", "MSK": "+0300", "JST": "+0900",
}  # that feeds use and RFC 822 does not have  # fmt: skip
_ZONE: Final = re.compile(r"Z|[+-]\d\d:\d\d")
_EPOCHS: Final = {"epoch": SECOND, "epoch-ms": 1000}  # microseconds in one of what is written
_FAR: Final = 10**18  # microseconds that fit in 64 bits
_EPOCH_SECONDS: Final = re.compile(r"(\d{9,11})(\.\d{1,6})?")
_EPOCH_MILLIS: Final = re.compile(r"\d{12,14}")


def instants_of(texts: TextColumn, rule: TimeRule) -> tuple[I64, Bools, Bools]:
    """(instant, whether it has a time zone, whether it is one) of each text."""
    n = len(texts.counts)
    values, said = np.zeros(n, np.int64), np.full(n, NOT_ONE, np.int8)
    if rule.format is None and rule.zone is None:
        lengths = np.where(texts.counts > 0, texts.lengths, 0).astype(np.int32)
        heap = texts.heap if len(texts.heap) else np.zeros(1, np.uint8)
        instants(heap, texts.offsets[:-1], lengths, values, said)
    if rule.format in _EPOCHS:
        unit = _EPOCHS[rule.format]
        values, whole = _whole_texts(texts, _FAR // unit)
        values *= unit
        said[whole] = ZONED
    good = said >= 0
    zoned = good & (said & ZONED != 0)
    known: dict[str, tuple[int, bool] | None] = {}
    for row in np.flatnonzero((said == NOT_ONE) | (said == UNSURE)).tolist():
        text = texts.text(row)
        if text not in known:
            known[text] = instant_of(text, rule)
        found = known[text]
        if found is not None:
            values[row], zoned[row], good[row] = found[0], found[1], True
    return values, zoned, good


def _whole_texts(texts: TextColumn, below: int) -> tuple[I64, Bools]:
    """(the number, whether it is one) of each text that is digits alone."""
    n = len(texts.counts)
    values, good = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    heap = texts.heap if len(texts.heap) else np.zeros(1, np.uint8)
    whole_numbers(heap, texts.offsets[:-1], texts.lengths, values, good)
    good &= (texts.counts > 0) & (values < below)
    values[~good] = 0
    return values, good


def mistake_in(rule: TimeRule) -> str | None:
    """What is wrong with how a time is read, if anything."""
    if rule.format is not None and not _is_format(rule.format):
        return f"format must be epoch, epoch-ms or one of strptime (%d.%m.%Y); got {rule.format!r}"
    if rule.zone is not None and not _ZONE.fullmatch(rule.zone):
        return f"zone must be an offset such as +01:00; got {rule.zone!r}"
    if rule.default is not None and default_of(rule) is None:
        return f"default must be a time; got {rule.default!r}"
    return None


def _is_format(form: str) -> bool:
    """Whether times are written so: one that is written can be read."""
    if form in _EPOCHS or "%" not in form:
        return form in _EPOCHS
    try:
        datetime.strptime(_EPOCH.strftime(form), form)
    except ValueError:
        return False
    return True


def default_of(rule: TimeRule) -> tuple[int, bool] | None:
    """The time where there is none, written as the others are or in a form that feeds use."""
    text = rule.default or ""
    return instant_of(text, rule) or instant_of(text, replace(rule, format=None))


def instant_of(text: str, rule: TimeRule) -> tuple[int, bool] | None:
    """The instant that a text names, and whether it has a time zone; None if it is none."""
    if not text:
        return None
    found = _by_format(text, rule.format) if rule.format is not None else _any_form(text)
    if found is None or found[1] or rule.zone is None:
        return found
    offset = parse_instant(f"1970-01-01T00:00:00{rule.zone}")
    return None if offset is None else (found[0] + offset[0], True)


def _any_form(text: str) -> tuple[int, bool] | None:
    plain = parse_instant(text)
    if plain is not None:
        return plain
    if (seconds := _EPOCH_SECONDS.fullmatch(text)) is not None:
        micros = int((seconds[2] or ".")[1:].ljust(6, "0"))
        return int(seconds[1]) * SECOND + micros, True
    if (digits := _DIGITS.fullmatch(text)) is not None:
        year, month, day, hour, minute, second = digits.groups()
        plain = parse_instant(f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}")
        if plain is not None:
            return plain
    if _EPOCH_MILLIS.fullmatch(text):
        return int(text) * 1000, True
    if (short := _SHORT.fullmatch(text)) is not None:
        day, clock, second, zone = short.groups()
        return parse_instant(f"{day}T{clock}{second or ':00'}{_colon(zone)}")
    if (compact := _COMPACT.fullmatch(text)) is not None:
        year, month, day, hour, minute, second, zone = compact.groups()
        at = f"{hour or '00'}:{minute or '00'}:{second or '00'}"
        return parse_instant(f"{year}-{month}-{day}T{at}{_colon(zone)}")
    return _rfc822(text)


def _colon(zone: str | None) -> str:
    """A time zone as xs:dateTime has it."""
    if zone is None or zone == "Z" or ":" in zone:
        return zone or ""
    return f"{zone[:3]}:{zone[3:]}"


def _rfc822(text: str) -> tuple[int, bool] | None:
    """A date as mail and RSS have it: Tue, 10 Jun 2003 04:00:00 GMT."""
    from email.utils import parsedate_to_datetime  # here: it takes long to import

    if _DAY.fullmatch(text):
        text += " 00:00:00"
    text = _NAMED_ZONE.sub(lambda found: _ZONES[found[1]], text)
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return _micros(found)


def _by_format(text: str, form: str) -> tuple[int, bool] | None:
    """By the word epoch, or a format as strptime has it."""
    if form in _EPOCHS:
        try:
            return round(float(text) * _EPOCHS[form]), True
        except (ValueError, OverflowError):
            return None
    try:
        return _micros(datetime.strptime(text, form))
    except ValueError:
        return None


def _micros(found: datetime) -> tuple[int, bool]:
    zoned = found.tzinfo is not None
    at = found if zoned else found.replace(tzinfo=timezone(timedelta(0)))
    return (at - _EPOCH) // timedelta(microseconds=1), zoned
