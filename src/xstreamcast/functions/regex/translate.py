"""Regular expressions of XPath in the syntax of Python's `re`, which runs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from xstreamcast.functions.regex import characters as ch
from xstreamcast.functions.regex.classes import bracketed, escape
from xstreamcast.functions.regex.reader import PatternReader

_ANCHORS: Final = {
    ("^", False): r"(?:\A)",
    ("$", False): r"(?:\Z)",
    # A line begins after a newline that is not the last character, and ends before a newline.
    ("^", True): r"(?:\A|(?<=\n)(?!\Z))",
    ("$", True): r"(?:(?=\n)|(?<!\n)\Z)",
}
_SPECIAL: Final = frozenset("?*+{}|)]")


@dataclass(slots=True)
class Translation:
    """The text for `re`, and for each group the group around it (0 for none)."""

    text: str = ""
    parents: list[int] = field(default_factory=lambda: [0])


def translate(pattern: str, flags: str) -> Translation:
    """A pattern under the flags i, m, s and x."""
    reader = PatternReader(without_space(pattern) if "x" in flags else pattern)
    made = _Translator(reader, "i" in flags, "m" in flags, "s" in flags)
    text = made.alternatives()
    if not reader.done:
        raise reader.fail(f"{reader.text[reader.at]} is not expected here")
    return Translation(text, made.parents)


def without_space(pattern: str) -> str:
    """White space left out, but for that in character classes."""
    kept, depth, escaped = [], 0, False
    for char in pattern:
        if depth == 0 and char in " \t\n\r":
            continue
        kept.append(char)
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        else:
            depth += (char == "[") - (char == "]" and depth > 0)
    return "".join(kept)


class _Translator:
    """One walk over a pattern."""

    def __init__(self, reader: PatternReader, fold: bool, lines: bool, dot_all: bool) -> None:
        self.reader = reader
        self.fold = fold
        self.lines = lines
        self.dot = ch.EVERYTHING if dot_all else ch.complement(ch.of("\n\r"))
        self.parents = [0]
        self.open: list[int] = []

    def alternatives(self) -> str:
        branches = [self.branch()]
        while self.reader.accept("|"):
            branches.append(self.branch())
        return "|".join(branches)

    def branch(self) -> str:
        pieces = []
        while not (self.reader.done or self.reader.sees("|") or self.reader.sees(")")):
            pieces.append(self.atom() + self.quantifier())
        return "".join(pieces)

    def atom(self) -> str:
        reader = self.reader
        if reader.sees("("):
            return self.group()
        if reader.sees("["):
            return ch.written(bracketed(reader, self.fold))
        if reader.sees("\\"):
            return self.backslash()
        char = reader.next("an expression")
        if char == ".":
            return ch.written(self.dot)
        if char in "^$":
            return _ANCHORS[char, self.lines]
        if char in _SPECIAL:
            raise reader.fail(f"{char} has nothing to belong to")
        return self.literal(char)

    def literal(self, char: str) -> str:
        found = ch.single(char)
        return ch.written(ch.with_variants(found) if self.fold else found)

    def group(self) -> str:
        reader = self.reader
        reader.expect("(")
        if reader.accept("?:"):
            inside = f"(?:{self.alternatives()})"
            reader.expect(")")
            return inside
        self.parents.append(self.open[-1] if self.open else 0)
        self.open.append(len(self.parents) - 1)
        inside = f"({self.alternatives()})"
        reader.expect(")")
        self.open.pop()
        return inside

    def backslash(self) -> str:
        reader = self.reader
        if reader.text[reader.at + 1 : reader.at + 2] in tuple("0123456789"):
            return self.reference()
        found = escape(reader)
        return self.literal(found) if isinstance(found, str) else ch.written(found)

    def reference(self) -> str:
        """Back to a group that has ended; one that matched nothing is the empty string."""
        reader = self.reader
        reader.expect("\\")
        number = int(reader.next("a digit"))
        while not reader.done and reader.text[reader.at] in "0123456789":
            longer = number * 10 + int(reader.text[reader.at])
            if longer >= len(self.parents):
                break
            number, reader.at = longer, reader.at + 1
        if number == 0 or number >= len(self.parents) or number in self.open:
            raise reader.fail(f"\\{number} does not name a group that has ended before")
        again = f"(?i:\\{number})" if self.fold else f"\\{number}"
        return f"(?:(?({number}){again}|))"

    def quantifier(self) -> str:
        reader = self.reader
        for mark in "?*+":
            if reader.accept(mark):
                return mark + self.reluctant()
        if reader.accept("{"):
            return self.counted() + self.reluctant()
        return ""

    def reluctant(self) -> str:
        return "?" if self.reader.accept("?") else ""

    def counted(self) -> str:
        reader = self.reader
        least = reader.digits()
        most = reader.digits() if reader.accept(",") else least
        comma = reader.text[reader.at - 1 - len(most)] == ","
        reader.expect("}")
        if not least or (most and int(most) < int(least)):
            raise reader.fail("{n,m} must have n, and m must not be less")
        return f"{{{int(least)},}}" if comma and not most else f"{{{least},{most}}}"
