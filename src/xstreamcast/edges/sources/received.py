"""All that a place had, as bytes that remember where each message ends."""

from __future__ import annotations

from collections.abc import Iterable

from xstreamcast.edges.sources.network import what_is_there


class Received(bytes):
    """Messages end to end."""

    parts: tuple[bytes, ...] = ()
    mapping: str | None = None  # the word for what makes fragments of them

    @classmethod
    def of(cls, pieces: Iterable[bytes | None]) -> Received:
        """From pieces with None behind each message."""
        parts: list[bytes] = []
        held = b""
        for piece in pieces:
            if piece is None:
                parts.append(held)
                held = b""
            else:
                held += piece
        parts += [held] if held else []
        made = cls(b"".join(parts))
        made.parts = tuple(parts)
        return made


def received(source: str, name: str | None = None) -> Received:
    """What is there now."""
    return Received.of(what_is_there(source, name))
