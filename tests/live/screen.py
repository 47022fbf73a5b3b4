"""A terminal that is looked at by tests: it obeys what a real one would."""

from __future__ import annotations

import re

from xstreamcast.live.terminal import Terminal

_PART = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])|\n|[^\x1b\n]+")


class Screen:
    """Lines of text under a cursor; a second set of them for the screen of its own."""

    def __init__(self, columns: int = 40, lines: int = 6) -> None:
        self.columns, self.lines = columns, lines
        self.cells = [""] * lines
        self.main: list[str] = []
        self.row, self.own, self.writes, self.cursor = 0, False, 0, True
        self.raw = ""

    def terminal(self, color: bool = False) -> Terminal:
        return Terminal(self.write, lambda: (self.columns, self.lines), True, color)

    def write(self, text: str) -> None:
        self.writes += 1
        self.raw += text
        assert "".join(found.group() for found in _PART.finditer(text)) == text
        for found in _PART.finditer(text):
            self._obey(found)

    def _obey(self, found: re.Match[str]) -> None:
        private, numbers, command = found.groups()
        if command is None:
            self._print(found.group())
        elif private and numbers == "1049":
            self.own = command == "h"
        elif private and numbers == "25":
            self.cursor = command == "h"
        elif command == "H":
            self.row = int(numbers.split(";")[0] or 1) - 1
            self.fresh = True
        elif command == "J":
            self.cells = [""] * self.lines
        elif command != "m":
            assert command == "K"
            if self.fresh:
                self.cells[self.row] = ""

    def _print(self, text: str) -> None:
        if not self.own:
            self.main.append(text)
        elif text != "\n":
            self.cells[self.row] = text
            self.fresh = False
