"""Characters and tokens: XQuery is not tokenised; the grammar requests what it expects."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from xstreamcast.errors import Error, Source, error
from xstreamcast.model.xml_names import NCNAME
from xstreamcast.syntax.tree.names import Span

SPACE: Final = re.compile(r"[ \t\r\n]*")
_BETWEEN: Final = frozenset(" \t\r\n(")  # what spaces and comments start with
_NO_NAME: Final = frozenset("\0 \t\r\n!\"#$%&'()*+,-./0123456789:;<=>?@[]{}|")  # no name starts so

MAX_DEPTH: Final = 256  # levels of nested expressions
MAX_CHAIN: Final = 2000  # links of `a + b + …`, `a ! b ! …`, `f()()…`: each makes the tree deeper

ALLEN: Final = frozenset(
    ("before", "after", "meets", "overlaps", "during", "contains", "starts", "finishes", "equals")
)
OPERATOR_WORDS: Final = (
    *("or", "and", "eq", "ne", "lt", "le", "gt", "ge", "is", "to", "div", "idiv", "mod", "union"),
    *("intersect", "except", "instance", "treat", "castable", "cast"),
    *ALLEN,
)


class Cursor:
    """A place in the text, always at the start of a token; spaces and comments are behind it."""

    __slots__ = (
        *("source", "text", "pos", "last"),
        *("depth", "time", "timed_sum", "sequential", "preserve", "refusal"),
        *("_word", "_word_at"),
    )

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text + "\0"  # a sentinel, so that looking at the end needs no test
        self.pos = 0
        self.last = 0  # where the last token ended
        self.depth = 0
        self.time = False  # are bare times and `now` read as such here?
        self.timed_sum: tuple[object, bool] = (
            None,
            False,
        )  # the last sum, and whether it is a time
        self.sequential = False  # does the prolog declare sequential execution?
        self.preserve = False  # does the prolog keep boundary space?
        self.refusal: Error | None = None  # reported only if the rest of the text is valid
        self._word, self._word_at = "", -1

    def skip(self) -> None:
        """Leave a token: advance to the start of the next."""
        self.last = self.pos
        self.pos = self.skip_from(self.pos)

    def skip_from(self, pos: int) -> int:
        """Where the next token after `pos` starts."""
        text = self.text
        if text[pos] not in _BETWEEN:
            return pos
        if text[pos] == " " and text[pos + 1] not in _BETWEEN:
            return pos + 1
        while True:
            pos = SPACE.match(text, pos).end()  # type: ignore[union-attr]  # matches anything
            if not text.startswith("(:", pos):
                return pos
            pos = self._after_comment(pos)

    def _after_comment(self, start: int) -> int:
        depth, pos = 1, start + 2
        while depth:
            opens, closes = self.text.find("(:", pos), self.text.find(":)", pos)
            if closes < 0:
                raise self.error("XPST0003", "the comment never ends", (start, start + 2))
            nested = 0 <= opens < closes
            depth, pos = (depth + 1, opens + 2) if nested else (depth - 1, closes + 2)
        return pos

    def word(self) -> str:
        """The NCName that starts here, or the empty string."""
        pos = self.pos
        if self._word_at != pos:
            found = None if self.text[pos] in _NO_NAME else NCNAME.match(self.text, pos)
            self._word = found.group() if found else ""
            self._word_at = pos
        return self._word

    def after_word(self) -> int:
        """Where the token after the word starts."""
        return self.skip_from(self.pos + len(self.word()))

    def word_then(self, *symbols: str) -> bool:
        """Is the word followed by one of these?"""
        return self.text.startswith(symbols, self.after_word())

    def next_word(self) -> str:
        """The word after the word."""
        found = NCNAME.match(self.text, self.after_word())
        return found.group() if found else ""

    def at(self, symbol: str) -> bool:
        return self.text.startswith(symbol, self.pos)

    def advance(self, length: int) -> None:
        self.last = pos = self.pos + length
        self.pos = self.skip_from(pos) if self.text[pos] in _BETWEEN else pos

    def take(self, symbol: str) -> bool:
        """Take the symbol if it is here."""
        text, pos = self.text, self.pos
        if not text.startswith(symbol, pos):
            return False
        self.last = pos = pos + len(symbol)
        self.pos = self.skip_from(pos) if text[pos] in _BETWEEN else pos
        return True

    def take_word(self, word: str) -> bool:
        """Take the word if it is here."""
        if self.word() != word:
            return False
        self.advance(len(word))
        return True

    def take_words(self, first: str, second: str) -> bool:
        """Take both words, or neither."""
        if self.word() != first or self.next_word() != second:
            return False
        self.take_word(first)
        return self.take_word(second)

    def expect(self, symbol: str, what: str | None = None) -> None:
        """Take the symbol; `what` names everything that is allowed here."""
        if not self.take(symbol):
            raise self.expected(what or f"'{symbol}'", OPERATOR_WORDS)

    def expect_word(self, *words: str) -> str:
        """Take one of the words."""
        word = self.word()
        if word not in words:
            raise self.expected(" or ".join(f"'{w}'" for w in words), words)
        self.advance(len(word))
        return word

    def span(self, start: int) -> Span:
        return start, self.last

    def error(self, code: str, message: str, span: Span, hint: str | None = None) -> Error:
        return error(code, message, at=self.source.place(span), hint=hint)

    def expected(self, what: str, words: Iterable[str] = (), hint: str | None = None) -> Error:
        """The grammar wants `what`; `words` are those a misspelt word may have meant."""
        from difflib import get_close_matches

        near = get_close_matches(self.word(), list(words), 1) if self.word() else []
        hint = f"did you mean '{near[0]}'?" if near and hint is None else hint
        message = f"expected {what}; got {self._found()}"
        return self.error("XPST0003", message, (self.pos, self._found_end()), hint)

    def unsupported(self, what: str, span: Span, code: str = "XSCS0001") -> Error:
        return self.error(code, f"{what} not supported", span)

    def _found_end(self) -> int:
        length = len(self.word()) or 1
        return min(self.pos + length, len(self.text) - 1)

    def _found(self) -> str:
        if self.pos >= len(self.text) - 1:
            return "the end of the query"
        return f"'{self.text[self.pos : self._found_end()]}'"

    def deeper(self) -> None:
        """Enter a nested expression; the caller leaves it by `depth -= 1`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._beyond(f"expressions are nested more than {MAX_DEPTH} deep")

    def chained(self, links: int) -> None:
        """Refuse a chain of operators or calls that no walk over its tree would survive."""
        if links > MAX_CHAIN:
            raise self._beyond(f"a chain has more than {MAX_CHAIN} links")

    def _beyond(self, message: str) -> Error:
        place = self.source.place((self.pos, self.pos + 1))
        return error("XPDY0130", message, at=place, static=True)
