"""Which matcher a pattern needs: Python's, or the one that cannot retry without end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final, TypeAlias

from xstreamcast.functions.regex.linear import Machine, RegexMatch, TooLargeError
from xstreamcast.model.query_limits import exceeded, query_limits

Match: TypeAlias = re.Match[str] | RegexMatch

_SHORT: Final = 24  # characters that may be tried in all ways
_MANY: Final = 10**10  # ways that are too many
_OFTEN: Final = 10  # rounds of a repetition that count as endless


class Pattern:
    """A compiled pattern; texts for which Python might try too many ways go to the machine."""

    def __init__(self, text: str) -> None:
        self.pattern = text
        self._python = re.compile(text)
        self._retries, self._degree = False, 0  # 0: not looked at yet
        self._machine: Machine | None = None

    def search(self, text: str) -> Match | None:
        """The first match."""
        found: Match | None = self._chosen(text).search(text)
        return found

    def finditer(self, text: str) -> Iterator[Match]:
        """All matches."""
        found: Iterator[Match] = self._chosen(text).finditer(text)
        return found

    def sub(self, fill: Callable[[Match], str], text: str) -> str:
        """The text with every match replaced."""
        parts: list[str] = []
        at, size, most = 0, len(text), query_limits().max_text
        for found in self.finditer(text):
            new = fill(found)
            size += len(new)
            if size > most:
                raise exceeded("max_text", f"a string has more than {most:,} characters")
            parts += (text[at : found.start()], new)
            at = found.end()
        return "".join((*parts, text[at:]))

    def _chosen(self, text: str) -> Any:
        n = len(text)
        if n <= _SHORT:
            return self._python
        if not self._degree:  # the tree is read when a text is long enough to matter
            tree = parser.parse(self.pattern)
            self._retries, self._degree = _retries(tree), _degree(tree) + 1
        many = self._retries or (self._degree > 2 and n**self._degree > _MANY)
        if not many:
            return self._python
        if self._machine is None:
            try:
                self._machine = Machine(self.pattern)
            except TooLargeError:
                self._retries, self._degree = False, 1  # it refers back: only Python knows how
                return self._python
        return self._machine


def _retries(tree: Any) -> bool:
    """Whether a repetition holds a choice: then the ways double with each round."""
    for op, argument in tree:
        if op in _REPEATS:
            _, most, inner = argument
            if most >= _OFTEN and _chooses(inner):
                return True
        if any(_retries(inner) for inner in _inside(op, argument)):
            return True
    return False


def _chooses(tree: Any) -> bool:
    return any(
        op is c.BRANCH
        or (op in _REPEATS and argument[0] != argument[1])
        or any(_chooses(inner) for inner in _inside(op, argument))
        for op, argument in tree
    )


def _degree(tree: Any) -> int:
    """How many endless repetitions follow each other."""
    count = 0
    for op, argument in tree:
        if op in _REPEATS and argument[1] >= _OFTEN and argument[0] != argument[1]:
            count += 1
        else:
            count += max((_degree(inner) for inner in _inside(op, argument)), default=0)
    return count


def _inside(op: Any, argument: Any) -> list[Any]:
    if op in _REPEATS:
        return [argument[2]]
    if op is c.SUBPATTERN:
        return [argument[3]]
    return list(argument[1]) if op is c.BRANCH else []


_REPEATS: Final = (c.MAX_REPEAT, c.MIN_REPEAT)
