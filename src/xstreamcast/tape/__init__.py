"""How XML bytes look: tokenising, nodes as columns, steps over nodes, serialising."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xstreamcast.tape.layout import Tape as Tape
    from xstreamcast.tape.limits import Limits as Limits
    from xstreamcast.tape.names import Names as Names
    from xstreamcast.tape.reading.read import read as read
    from xstreamcast.tape.reading.reader import Reader as Reader
    from xstreamcast.tape.steps.axes import NodeTest as NodeTest
    from xstreamcast.tape.store import Store as Store
    from xstreamcast.tape.writing.builder import Builder as Builder

# Imported at the first use: numba takes its time.
_HOMES = {
    "Builder": "writing.builder",
    "Limits": "limits",
    "Names": "names",
    "NodeTest": "steps.axes",
    "Reader": "reading.reader",
    "Store": "store",
    "Tape": "layout",
    "read": "reading.read",
}

__all__ = ["Builder", "Limits", "Names", "NodeTest", "Reader", "Store", "Tape", "read"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
