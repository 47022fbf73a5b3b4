"""Ranks as bytes, which sort the rows of one relation in any system.

a < b  →  rank_bytes(a) < rank_bytes(b)
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

_END, _NONE, _NUMBER, _TEXT, _BYTES, _TUPLE = 0x01, 0x10, 0x20, 0x30, 0x40, 0x50
_LESS, _ZERO, _MORE = 0x01, 0x02, 0x03  # below zero, zero, above
_INFINITE: Final = 1 << 40  # larger than any exponent
_OPPOSITE: Final = bytes(255 - n for n in range(256))


class Descending:
    """A sort key in reverse order of the key inside it."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: Descending) -> bool:
        return bool(other.key < self.key)

    def __gt__(self, other: Descending) -> bool:
        return bool(other.key > self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descending) and bool(self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)


def negated(key: tuple[int, Any]) -> tuple[int, Any]:
    """A class and a number within it, in descending order: compared without a call of Python."""
    kind, number = key
    return -kind, number.copy_negate() if isinstance(number, Decimal) else -number


class Unranked(Exception):
    """A part of the rank cannot be encoded as bytes."""


def rank_bytes(rank: Any) -> bytes:
    """The bytes of a rank; no rank's bytes are the beginning of another's."""
    match rank:
        case None:
            return bytes([_NONE])
        case bool() | int() | float() | Decimal():
            return bytes([_NUMBER]) + _number(rank)
        case str():
            return bytes([_TEXT]) + _ended(rank.encode("utf-8", "surrogatepass"))
        case bytes():
            return bytes([_BYTES]) + _ended(rank)
        case tuple() | list():
            return bytes([_TUPLE]) + b"".join(map(rank_bytes, rank)) + bytes([_END])
        case Descending():
            return rank_bytes(rank.key).translate(_OPPOSITE)
        case _:
            raise Unranked(type(rank).__name__)


def _ended(raw: bytes) -> bytes:
    return raw.replace(b"\0", b"\0\xff") + b"\0\0"


def _number(value: float | Decimal) -> bytes:
    """Numbers of all kinds sort by value: a sign, an exponent of ten, and digits."""
    if value == 0:
        return bytes([_ZERO])
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return _signed(value < 0, _INFINITE, b"")
    sign, digits, exponent = Decimal(value).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).lstrip("0")
    return _signed(bool(sign), len(text) + exponent, text.rstrip("0").encode())


def _signed(negative: bool, exponent: int, digits: bytes) -> bytes:
    raw = (exponent + (1 << 47)).to_bytes(6, "big") + digits + b"\0"
    return bytes([_LESS]) + raw.translate(_OPPOSITE) if negative else bytes([_MORE]) + raw
