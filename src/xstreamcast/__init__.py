"""Continuous XQuery over XML feeds that correct themselves."""

from xstreamcast.api import Answer, Query, query
from xstreamcast.errors import Error, InputError, QueryError, UsageError
from xstreamcast.functions.user import function

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Error",
    "InputError",
    "Query",
    "QueryError",
    "UsageError",
    "function",
    "query",
]
