"""Messages that came together: taken in between two ticks, each whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


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
