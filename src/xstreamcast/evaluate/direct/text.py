"""The text of one Python function as it grows: lines, blocks, names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from xstreamcast.evaluate.direct.shapes import Value


class FunctionText:
    """Lines of a function; a block that is written aside can be put in later, or thrown away."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 1
        self._numbers = count()

    def add(self, line: str) -> None:
        """One statement."""
        self.lines.append("    " * self._depth + line)

    def name(self, prefix: str = "t") -> str:
        """A name that nothing has yet."""
        return f"{prefix}{next(self._numbers)}"

    @contextmanager
    def inside(self, line: str) -> Iterator[None]:
        """A statement that has a block."""
        self.add(line)
        self._depth += 1
        before = len(self.lines)
        try:
            yield
        finally:
            if len(self.lines) == before:
                self.add("pass")
            self._depth -= 1

    @contextmanager
    def aside(self) -> Iterator[list[str]]:
        """What is written meanwhile goes into a list of its own."""
        before, self.lines = self.lines, []
        try:
            yield self.lines
        finally:
            self.lines = before

    def indented(self, lines: list[str]) -> None:
        """Lines that were written aside, one block further in."""
        self.lines += ["    " + line for line in lines]

    def named(self, value: Value) -> Value:
        """The value under a name, so that it can be read several times."""
        if value.code.isidentifier():
            return value
        name = self.name()
        self.add(f"{name} = {value.code}")
        return Value(name, value.shape)
