"""What the written functions call: small, total or unfit, without semantics of their own."""

from __future__ import annotations

from typing import Any, Final, NoReturn

LONG: Final = 1 << 16  # items of a sequence, and characters of a string, that stay here
WIDE: Final = 1 << 256  # integers below it; beyond it the rules for columns count digits


class Unfit(Exception):
    """A value that the text was not written for: the call is evaluated by the other rules."""


def unfit() -> NoReturn:
    """Give up, as an expression."""
    raise Unfit


def idiv(a: int, b: int) -> int:
    """a idiv b, towards zero."""
    if b == 0:
        raise Unfit
    return a // b if (a < 0) == (b < 0) else -(-a // b)


def mod(a: int, b: int) -> int:
    """a mod b, with the sign of a."""
    if b == 0:
        raise Unfit
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


def div(a: float, b: float) -> float:
    """a div b of doubles, where Python has a result."""
    if b == 0:
        raise Unfit
    return a / b


def only(items: tuple[Any, ...]) -> Any:
    """The single item."""
    if len(items) != 1:
        raise Unfit
    return items[0]


def at_most(items: tuple[Any, ...]) -> Any:
    """The single item, or None."""
    if len(items) > 1:
        raise Unfit
    return items[0] if items else None


def some(items: tuple[Any, ...]) -> tuple[Any, ...]:
    """A sequence that is not empty."""
    if not items:
        raise Unfit
    return items


def truth(items: tuple[Any, ...]) -> bool:
    """The effective boolean value of atomic items."""
    if len(items) > 1:
        raise Unfit
    return bool(items) and bool(items[0]) and items[0] == items[0]


def span(low: int, high: int) -> range:
    """low to high, unless it is long."""
    if high - low >= LONG:
        raise Unfit
    return range(low, high + 1)


def index_of(items: tuple[Any, ...], wanted: Any) -> tuple[int, ...]:
    """The places of a value."""
    if wanted not in items:
        return ()
    return tuple([place for place, item in enumerate(items, 1) if item == wanted])


def part(items: Any, start: int, length: int | None = None) -> Any:
    """A part of a string or a sequence by positions from 1."""
    if length is None:
        return items[max(start - 1, 0) :]
    return items[max(start - 1, 0) : max(start - 1 + length, 0)]


def characters(codes: tuple[int, ...]) -> str:
    """A string of code points; those that may be none of XML are for the library."""
    for code in codes:
        if not (0x20 <= code < 0xD800 or code in (9, 10, 13)):
            raise Unfit
    return "".join(map(chr, codes))


def whole(text: str) -> int:
    """A string of a few digits as an integer."""
    digits = text[1:] if text[:1] == "-" else text
    if not (digits.isascii() and digits.isdigit() and len(digits) < 19):
        raise Unfit
    return int(text)


PRIMITIVES: Final[dict[str, Any]] = {
    "Unfit": Unfit,
    "WIDE": WIDE,
    **{
        one.__name__: one
        for one in (
            unfit, idiv, mod, div, only, at_most, some, truth, span, index_of, part, characters,
            whole,
        )
    },
}  # fmt: skip
