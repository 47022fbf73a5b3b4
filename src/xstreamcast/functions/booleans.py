"""Truth: fn:true, fn:false, fn:boolean, fn:not."""

from __future__ import annotations

import numpy as np

from xstreamcast.functions.atomize import effective_boolean
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import truths
from xstreamcast.model.column import Column


@function("fn:true() as xs:boolean")
def true(call: CallContext) -> Column:
    """True."""
    return truths(np.ones(call.n, np.bool_))


@function("fn:false() as xs:boolean")
def false(call: CallContext) -> Column:
    """False."""
    return truths(np.zeros(call.n, np.bool_))


@function("fn:boolean($arg as item()*) as xs:boolean")
def boolean(call: CallContext, arg: Column) -> Column:
    """The effective boolean value of a sequence."""
    return truths(effective_boolean(call, arg))


@function("fn:not($arg as item()*) as xs:boolean")
def not_(call: CallContext, arg: Column) -> Column:
    """The opposite of the effective boolean value."""
    return truths(~effective_boolean(call, arg))
