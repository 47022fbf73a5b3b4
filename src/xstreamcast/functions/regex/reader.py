"""A cursor over the text of a regular expression."""

from __future__ import annotations

from xstreamcast.errors import Error, error


class PatternReader:
    """The text and a place in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.text)

    def sees(self, mark: str) -> bool:
        """Whether the mark is next."""
        return self.text.startswith(mark, self.at)

    def accept(self, mark: str) -> bool:
        """Skips the mark if it is next."""
        found = self.sees(mark)
        self.at += len(mark) if found else 0
        return found

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            raise self.fail(f"{mark} is missing")

    def next(self, wanted: str) -> str:
        """The character here."""
        if self.done:
            raise self.fail(f"it ends where it must have {wanted}")
        self.at += 1
        return self.text[self.at - 1]

    def until(self, mark: str) -> str:
        """The text before the next mark; skips both."""
        end = self.text.find(mark, self.at)
        if end < 0:
            raise self.fail(f"{mark} is missing")
        start, self.at = self.at, end + len(mark)
        return self.text[start:end]

    def digits(self) -> str:
        """The decimal digits here, possibly none."""
        start = self.at
        while not self.done and "0" <= self.text[self.at] <= "9":
            self.at += 1
        return self.text[start : self.at]

    def fail(self, why: str) -> Error:
        """The error that this text is no regular expression."""
        return error("FORX0002", f"the regular expression {self.text!r} is not valid: {why}")
