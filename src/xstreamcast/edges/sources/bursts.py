"""Messages that came together: taken in between two ticks, each whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

_WORDS: Final = rb"(?:stream:)?(?:filler|repeat|replace|remove|heartbeat|structure)"
_BEGINS: Final = re.compile(rb"\s*<" + _WORDS + rb"[\s>/]")
_ENDS: Final = re.compile(rb"(?:/>|</" + _WORDS + rb"\s*>)\s*(?:<\?reached \d+\?>\s*)?\Z")
_TAIL: Final = 80  # bytes in which a message ends


class Burst(tuple[bytes, ...]):
    """Messages, each of which ends where it ends."""

    __slots__ = ()


def flattened(pieces: Iterable[bytes | Burst | None]) -> Iterator[bytes | None]:
    """The same pieces, each message with its end behind it."""
    for piece in pieces:
        if isinstance(piece, Burst):
            for message in piece:
                yield message
                yield None
        else:
            yield piece


def joined(burst: Burst) -> Iterator[bytes]:
    """Messages that are whole fragments end to end, since reading them one by one costs more."""
    held: list[bytes] = []
    for message in burst:
        if _BEGINS.match(message) and _ENDS.search(message, max(0, len(message) - _TAIL)):
            held.append(message)
            continue
        if held:
            yield b"\n".join(held)
            held = []
        yield message
    if held:
        yield b"\n".join(held)
