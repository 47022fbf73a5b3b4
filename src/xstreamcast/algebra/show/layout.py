"""How a drawing becomes lines: in one line if it fits, else a line for each part, indented."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_WIDTH: Final = 92


@dataclass(frozen=True, slots=True)
class Drawing:
    """A head with parts: `head(part, part)`, or `head part, part` for a clause."""

    head: str
    parts: tuple[Drawing, ...] = ()
    clause: bool = False
    tall: bool = False  # never in one line


def layout(drawing: Drawing) -> str:
    """The drawing as text without a line end."""
    return "\n".join(_lines(drawing, 0))


def _lines(drawing: Drawing, depth: int) -> Iterator[str]:
    indent = "  " * depth
    inline = _inline(drawing)
    if inline is not None and len(indent) + len(inline) <= _WIDTH:
        yield indent + inline
        return
    yield indent + drawing.head
    for part in drawing.parts:
        yield from _lines(part, depth + 1)


def _inline(drawing: Drawing) -> str | None:
    if not drawing.parts:
        return drawing.head
    parts = [_inline(part) for part in drawing.parts]
    if drawing.tall or any(part is None for part in parts):
        return None
    joined = ", ".join(part for part in parts if part is not None)
    return f"{drawing.head} {joined}" if drawing.clause else f"{drawing.head}({joined})"
