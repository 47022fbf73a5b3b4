"""fn:serialize: a sequence as one string."""

from __future__ import annotations

from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import pairs, text
from xstreamcast.functions.serialization import serialized
from xstreamcast.functions.serialization.given import of_argument
from xstreamcast.functions.serialization.parameters import Parameters
from xstreamcast.model.column import Column


@function("fn:serialize($arg as item()*) as xs:string", blocking=(0,))
@function("fn:serialize($arg as item()*, $params as item()?) as xs:string", blocking=(0,))
def serialize(call: CallContext, arg: Column, params: Column | None = None) -> Column:
    """The items as XML, or as the parameters say: an element or a map."""
    given = [[]] * call.n if params is None else list(pairs(params))
    parameters = (of_argument(call, one[0][1], one[0][0]) if one else Parameters() for one in given)
    return text(serialized(call, arg.row(i), one) for i, one in enumerate(parameters))
