"""From text to numbers, booleans and binaries: the lexical forms of XML Schema 1.1."""

from __future__ import annotations

import base64
import math
import re
from decimal import Decimal
from typing import Final

import numpy as np

from xstreamcast.functions.cast.facets import collapse, invalid
from xstreamcast.model.atomic import (
    BASE64_BINARY,
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    FLOAT,
    HEX_BINARY,
    INTEGER,
)
from xstreamcast.model.query_limits import exceeded, query_limits

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_DOUBLE: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL: Final = {"INF": math.inf, "+INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
_TRUTH: Final = {"true": True, "1": True, "false": False, "0": False}
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})*")
_BASE64: Final = re.compile(
    r"(?:[A-Za-z0-9+/]{4})*"
    r"(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)?"
)
_MANY_DIGITS: Final = 4000  # Python refuses to convert longer texts to int in one go


def parse_integer(text: str) -> int:
    """xs:integer"""
    text = collapse(text)
    if not _INTEGER.fullmatch(text):
        raise invalid(INTEGER, text)
    if len(text) < _MANY_DIGITS:
        return int(text)
    return int(Decimal(_bounded(text, "FOCA0003")))


def _bounded(text: str, code: str) -> str:
    most = query_limits().max_digits
    if len(text) > most:
        raise exceeded("max_digits", f"a number has more than {most:,} digits", code)
    return text


def parse_decimal(text: str) -> Decimal:
    """xs:decimal"""
    text = collapse(text)
    if not _DECIMAL.fullmatch(text):
        raise invalid(DECIMAL, text)
    return Decimal(text if len(text) < _MANY_DIGITS else _bounded(text, "FOCA0006"))


def parse_double(text: str) -> float:
    """xs:double"""
    text = collapse(text)
    if not _DOUBLE.fullmatch(text):
        if text in _SPECIAL:
            return _SPECIAL[text]
        raise invalid(DOUBLE, text)
    return float(text)


def parse_float(text: str) -> float:
    """xs:float, rounded once from the text: by way of a double, halfway cases could round twice."""
    text = collapse(text)
    if not _DOUBLE.fullmatch(text):
        if text in _SPECIAL:
            return _SPECIAL[text]
        raise invalid(FLOAT, text)
    near = float(text)
    single = to_single(near)
    if single == near or math.isinf(single):
        return single
    other = to_single(2 * near - single)  # the neighbour, if `near` is halfway to it
    if (single + other) / 2 != near or Decimal(text) == Decimal(near):
        return single
    away = max if Decimal(text) > Decimal(near) else min
    return away(single, other)


def to_single(value: float) -> float:
    """The nearest xs:float, held as a Python float."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(value))


def parse_boolean(text: str) -> bool:
    """xs:boolean"""
    truth = _TRUTH.get(collapse(text))
    if truth is None:
        raise invalid(BOOLEAN, text)
    return truth


def parse_hex(text: str) -> bytes:
    """xs:hexBinary"""
    text = collapse(text)
    if not _HEX.fullmatch(text):
        raise invalid(HEX_BINARY, text)
    return bytes.fromhex(text)


def parse_base64(text: str) -> bytes:
    """xs:base64Binary"""
    text = collapse(text).replace(" ", "")
    if not _BASE64.fullmatch(text):
        raise invalid(BASE64_BINARY, text)
    return base64.b64decode(text)
