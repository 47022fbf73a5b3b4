"""JSON texts as events: one grammar for maps, arrays and XML; no depth is too much for it.

Strings are passed on as written between their quotes; `strings` decodes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from xstreamcast.errors import Error, error

Kind = Literal["[", "]", "{", "}", "key", "string", "number", "true", "false", "null"]
Event = tuple[Kind, str]

_CLOSES: Final = {"[": "]", "{": "}"}
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_TOKEN: Final = re.compile(
    r'(?P<string>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9.eE+\-A-Za-z])"
    r"|(?P<word>true|false|null)(?![A-Za-z0-9_])"
    r"|(?P<mark>[\[\]{}:,])"
)


def events(text: str) -> Iterator[Event]:
    """The events of a JSON text, or FOJS0001."""
    return _Reader(text).events()


class _Reader:
    """A place in the text and the brackets that are open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 1 if text.startswith("\ufeff") else 0
        self.open: list[str] = []
        self.fresh = False  # was the innermost bracket opened just now?

    def events(self) -> Iterator[Event]:
        yield self._begin()
        while self.open:
            yield from self._inside()
        if self._kind() != "":
            raise self._unexpected("the end of the text")

    # -- tokens ---------------------------------------------------------------------------------

    def _peek(self) -> re.Match[str] | None:
        self.pos = _SPACE.match(self.text, self.pos).end()  # type: ignore[union-attr]
        return _TOKEN.match(self.text, self.pos)

    def _kind(self) -> str:
        """The kind of the next token: "" at the end, "?" for what is none."""
        found = self._peek()
        if found is None:
            return "" if self.pos >= len(self.text) else "?"
        group = found.lastgroup
        return found[0] if group in ("mark", "word") else str(group)

    def _take(self) -> str:
        found = self._peek()
        assert found is not None
        self.pos = found.end()
        return found[0]

    def _unexpected(self, wanted: str) -> Error:
        line = self.text.count("\n", 0, self.pos) + 1
        column = self.pos - self.text.rfind("\n", 0, self.pos)
        got = self.text[self.pos : self.pos + 12] or "the end of the text"
        return error("FOJS0001", f"line {line}, column {column}: must be {wanted}; got {got!r}")

    # -- grammar --------------------------------------------------------------------------------

    def _begin(self) -> Event:
        """A value; of an array or an object only its beginning."""
        match self._kind():
            case "[" | "{" as mark:
                self._take()
                self.open.append(mark)
                self.fresh = True
                return mark, ""
            case "string":
                return "string", self._take()[1:-1]
            case "number":
                return "number", self._take()
            case "true" | "false" | "null" as word:
                self._take()
                return word, ""
            case _:
                raise self._unexpected("a value")

    def _inside(self) -> Iterator[Event]:
        """The next event inside the innermost open bracket."""
        fresh, self.fresh = self.fresh, False
        kind = self._kind()
        if kind == _CLOSES[self.open[-1]]:
            self._take()
            self.open.pop()
            yield kind, ""  # type: ignore[misc]
            return
        if not fresh:
            if kind != ",":
                raise self._unexpected(f"',' or '{_CLOSES[self.open[-1]]}'")
            self._take()
        if self.open[-1] == "{":
            yield "key", self._key()
        yield self._begin()

    def _key(self) -> str:
        if self._kind() != "string":
            raise self._unexpected("a key in quotes")
        key = self._take()[1:-1]
        if self._kind() != ":":
            raise self._unexpected("':'")
        self._take()
        return key
