"""Numbers of things in sentences: 1 fragment, 2 fragments."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number and what it counts, in the singular if there is one."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"
