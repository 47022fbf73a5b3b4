"""Durations that callers write: 30s, 5m, 250ms, or PT5M; in Python a timedelta, too."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

from xstreamcast.errors import Error, error
from xstreamcast.model.atomic import DAY_TIME_DURATION

_UNITS: Final = {
    "us": 1, "ms": 1000, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86_400 * 10**6,
}  # fmt: skip


def micros(word: str | timedelta | None) -> int | None:
    """A duration in microseconds."""
    if word is None:
        return None
    if isinstance(word, timedelta):
        return word // timedelta(microseconds=1)
    plain = re.fullmatch(r"(\d+(?:\.\d+)?)(us|ms|s|m|h|d)", word)
    if plain is not None:
        return round(float(plain[1]) * _UNITS[plain[2]])
    from xstreamcast.functions.cast.calendar import parse_duration

    try:
        iso = parse_duration(DAY_TIME_DURATION, word)
    except Error:
        iso = None
    if iso is None or iso.negative:
        raise error("XSCU0001", f"a duration must be like 30s, 5m, 2h or PT5M; got {word}")
    return round(iso.seconds * 10**6)
