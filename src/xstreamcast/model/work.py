"""How far a long piece of work has come: written by whoever does it, read by whoever shows it."""

from __future__ import annotations


class Work:
    """Bytes read of those that are known to be there, and items written. It decides nothing."""

    __slots__ = ("items", "read", "total")

    def __init__(self) -> None:
        self.read, self.total, self.items = 0, 0, 0


WORK = Work()  # of this process: a command does one piece of work
