"""Regular expressions of XPath: compiled once, matched many times."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from xstreamcast.errors import error
from xstreamcast.functions.regex import characters
from xstreamcast.functions.regex.guarded import Pattern
from xstreamcast.functions.regex.translate import Translation, translate
from xstreamcast.model.frozen import dataclass

_FLAGS: Final = frozenset("smixq")


@dataclass(frozen=True, slots=True)
class Regex:
    """A compiled expression; parents[n] is the group around group n, 0 for none."""

    compiled: Pattern
    parents: tuple[int, ...]
    literal: bool  # flag q: neither pattern nor replacement has special characters

    @property
    def groups(self) -> int:
        return len(self.parents) - 1

    def matches_nothing(self) -> bool:
        """Whether it matches the empty string, which cuts a text nowhere or everywhere."""
        return self.compiled.search("") is not None


@lru_cache(maxsize=512)
def regex(pattern: str, flags: str = "") -> Regex:
    """The expression under the flags s, m, i, x and q; FORX0001, FORX0002."""
    if not _FLAGS.issuperset(flags):
        raise error("FORX0001", f"the flags must be of s, m, i, x and q; got {flags!r}")
    literal = "q" in flags
    made = _quoted(pattern, flags) if literal else translate(pattern, flags)
    try:
        return Regex(Pattern(made.text), tuple(made.parents), literal)
    except (OverflowError, RecursionError, re.error) as caught:
        raise error("FORX0002", f"the regular expression {pattern!r} is too large") from caught


def cutting_regex(pattern: str, flags: str = "") -> Regex:
    """An expression that must not match the empty string (FORX0003)."""
    made = regex(pattern, flags)
    if made.matches_nothing():
        raise error("FORX0003", f"the regular expression {pattern!r} matches the empty string")
    return made


def _quoted(pattern: str, flags: str) -> Translation:
    if "i" not in flags:
        return Translation(re.escape(pattern))
    folded = (characters.with_variants(characters.single(char)) for char in pattern)
    return Translation("".join(map(characters.written, folded)))
