"""A matcher whose time grows with the text alone: for patterns that Python would retry without end.

It follows all ways through the pattern at once (Pike's machine), the preferred ones first, and so
finds the match that a matcher with backtracking finds first. It reads the tree that Python's own
parser makes of a translated pattern; one that refers back to a group has no such machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from re import _constants as c  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple

_MOST: Final = 20_000  # steps of a machine
_CHAR, _SPLIT, _JUMP, _SAVE, _TEST, _MATCH = range(6)

Test = Callable[[str, int], bool]  # whether a place in a text fits


class RegexStep(NamedTuple):
    """One step; `x` is tried before `y`."""

    kind: int
    x: int = 0
    y: int = 0
    fits: Any = None


class RegexMatch:
    """A match, in the words of re.Match."""

    __slots__ = ("_marks", "string")

    def __init__(self, string: str, marks: tuple[int, ...]) -> None:
        self.string, self._marks = string, marks

    def span(self, group: int = 0) -> tuple[int, int]:
        """The span of a group; (-1, -1) if it took no part."""
        return self._marks[2 * group], self._marks[2 * group + 1]

    def start(self) -> int:
        return self._marks[0]

    def end(self) -> int:
        return self._marks[1]

    def __getitem__(self, group: int) -> str | None:
        start, end = self.span(group)
        return None if start < 0 else self.string[start:end]


class TooLargeError(Exception):
    """There is no machine for this pattern."""


class Machine:
    """A pattern as steps."""

    def __init__(self, pattern: str) -> None:
        tree = parser.parse(pattern)
        self._steps: list[RegexStep] = []
        self._marks = 2 * tree.state.groups
        self._sequence(tree)
        self._add(RegexStep(_MATCH))

    # -- making -----------------------------------------------------------------------------------

    def _add(self, step: RegexStep) -> int:
        if len(self._steps) >= _MOST:
            raise TooLargeError
        self._steps.append(step)
        return len(self._steps) - 1

    def _sequence(self, tree: Any) -> None:
        for op, argument in tree:
            self._node(op, argument)

    def _node(self, op: Any, argument: Any) -> None:
        if op in (c.LITERAL, c.NOT_LITERAL, c.IN, c.ANY):
            self._add(RegexStep(_CHAR, fits=_character(op, argument)))
        elif op is c.SUBPATTERN:
            group, _, _, inner = argument
            if group is not None:
                self._add(RegexStep(_SAVE, 2 * group))
            self._sequence(inner)
            if group is not None:
                self._add(RegexStep(_SAVE, 2 * group + 1))
        elif op is c.BRANCH:
            self._branch(argument[1])
        elif op in (c.MAX_REPEAT, c.MIN_REPEAT):
            self._repeat(op is c.MAX_REPEAT, *argument)
        elif op in (c.AT, c.ASSERT, c.ASSERT_NOT):
            self._add(RegexStep(_TEST, fits=_place(op, argument)))
        else:
            raise TooLargeError

    def _branch(self, ways: list[Any]) -> None:
        ends = []
        for way in ways[:-1]:
            split = self._add(RegexStep(_SPLIT))
            self._sequence(way)
            ends.append(self._add(RegexStep(_JUMP)))
            self._steps[split] = RegexStep(_SPLIT, split + 1, len(self._steps))
        self._sequence(ways[-1])
        for end in ends:
            self._steps[end] = RegexStep(_JUMP, len(self._steps))

    def _repeat(self, greedy: bool, least: int, most: Any, inner: Any) -> None:
        for _ in range(least):
            self._sequence(inner)
        if most is c.MAXREPEAT:
            split = self._add(RegexStep(_SPLIT))
            self._sequence(inner)
            self._add(RegexStep(_JUMP, split))
            self._choose(split, greedy)
            return
        splits = []
        for _ in range(most - least):
            splits.append(self._add(RegexStep(_SPLIT)))
            self._sequence(inner)
        for split in splits:
            self._choose(split, greedy)

    def _choose(self, split: int, greedy: bool) -> None:
        into, behind = split + 1, len(self._steps)
        self._steps[split] = RegexStep(_SPLIT, *((into, behind) if greedy else (behind, into)))

    # -- matching ---------------------------------------------------------------------------------

    def search(self, text: str, at: int = 0) -> RegexMatch | None:
        """The first match at or behind a place."""
        found: tuple[int, ...] | None = None
        nothing = (-1,) * self._marks
        threads: list[tuple[int, tuple[int, ...]]] = []
        for place in range(at, len(text) + 1):
            if found is None:  # a match may begin here, if none began before
                self._follow(
                    threads, {pc for pc, _ in threads}, 0, place, (place, *nothing[1:]), text
                )
            if not threads:
                break
            going: list[tuple[int, tuple[int, ...]]] = []
            seen: set[int] = set()
            char = text[place] if place < len(text) else None
            for pc, marks in threads:
                step = self._steps[pc]
                if step.kind == _MATCH:
                    found = (marks[0], place, *marks[2:])
                    break  # what follows is less preferred
                if char is not None and step.fits(char):
                    self._follow(going, seen, pc + 1, place + 1, marks, text)
            threads = going
            if found is not None and not threads:
                break
        return None if found is None else RegexMatch(text, found)

    def _follow(
        self, threads: list[Any], seen: set[int], pc: int, place: int, marks: Any, text: str
    ) -> None:
        """Add what is reached from a step without reading; the preferred way first."""
        waiting = [(pc, marks)]
        while waiting:
            pc, marks = waiting.pop()
            if pc in seen:
                continue
            seen.add(pc)
            step = self._steps[pc]
            if step.kind == _JUMP:
                waiting.append((step.x, marks))
            elif step.kind == _SPLIT:
                waiting.append((step.y, marks))
                waiting.append((step.x, marks))
            elif step.kind == _SAVE:
                changed = (*marks[: step.x], place, *marks[step.x + 1 :])
                waiting.append((pc + 1, changed))
            elif step.kind == _TEST:
                if step.fits(text, place):
                    waiting.append((pc + 1, marks))
            else:
                threads.append((pc, marks))

    def finditer(self, text: str) -> Iterator[RegexMatch]:
        """All matches, none within another."""
        at = 0
        while at <= len(text) and (found := self.search(text, at)) is not None:
            yield found
            at = found.end() + (found.start() == found.end())


def _character(op: Any, argument: Any) -> Callable[[str], bool]:
    """Whether a character is one of those, cached for each character."""
    known: dict[str, bool] = {}
    items = argument if op is c.IN else [(op, argument)]
    if any(
        kind not in (c.LITERAL, c.NOT_LITERAL, c.RANGE, c.NEGATE, c.ANY, c.CATEGORY)
        for kind, _ in items
    ):
        raise TooLargeError

    def fits(char: str) -> bool:
        found = known.get(char)
        if found is None:
            found = known[char] = _among(ord(char), items)
        return found

    return fits


def _among(code: int, items: Any) -> bool:
    negated, inside = False, False
    for kind, value in items:
        if kind is c.NEGATE:
            negated = True
        elif kind is c.LITERAL:
            inside |= code == value
        elif kind is c.NOT_LITERAL:
            inside |= code != value
        elif kind is c.RANGE:
            inside |= value[0] <= code <= value[1]
        elif kind is c.CATEGORY:
            inside |= _CATEGORIES[value].match(chr(code)) is not None
        else:  # any but a line end
            inside |= code != 10
    return inside != negated


_CATEGORIES: Final = {
    c.CATEGORY_DIGIT: re.compile(r"\d"), c.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    c.CATEGORY_SPACE: re.compile(r"\s"), c.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    c.CATEGORY_WORD: re.compile(r"\w"), c.CATEGORY_NOT_WORD: re.compile(r"\W"),
}  # fmt: skip


def _place(op: Any, argument: Any) -> Test:
    """Whether a place begins or ends the text, or has a certain neighbour."""
    if op is c.AT:
        if argument is c.AT_BEGINNING_STRING:
            return lambda text, at: at == 0
        if argument is c.AT_END_STRING:
            return lambda text, at: at == len(text)
        raise TooLargeError
    direction, inner = argument
    if len(inner) != 1 or inner[0][0] not in (c.LITERAL, c.AT):
        raise TooLargeError
    kind, value = inner[0]
    wanted = op is c.ASSERT
    if kind is c.AT:
        inside = _place(c.AT, value)
        return lambda text, at: inside(text, at) is wanted
    char = chr(value)
    if direction < 0:
        return lambda text, at: (at > 0 and text[at - 1] == char) is wanted
    return lambda text, at: (at < len(text) and text[at] == char) is wanted
