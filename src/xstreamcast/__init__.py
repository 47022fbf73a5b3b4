"""Continuous XQuery over XML feeds that correct themselves."""

from typing import TYPE_CHECKING

from xstreamcast.api import Answer, Query, query
from xstreamcast.errors import Error, InputError, QueryError, UsageError
from xstreamcast.functions.user import function

if TYPE_CHECKING:
    from xstreamcast.edges.changes import ChangeReader as ChangeReader

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "ChangeReader",
    "Error",
    "InputError",
    "Query",
    "QueryError",
    "UsageError",
    "function",
    "query",
]


def __getattr__(name: str) -> object:
    """What is imported when it is first asked for."""
    if name == "ChangeReader":
        from xstreamcast.edges.changes import ChangeReader

        return ChangeReader
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
