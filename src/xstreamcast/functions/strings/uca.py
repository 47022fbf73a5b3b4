"""The Unicode Collation Algorithm: by ICU where it is installed, else an order of our own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any, Final

UCA: Final = "http://www.w3.org/2013/collation/UCA"

Made = tuple[Callable[[str], str], Callable[[str], str] | None]

_STRENGTHS: Final = {
    "primary": 1, "secondary": 2, "tertiary": 3, "quaternary": 4, "identical": 5,
    "1": 1, "2": 2, "3": 3, "4": 4, "5": 5,
}  # fmt: skip
_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "fallback": ("yes", "no"),
    "strength": tuple(_STRENGTHS),
    "maxVariable": ("space", "punct", "symbol", "currency"),
    "alternate": ("non-ignorable", "shifted", "blanked"),
    "backwards": ("yes", "no"),
    "normalization": ("yes", "no"),
    "caseLevel": ("yes", "no"),
    "caseFirst": ("upper", "lower"),
    "numeric": ("yes", "no"),
}
_FREE: Final = ("lang", "version", "reorder")
_DIGITS: Final = re.compile(r"\d+")


def uca_collation(uri: str) -> Made | None:
    """Keys and units of a UCA collation; None if fallback=no requires more than is available."""
    options = _options(uri.partition("?")[2])
    if options is None:
        return None
    strict = options.get("fallback") == "no"
    if any(name not in _CHOICES and name not in _FREE for name in options):
        return None if strict else _own({})
    bad = any(name in _CHOICES and value not in _CHOICES[name] for name, value in options.items())
    if bad:
        return None if strict else _own({})
    by_icu = _icu(options)
    if by_icu is not None:
        return by_icu
    return None if strict else _own(options)


def _options(query: str) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for part in re.split("[;&]", query):
        name, equals, value = part.partition("=")
        if part and not equals:
            return None
        if part:
            found[name] = value
    return found


def _own(options: dict[str, str]) -> Made:
    """Letters first, then accents, then case: as Python's Unicode tables define them."""
    strength = _STRENGTHS[options.get("strength", "tertiary")]
    upper_first = options.get("caseFirst") == "upper"
    blank = options.get("alternate") in ("shifted", "blanked")
    numeric = options.get("numeric") == "yes"
    case_level = options.get("caseLevel") == "yes"
    backwards = options.get("backwards") == "yes"

    def key(value: str) -> str:
        chars = unicodedata.normalize("NFKD", value)
        if blank:
            chars = "".join(c for c in chars if unicodedata.category(c)[0] not in "PZ")
        letters = "".join(c for c in chars if not unicodedata.combining(c))
        primary = _ordered(letters.casefold(), numeric)
        accents = "".join(
            chr(1 + unicodedata.combining(c)) + c if unicodedata.combining(c) else "\x01"
            for c in chars
        )
        case = "".join(
            chr((3 if c.islower() else 2) if upper_first else (2 if c.islower() else 3))
            if c.islower() or c.isupper() else "\x01"
            for c in letters
        )  # fmt: skip
        parts = [primary]
        parts += [accents[::-1] if backwards else accents] if strength >= 2 else []
        parts += [case] if strength >= 3 or case_level else []
        parts += [value] if strength >= 5 else []
        return "\0".join(parts)

    return key, lambda char: "" if blank and _ignored(char) else _unit(char, strength)


def _ignored(char: str) -> bool:
    return unicodedata.category(char)[0] in "PZ"


def _unit(char: str, strength: int) -> str:
    """One character as a search sees it."""
    if strength >= 3:
        return char
    split = unicodedata.normalize("NFKD", char)
    if strength == 1:
        split = "".join(c for c in split if not unicodedata.combining(c))
    return split.casefold()


def _ordered(letters: str, numeric: bool) -> str:
    """White space and punctuation before digits, digits before letters."""
    text = _DIGITS.sub(lambda m: _number(m[0]), letters) if numeric else letters
    return "".join(chr(_class(c)) + c for c in text)


def _number(digits: str) -> str:
    """Digits that compare by their number: longer numbers are greater."""
    plain = str(int(digits))
    return chr(0x10000 + len(plain)) + plain


def _class(char: str) -> int:
    kind = unicodedata.category(char)[0]
    if ord(char) >= 0x10000 and kind in "CL":
        return 5
    return {"Z": 2, "C": 2, "P": 3, "S": 4, "N": 5, "M": 6, "L": 7}.get(kind, 7)


def _icu(options: dict[str, str]) -> Made | None:
    """The collation of ICU, None where ICU is not installed."""
    try:
        import icu  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    collator = icu.Collator.createInstance(icu.Locale(options.get("lang", "")))
    _configure(icu, collator, options)

    def key(value: str) -> str:
        return str(collator.getSortKey(value).decode("latin-1"))

    return key, key


def _configure(icu: Any, collator: Any, options: dict[str, str]) -> None:
    attribute, value = icu.UCollAttribute, icu.UCollAttributeValue
    on = {"yes": value.ON, "no": value.OFF}
    strengths = (value.PRIMARY, value.SECONDARY, value.TERTIARY, value.QUATERNARY, value.IDENTICAL)
    settings: dict[str, tuple[Any, Callable[[str], Any]]] = {
        "strength": (attribute.STRENGTH, lambda v: strengths[_STRENGTHS[v] - 1]),
        "alternate": (
            attribute.ALTERNATE_HANDLING,
            lambda v: value.NON_IGNORABLE if v == "non-ignorable" else value.SHIFTED,
        ),
        "backwards": (attribute.FRENCH_COLLATION, on.__getitem__),
        "normalization": (attribute.NORMALIZATION_MODE, on.__getitem__),
        "caseLevel": (attribute.CASE_LEVEL, on.__getitem__),
        "caseFirst": (
            attribute.CASE_FIRST,
            lambda v: value.UPPER_FIRST if v == "upper" else value.LOWER_FIRST,
        ),
        "numeric": (attribute.NUMERIC_COLLATION, on.__getitem__),
    }
    for name, (which, read) in settings.items():
        if name in options:
            collator.setAttribute(which, read(options[name]))
