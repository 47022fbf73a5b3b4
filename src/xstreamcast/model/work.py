"""The progress of a long task: written by the task, read by the display."""

from __future__ import annotations


class Work:
    """Bytes read of a known total, and items written."""

    __slots__ = ("items", "read", "total")

    def __init__(self) -> None:
        self.read, self.total, self.items = 0, 0, 0


WORK = Work()  # of this process: a command does one piece of work
