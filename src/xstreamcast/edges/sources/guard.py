"""Fragments of a broadcast carry numbers: of two for one id and one instant, the larger counts.

A channel may reorder. Where the sender replaced content at the very same valid time, the older of
the two must not win because it came last.
"""

from __future__ import annotations

import re
from typing import Final

_BEGIN: Final = re.compile(rb"<stream:(?:filler|repeat|replace|remove|structure|heartbeat|eos)\b")
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
        kept, counts = [], True
        for line in message.splitlines(keepends=True):
            if _BEGIN.match(line):  # any other line belongs to the fragment before it
                counts = self._counts(line)
            if counts:
                kept.append(line)
        return b"".join(kept)

    def _counts(self, line: bytes) -> bool:
        found = _NUMBERED.match(line)
        if found is None:
            return True
        key, number = (found[2], found[3] or b""), int(found[1])
        if number < self._largest.get(key, 0):
            self.stale += 1
            return False
        self._largest[key] = number
        return True
