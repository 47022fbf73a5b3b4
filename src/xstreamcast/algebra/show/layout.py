"""How a drawing becomes lines: in one line if it fits, else a line for each part, indented."""

from __future__ import annotations

from typing import Final

from xstreamcast.model.frozen import dataclass

_WIDTH: Final = 92
_LEAST: Final = 24  # what is deep inside still gets this much room


@dataclass(frozen=True, slots=True)
class Drawing:
    """A head with parts: `head(part, part)`, or `head part, part` for a clause."""

    head: str
    parts: tuple[Drawing, ...] = ()
    clause: bool = False
    tall: bool = False  # never in one line


def layout(drawing: Drawing) -> str:
    """The drawing as text without a line end."""
    lines: list[str] = []
    _write(drawing, 0, lines)
    return "\n".join(lines)


def _write(drawing: Drawing, depth: int, lines: list[str]) -> None:
    indent = "  " * depth
    inline = _inline(drawing, max(_WIDTH - len(indent), _LEAST))
    lines.append(indent + (drawing.head if inline is None else inline))
    if inline is None:
        for part in drawing.parts:
            _write(part, depth + 1, lines)


def _inline(drawing: Drawing, room: int) -> str | None:
    """The drawing in one line, None if it needs more room: known before all of it was looked at."""
    if not drawing.parts:
        return drawing.head  # nothing to break: it stays as long as it is
    if drawing.tall or len(drawing.head) > room:
        return None
    room -= len(drawing.head) + 1
    shown: list[str] = []
    for part in drawing.parts:
        one = _inline(part, room)
        if one is None or len(one) > room:
            return None
        room -= len(one) + 2
        shown.append(one)
    joined = ", ".join(shown)
    return f"{drawing.head} {joined}" if drawing.clause else f"{drawing.head}({joined})"
