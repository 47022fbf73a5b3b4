"""Sets of characters: Unicode categories and blocks, case variants, and how `re` writes them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import Final, TypeAlias

from xstreamcast.functions.regex.blocks import blocks

Ranges: TypeAlias = tuple[tuple[int, int], ...]  # half open, ascending, apart

LAST: Final = 0x110000
EVERYTHING: Final[Ranges] = ((0, LAST),)
# Looking up the category of every codepoint takes a third of a second: the empty planes and the
# private ones are known without.
_LOOKED_AT: Final = ((0, 0x34000), (0xE0000, 0xE1000), (0xFFFFE, 0x100000), (0x10FFFE, LAST))
_UNIFORM: Final[dict[str, Ranges]] = {
    "Cn": ((0x34000, 0xE0000), (0xE1000, 0xF0000)),
    "Co": ((0xF0000, 0xFFFFE), (0x100000, 0x10FFFE)),
}
_CASED_END: Final = 0x1F000  # no character beyond it has an upper or lower form


def union(*parts: Iterable[tuple[int, int]]) -> Ranges:
    """All characters of all parts."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(pair for part in parts for pair in part):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    """All other characters."""
    gaps, at = [], 0
    for start, end in ranges:
        if start > at:
            gaps.append((at, start))
        at = end
    return (*gaps, (at, LAST)) if at < LAST else tuple(gaps)


def difference(left: Ranges, right: Ranges) -> Ranges:
    """left without right  →  not (not left or right)"""
    return complement(union(complement(left), right))


def single(character: str) -> Ranges:
    """One character."""
    return ((ord(character), ord(character) + 1),)


def of(text: str) -> Ranges:
    """The characters of a string."""
    return union(*map(single, text))


# -- Unicode ---------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _categories() -> dict[str, Ranges]:
    found: dict[str, list[tuple[int, int]]] = {}
    for first, last in _LOOKED_AT:
        at = first
        for name, run in groupby(map(unicodedata.category, map(chr, range(first, last)))):
            end = at + sum(1 for _ in run)
            found.setdefault(name, []).append((at, end))
            at = end
    for name, ranges in _UNIFORM.items():
        found[name] = list(union(found[name], ranges))
    return {name: tuple(ranges) for name, ranges in found.items()}


@lru_cache(maxsize=128)
def category(name: str) -> Ranges | None:
    """The characters of a general category ("Lu") or a group of them ("L"); None if unknown."""
    tables = _categories()
    if len(name) == 2:
        return tables.get(name)
    parts = [ranges for key, ranges in tables.items() if key[0] == name]
    return union(*parts) if len(name) == 1 and parts else None


@lru_cache(maxsize=128)
def block(name: str) -> Ranges | None:
    """The characters of a Unicode block by its XSD name ("BasicLatin"); None if unknown."""
    if name == "NoBlock":
        return complement(union(*blocks().values()))
    found = blocks().get(name)
    return None if found is None else union(found)


NAME_START: Final = union(
    of(":_"),
    [(0x41, 0x5B), (0x61, 0x7B), (0xC0, 0xD7), (0xD8, 0xF7), (0xF8, 0x300), (0x370, 0x37E)],
    [(0x37F, 0x2000), (0x200C, 0x200E), (0x2070, 0x2190), (0x2C00, 0x2FF0), (0x3001, 0xD800)],
    [(0xF900, 0xFDD0), (0xFDF0, 0xFFFE), (0x10000, 0xF0000)],
)
NAME: Final = union(NAME_START, of("-.\u00b7"), [(0x30, 0x3A), (0x300, 0x370), (0x203F, 0x2041)])
SPACE: Final = of(" \t\n\r")


@lru_cache(maxsize=1)
def word() -> Ranges:
    r"""\w: everything but punctuation, separators and others."""
    parts = (category(name) for name in "PZC")
    return complement(union(*(ranges for ranges in parts if ranges)))


# -- case ------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _variants() -> dict[int, tuple[int, ...]]:
    """For cased characters, those with the same upper-case or the same lower-case form."""
    alike: dict[str, set[int]] = {}
    for code in range(_CASED_END):
        char = chr(code)
        low, up = char.lower(), char.upper()
        if (low, up) != (char, char):
            alike.setdefault("l" + low, set()).add(code)
            alike.setdefault("u" + up, set()).add(code)
            for form in {low, up} - {char}:
                if len(form) == 1:
                    alike["l" + low].add(ord(form))
    found: dict[int, set[int]] = {}
    for codes in alike.values():
        for code in codes:
            found.setdefault(code, set()).update(codes)
    return {code: tuple(sorted(codes)) for code, codes in found.items()}


def with_variants(ranges: Ranges) -> Ranges:
    """The characters and their case variants."""
    table = _variants()
    more = [
        (other, other + 1)
        for start, end in ranges
        for code in range(start, min(end, _CASED_END))
        for other in table.get(code, ())
    ]
    return union(ranges, more)


# -- writing ---------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def written(ranges: Ranges) -> str:
    """The set in the syntax of `re`: one atom."""
    if not ranges:
        return "(?!)"
    if ranges == EVERYTHING:
        return "[\\s\\S]"
    if len(ranges) == 1 and ranges[0][1] - ranges[0][0] == 1:
        return _escape(ranges[0][0])
    rest = complement(ranges)
    negated = len(rest) < len(ranges)
    parts = (_range(start, end - 1) for start, end in (rest if negated else ranges))
    return f"[{'^' if negated else ''}{''.join(parts)}]"


def _range(first: int, last: int) -> str:
    return _escape(first) if first == last else f"{_escape(first)}-{_escape(last)}"


def _escape(code: int) -> str:
    char = chr(code)
    return char if char.isascii() and char.isalnum() else f"\\U{code:08x}"
