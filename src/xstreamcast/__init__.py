"""Continuous XQuery over XML feeds that correct themselves."""

TYPE_CHECKING = False  # as typing has it, which is not imported for that
if TYPE_CHECKING:
    from xstreamcast.api import Answer as Answer
    from xstreamcast.api import Changes as Changes
    from xstreamcast.api import Queries as Queries
    from xstreamcast.api import Query as Query
    from xstreamcast.api import queries as queries
    from xstreamcast.api import query as query
    from xstreamcast.edges.changes import ChangeReader as ChangeReader
    from xstreamcast.errors import Error as Error
    from xstreamcast.errors import InputError as InputError
    from xstreamcast.errors import QueryError as QueryError
    from xstreamcast.errors import UsageError as UsageError
    from xstreamcast.functions.user import function as function
    from xstreamcast.model.query_limits import QueryLimits as QueryLimits

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "ChangeReader",
    "Changes",
    "Error",
    "InputError",
    "Queries",
    "Query",
    "QueryError",
    "QueryLimits",
    "UsageError",
    "function",
    "queries",
    "query",
]

_WHERE = {
    "Answer": "xstreamcast.api",
    "Changes": "xstreamcast.api",
    "Queries": "xstreamcast.api",
    "Query": "xstreamcast.api",
    "queries": "xstreamcast.api",
    "query": "xstreamcast.api",
    "ChangeReader": "xstreamcast.edges.changes",
    "Error": "xstreamcast.errors",
    "InputError": "xstreamcast.errors",
    "QueryError": "xstreamcast.errors",
    "QueryLimits": "xstreamcast.model.query_limits",
    "UsageError": "xstreamcast.errors",
    "function": "xstreamcast.functions.user",
}


def __getattr__(name: str) -> object:
    """Imported when it is first used: a command that only prints its help imports nothing."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(_WHERE[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
