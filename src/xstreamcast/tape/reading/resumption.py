"""Where in a document a reading is: all that another one needs to continue there."""

from __future__ import annotations

from typing import Final, NamedTuple

CLOSED: Final = b"<closed/>"  # represents a document whose root has closed


class Resumption(NamedTuple):
    """The start tags that are open, the bytes that are not complete, and where these begin."""

    tags: bytes
    rest: bytes
    line: int
    column: int
    offset: int

    @property
    def unclosed(self) -> bytes:
        """What is open and not complete; of a document whose root has closed, what follows it."""
        return self.rest if self.tags == CLOSED else self.tags + self.rest
