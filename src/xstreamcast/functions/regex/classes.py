"""Character classes: escapes, categories, and the content of square brackets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from xstreamcast.functions.regex import characters as ch
from xstreamcast.functions.regex.reader import PatternReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from xstreamcast.functions.regex.characters import Ranges

_SINGLE: Final = {"n": "\n", "r": "\r", "t": "\t"} | {c: c for c in "\\|.?*+(){}-[]^$"}


def _digits() -> Ranges:
    return ch.category("Nd") or ()


_MULTI: Final[dict[str, Callable[[], Ranges]]] = {
    "s": lambda: ch.SPACE,
    "i": lambda: ch.NAME_START,
    "c": lambda: ch.NAME,
    "d": _digits,
    "w": ch.word,
}


def escape(reader: PatternReader) -> str | Ranges:
    r"""What a backslash begins: one character, or a set for \d, \p{…} and the like."""
    reader.expect("\\")
    letter = reader.next("a character after \\")
    if letter in _SINGLE:
        return _SINGLE[letter]
    if letter.lower() in _MULTI:
        found = _MULTI[letter.lower()]()
        return found if letter.islower() else ch.complement(found)
    if letter in "pP":
        found = _property(reader)
        return found if letter == "p" else ch.complement(found)
    raise reader.fail(f"\\{letter} has no meaning")


def _property(reader: PatternReader) -> Ranges:
    reader.expect("{")
    name = reader.until("}")
    found = ch.block(name[2:]) if name.startswith("Is") else ch.category(name)
    if found is None:
        raise reader.fail(f"no category or block is named {name}")
    return found


def bracketed(reader: PatternReader, fold: bool) -> Ranges:
    """[…]: parts, negation, subtraction; with `fold`, single characters and ranges in any case."""
    reader.expect("[")
    negated = reader.accept("^")
    found = _parts(reader, fold)
    found = ch.complement(found) if negated else found
    if reader.accept("-"):
        found = ch.difference(found, bracketed(reader, fold))
    reader.expect("]")
    return found


def _parts(reader: PatternReader, fold: bool) -> Ranges:
    """One part or more, up to the closing bracket or the - of a subtraction."""
    literal: list[Ranges] = []
    escaped: list[Ranges] = []
    while not (reader.sees("]") or (reader.sees("-[") and (literal or escaped))):
        part = _part(reader)
        (literal if part[1] else escaped).append(part[0])
    if not literal and not escaped:
        raise reader.fail("a character class must not be empty")
    plain = ch.union(*literal)
    return ch.union(ch.with_variants(plain) if fold else plain, *escaped)


def _part(reader: PatternReader) -> tuple[Ranges, bool]:
    """A set, and whether the `i` flag widens it: it leaves categories as they are."""
    hyphen = reader.sees("-")
    start = _character(reader)
    if not isinstance(start, str):
        return start, False
    if hyphen and reader.sees("-") and not reader.sees("-["):
        raise reader.fail("a range must not begin with -")
    if not reader.sees("-") or reader.sees("-[") or reader.sees("-]"):
        return ch.single(start), True
    reader.expect("-")
    if reader.sees("-"):
        raise reader.fail("a range must not end with -")
    end = _character(reader)
    if not isinstance(end, str) or end < start:
        raise reader.fail("the range of a character class is not in order")
    return ((ord(start), ord(end) + 1),), True


def _character(reader: PatternReader) -> str | Ranges:
    if reader.sees("\\"):
        return escape(reader)
    if reader.sees("["):
        raise reader.fail("a [ inside a character class must be escaped")
    return reader.next("]")
