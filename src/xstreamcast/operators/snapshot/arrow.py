"""Arrow, imported when a snapshot is first written or read."""

from __future__ import annotations

from functools import cache
from typing import Any

from xstreamcast.errors import error


class Unwritten(Exception):
    """Something of a running query has no snapshot; the message says what."""


class NotNow(Unwritten):
    """There is no snapshot at this moment: after some of the next ticks there will be."""


class Unreadable(Exception):
    """A snapshot does not fit what is being restored; the message says why."""


@cache
def arrow() -> Any:
    """pyarrow, or what to do to have it."""
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise error(
            "XSCU0006", "a snapshot needs pyarrow", hint="pip install 'xstreamcast[table]'"
        ) from None
    return pyarrow


def is_there() -> bool:
    """Whether snapshots can be written and read here."""
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None
