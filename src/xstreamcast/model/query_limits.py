"""Limits of one evaluation; each limit has an option, and an error that names it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, Final

from xstreamcast.errors import Error, error
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.memory import machine_bytes

_SENSIBLE: Final[dict[str, tuple[float, float]]] = {
    "query_timeout": (0.001, 10**9),
    "max_memory": (1, 1 << 50),
    "max_recursion": (1, 100_000),
    "max_open_rows": (1, 1 << 40),
    "max_digits": (40, 10**8),
    "max_text": (1, 1 << 40),
    "max_range": (1, 1 << 31),
}


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """Bounds of one evaluation: `QueryLimits(query_timeout=30)`.

    The defaults bound memory and not time: how long to wait is the user's decision.
    """

    query_timeout: float | None = None  # seconds of one run, or of one tick of a watch
    max_memory: int | None = None  # bytes of this process; None: 8/10 of what the machine has
    max_recursion: int = 12_000  # calls of declared functions inside each other
    max_open_rows: int = 1 << 23  # rows of all calls that are open at a time
    max_digits: int = 100_000  # of an integer
    max_text: int = 1 << 28  # characters of one string
    max_range: int = 1 << 27  # items of `a to b`, where the range is materialised

    def __post_init__(self) -> None:
        for bound in fields(self):
            low, high = _SENSIBLE[bound.name]
            value: Any = getattr(self, bound.name)
            if value is None and bound.default is None:
                continue
            whole = isinstance(value, int) or bound.default is None
            if not isinstance(value, int | float) or not whole or not low <= value <= high:
                raise error("XSCU0005", f"{bound.name} must be from {low} to {high}; got {value!r}")

    @property
    def memory(self) -> int:
        """Bytes that the process may hold."""
        return machine_bytes() * 8 // 10 if self.max_memory is None else self.max_memory


class _Chosen(threading.local):
    limits: QueryLimits | None = None


_default = QueryLimits()
_chosen: Final = _Chosen()


def query_limits() -> QueryLimits:
    """The limits of the current thread."""
    return _chosen.limits or _default


def set_query_limits(limits: QueryLimits) -> None:
    """Make these the default limits of this process."""
    global _default
    _default = limits


@contextmanager
def limited(limits: QueryLimits | None) -> Iterator[None]:
    """Set the limits of this thread within a `with` block; None changes nothing."""
    before = _chosen.limits
    _chosen.limits = limits or before
    try:
        yield
    finally:
        _chosen.limits = before


def exceeded(limit: str, sentence: str, code: str = "XSCD0003") -> Error:
    """The error for a limit that was reached: what happened, and how to raise the limit."""
    option = f"--{limit.replace('_', '-')}"
    return error(code, sentence, hint=f"{option} sets the limit; in Python, QueryLimits({limit}=…)")
