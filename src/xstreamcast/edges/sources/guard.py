"""Fragments of a broadcast carry numbers: of two for one id and one instant, the larger counts.

A channel may reorder. Where the sender replaced content at the very same valid time, the older of
the two must not win because it came last.
"""

from __future__ import annotations

import re
from typing import Final

_NUMBERED: Final = re.compile(
    rb'<stream:(?:filler|repeat|replace|remove) seq="(\d+)" id="([^"]*)"[^>]*?'
    rb'(?: validTime="([^"]*)")?/?>'
)


class OrderGuard:
    """Leaves out what a fragment with a larger number has replaced."""

    def __init__(self) -> None:
        self._largest: dict[tuple[bytes, bytes], int] = {}
        self.stale = 0

    def __call__(self, message: bytes) -> bytes:
        if b' seq="' not in message:
            return message
        return b"".join(line for line in message.splitlines(keepends=True) if self._counts(line))

    def _counts(self, line: bytes) -> bool:
        """A fragment of a broadcast is a line; a line that does not begin one belongs to it."""
        found = _NUMBERED.match(line)
        if found is None:
            return True
        key, number = (found[2], found[3] or b""), int(found[1])
        if number < self._largest.get(key, 0):
            self.stale += 1
            return False
        self._largest[key] = number
        return True
