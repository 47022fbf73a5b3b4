"""fn:position and fn:last as functions that can be named; calls of them are plan nodes."""

from __future__ import annotations

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext, FocusColumns
from xstreamcast.functions.registry import function
from xstreamcast.model.column import Column


@function("fn:position() as xs:integer", focus=True)
def position(call: CallContext) -> Column:
    """The position of the context item, from 1."""
    return _focus(call).position


@function("fn:last() as xs:integer", focus=True)
def last(call: CallContext) -> Column:
    """How many items there are in the context."""
    return _focus(call).last


def _focus(call: CallContext) -> FocusColumns:
    if call.focus is None:
        raise error("XPDY0002")
    return call.focus
