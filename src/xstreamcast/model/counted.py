"""Numbers of things in sentences: 1 fragment, 2 fragments."""

from __future__ import annotations

from typing import Final

# Fragments that do not count: what is said of one, and of several.
ORPHANS: Final = (
    "orphan, neither in a hole nor attached", "orphans, neither in a hole nor attached"
)  # fmt: skip
CIRCULAR: Final = ("contains itself and is left out", "contain themselves and are left out")


def counted(count: int, noun: str, plural: str | None = None, *, form: str = "") -> str:
    """A number, in a form, and what it counts, in the singular if there is one."""
    return f"{count:{form}} {noun if count == 1 else plural or noun + 's'}"
