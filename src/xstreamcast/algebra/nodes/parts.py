"""A part of a stream as a plan names it: the fragments of some of its tags."""

from __future__ import annotations

from typing import Final

_MARK: Final = "\x1f"


def part_name(stream: str, tags: frozenset[int]) -> str:
    """The argument of StreamInput for the fragments of some tags."""
    return stream + _MARK + ",".join(map(str, sorted(tags)))


def part_of(name: str) -> tuple[str, frozenset[int] | None]:
    """The stream and the tags of a part; None for the whole stream."""
    stream, mark, tags = name.partition(_MARK)
    return stream, frozenset(int(tag) for tag in tags.split(",") if tag) if mark else None
