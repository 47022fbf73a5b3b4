"""Pieces of an input that came before, gone through once more in the same portions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xstreamcast.edges.sources import Burst, flattened
from xstreamcast.edges.watching.journal import Line
from xstreamcast.edges.watching.pieces import END
from xstreamcast.errors import error

Pieces = Iterator[bytes | Burst | None]


def bytes_of(head: Sequence[bytes | Burst | None]) -> bytes:
    """What has come of an input, end to end."""
    return b"".join(piece for piece in flattened(head) if piece)


def again(head: Sequence[bytes | Burst | None], stream: Pieces) -> Pieces:
    """What was looked at, then the rest."""
    yield from head
    yield from stream


def then(kept: Iterator[bytes | None], stream: Pieces) -> Pieces:
    """What was kept, then what comes."""
    yield from kept
    yield from stream


def burst_of(stream: Pieces, line: Line, rests: dict[str, bytes]) -> Burst:
    """The messages of a burst, as they came."""
    found: list[bytes] = []
    for name, count in line.read:
        if count < 0:
            to_end(stream, rests, name)
        else:
            found.append(exactly(stream, count, rests, name))
    return Burst(found)


def to_end(stream: Pieces, rests: dict[str, bytes], name: str) -> None:
    """Where one of the files ended; nothing may be left of it."""
    while (piece := next(stream, END)) is not END:
        rests[name] = rests.get(name, b"") + (piece if isinstance(piece, bytes) else b"")
    if rests.get(name):
        raise error("XSCU0003", f"the input {name or '-'} is longer than it was")


def exactly(stream: Pieces, count: int, rests: dict[str, bytes], name: str) -> bytes:
    """The next `count` bytes, however they come in pieces now."""
    held = rests.get(name, b"")
    while len(held) < count:
        piece = next(stream, END)
        if piece is END:
            raise error("XSCU0003", f"the input {name or '-'} is shorter than it was")
        assert not isinstance(piece, Burst)  # what counts comes piece by piece
        held += piece or b""
    rests[name] = held[count:]
    return held[:count]
