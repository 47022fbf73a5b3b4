"""Numbers as people write them: digits in groups, letters, Roman numerals, English words."""

from __future__ import annotations

import unicodedata
from typing import Final

from xstreamcast.errors import error
from xstreamcast.model.frozen import dataclass

_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_UNITS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS: Final = (
    "", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"
)  # fmt: skip
_SCALES: Final = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_ORDINALS: Final = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
# The first and last sign of numbering sequences that count from 1 and then end.
_SEQUENCES: Final = {"①": 20, "⑴": 20, "⒈": 20, "❶": 10, "㊀": 10, "㈠": 10}
_GREEK: Final = {"α": "αβγδεζηθικλμνξοπρστυφχψω", "Α": "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"}


@dataclass(frozen=True, slots=True)
class DigitPattern:
    """A decimal-digit-pattern: the digit family, how many must be written, where groups end."""

    zero: int  # codepoint of the family's zero
    least: int
    groups: tuple[tuple[int, str], ...]  # (digits to the right, separator), from the right
    digits: int  # signs for digits in all, mandatory or not

    def write(self, text: str) -> str:
        """ASCII digits in this pattern."""
        text = text.rjust(self.least, "0")
        out = "".join(chr(self.zero + int(digit)) for digit in text)
        for place, sign in sorted(self._places(len(text))):
            out = out[: len(text) - place] + sign + out[len(text) - place :]
        return out

    def _places(self, length: int) -> list[tuple[int, str]]:
        if not self.groups:
            return []
        step, sign = self.groups[0]
        regular = [(step * (i + 1), sign) for i in range(len(self.groups))]
        # Regular only if no group to the left of the last sign is wider than the others.
        if list(self.groups) == regular and self.digits - self.groups[-1][0] <= step:
            return [(place, sign) for place in range(step, length, step)]
        return [(place, sign) for place, sign in self.groups if place < length]


def is_digit(sign: str) -> bool:
    """Whether the character is a decimal digit of any script."""
    return unicodedata.category(sign) == "Nd"


def digit_pattern(picture: str, code: str = "FODF1310") -> DigitPattern:
    """The pattern a picture such as "#,##0" describes; `code` is the error if it describes none."""
    zeros = {ord(sign) - unicodedata.decimal(sign) for sign in picture if is_digit(sign)}
    if len(zeros) != 1:
        raise error(code, f'"{picture}" must have digits of one script')
    seen, least = 0, 0
    groups: list[tuple[int, str]] = []
    for sign in reversed(picture):
        if is_digit(sign):
            if seen > least:
                raise error(code, f'"{picture}": # must be before all digits')
            seen, least = seen + 1, least + 1
        elif sign == "#":
            seen += 1
        elif unicodedata.category(sign)[0] in "LN":
            raise error(code, f'"{picture}": {sign} cannot separate groups')
        elif seen == (groups[-1][0] if groups else 0):
            raise error(code, f'"{picture}": {sign} must be between digits')
        else:
            groups.append((seen, sign))
    if groups and groups[-1][0] == seen:
        raise error(code, f'"{picture}" must not begin with a separator')
    return DigitPattern(zeros.pop(), least, tuple(groups), seen)


def numeral(number: int, token: str, ordinal: bool) -> str | None:
    """A number ≥ 0 in a format that is no digit pattern; None where the format does not reach."""
    match token:
        case "w":
            return words(number, ordinal)
        case "W":
            return words(number, ordinal).upper()
        case "Ww":
            return titled(words(number, ordinal))
        case "i" | "I":
            text = roman(number) if 0 < number < 10_000 else None
            return text.upper() if text and token == "I" else text
        case _:
            return _lettered(number, token) if len(token) == 1 and number else None


def _lettered(number: int, token: str) -> str | None:
    if token in _SEQUENCES:
        return chr(ord(token) + number - 1) if number <= _SEQUENCES[token] else None
    letters = _GREEK.get(token)
    if token in ("a", "A"):
        letters = "".join(chr(ord(token) + i) for i in range(26))
    return alphabetic(number, letters) if letters else None


def alphabetic(number: int, letters: str) -> str:
    """a … z, aa … zz, aaa …: a positional system without zero."""
    out = ""
    while number:
        number, rest = divmod(number - 1, len(letters))
        out = letters[rest] + out
    return out


def roman(number: int) -> str:
    """Roman numerals, lower case."""
    out = ""
    for value, text in _ROMAN:
        count, number = divmod(number, value)
        out += text * count
    return out


def words(number: int, ordinal: bool = False) -> str:
    """The number in English words; "one hundred and first" if ordinal."""
    text = _words(number)
    if not ordinal:
        return text
    head, hyphen, last = text.rpartition("-")
    if not hyphen:
        head, hyphen, last = text.rpartition(" ")
    return head + hyphen + _ordinal_word(last)


def _words(number: int) -> str:
    if number < 20:
        return _UNITS[number]
    if number < 100:
        tens, unit = divmod(number, 10)
        return _TENS[tens] + (f"-{_UNITS[unit]}" if unit else "")
    scale, name = next(row for row in _SCALES if number >= row[0])
    count, rest = divmod(number, scale)
    joint = " and " if 0 < rest < 100 else " "
    return f"{_words(count)} {name}" + (joint + _words(rest) if rest else "")


def _ordinal_word(word: str) -> str:
    if word in _ORDINALS:
        return _ORDINALS[word]
    return word[:-1] + "ieth" if word.endswith("y") else word + "th"


def titled(text: str) -> str:
    """Each word with a capital, but for "and"."""
    capital = " ".join(w if w == "and" else w[:1].upper() + w[1:] for w in text.split(" "))
    return "-".join(part[:1].upper() + part[1:] for part in capital.split("-"))


def ordinal_suffix(number: int) -> str:
    """st, nd, rd or th."""
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
