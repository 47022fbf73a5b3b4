"""Calls of functions that a circuit needs besides those of its query."""

from __future__ import annotations

from xstreamcast.algebra import plan as p
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN


def called(name: str, argument: p.Expression) -> p.Call:
    """A call of a function of one argument."""
    function = lookup(FN, name, 1)
    assert function is not None
    return p.Call(function, (argument,), span=argument.span)
