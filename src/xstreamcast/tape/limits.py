"""How much an input may ask for; each limit has its own error."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from xstreamcast.errors import Error, error
from xstreamcast.model.frozen import dataclass

_LARGE: Final = 2**31 - 1

# No tree has more levels. The level column is uint16: what is copied below another tree fits, too.
DEEPEST: Final = 32_767

# What each limit may be: lengths, names and rows are columns of int32.
_SENSIBLE: Final = {
    "max_depth": (1, DEEPEST - 1),
    "max_name_length": (1, 1 << 20),
    "max_attributes": (0, 1 << 24),
    "max_entity_expansion": (0, _LARGE),
    "max_document_size": (1, 1 << 40),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that no honest feed meets; raise them one by one, `Limits(max_depth=5000)`.

    The defaults bound what an attacker can make us do: no tree deeper than 1000 elements, no text
    made of entities beyond 8 MiB, no document (in a stream: no unit) beyond 2 GiB.
    """

    max_depth: int = 1000  # open elements; XSCX0101; below DEEPEST
    max_name_length: int = 1000  # bytes of a name with its prefix; XSCX0102
    max_attributes: int = 10_000  # of one element, namespace declarations included; XSCX0103
    max_entity_expansion: int = 8 << 20  # characters that entities and defaults add; XSCX0104
    max_document_size: int = 2**31 - 1  # bytes of a document, or of a unit in a stream; XSCX0105

    def __post_init__(self) -> None:
        for bound in fields(self):
            low, high = _SENSIBLE[bound.name]
            value = getattr(self, bound.name)
            if not isinstance(value, int) or not low <= value <= high:
                raise error("XSCU0005", f"{bound.name} must be from {low} to {high}; got {value!r}")


_default = Limits()


def default_limits() -> Limits:
    """What holds where nothing else is said."""
    return _default


def set_default_limits(limits: Limits) -> None:
    """From now on these hold, in this process, where nothing else is said."""
    global _default
    _default = limits


def too_deep() -> Error:
    """The error for a tree, made or put together, that has too many levels."""
    return error("XSCD0001", f"a tree must have at most {DEEPEST:,} levels; got more")


def raised(limit: str) -> str:
    """How a user raises a limit."""
    return f"--{limit.replace('_', '-')} N sets it; in Python, Limits({limit}=N)"
