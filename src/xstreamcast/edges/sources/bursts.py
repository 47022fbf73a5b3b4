"""Messages that came together: read between two ticks, each as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

_WORDS: Final = rb"(?:stream:)?(?:filler|repeat|replace|remove|heartbeat|structure)"
_BEGINS: Final = re.compile(rb"\s*<" + _WORDS + rb"[\s>/]")
_ENDS: Final = re.compile(rb"(?:/>|</" + _WORDS + rb"\s*>)\s*(?:<\?reached \d+\?>\s*)?\Z")
_LARGEST: Final = 4 << 20  # bytes of messages that come together
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


def gathered(pieces: Iterable[bytes | None], most: int) -> Iterator[bytes | Burst | None]:
    """Messages in pieces, None behind each → those that are there together, up to `most`."""
    held: list[bytes] = []
    burst: list[bytes] = []
    for piece in pieces:
        if piece is None:
            burst.append(b"".join(held))
            held = []
        elif piece:
            held.append(piece)
        if burst and (piece == b"" or len(burst) >= most or sum(map(len, burst)) >= _LARGEST):
            yield Burst(burst)
            burst = []
        if piece == b"":
            yield piece
    if burst:
        yield Burst(burst)


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
