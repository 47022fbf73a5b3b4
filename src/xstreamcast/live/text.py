"""Text on a terminal: how many cells it takes, one line of it, cut to a width."""

from __future__ import annotations

import unicodedata


def cells(text: str) -> int:
    """The cells that a text takes."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def _cells_of(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def one_line(text: str, width: int) -> str:
    """A text on one line of at most `width` cells, what no terminal should obey made visible."""
    line = " ".join(text[: 8 * width + 64].split())  # more could not be seen, whatever it is
    if not line.isprintable():
        line = "".join(c if c.isprintable() else _visible(c) for c in line)
    return cut(line, width) if len(line) < len(text) or cells(line) > width else line


def _visible(character: str) -> str:
    return "" if unicodedata.category(character) == "Cf" else "\ufffd"


def cut(text: str, width: int) -> str:
    """The text, or as much of it as fits, with a sign that there is more."""
    if cells(text) <= width:
        return text
    room, kept = width - 1, 0
    for kept, character in enumerate(text):  # noqa: B007
        room -= _cells_of(character)
        if room < 0:
            break
    return text[:kept] + "…" if width > 0 else ""


def padded(text: str, width: int) -> str:
    """The text, cut or filled with blanks to exactly `width` cells."""
    shown = cut(text, width)
    return shown + " " * (width - cells(shown))


def size_text(count: int) -> str:
    """A number of bytes as a person says it."""
    amount, unit = float(count), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"
