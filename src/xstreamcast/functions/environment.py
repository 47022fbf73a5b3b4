"""The variables of the environment, as far as the caller lets a query see them: by default none."""

from __future__ import annotations

from xstreamcast.functions.call import Call
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import lists, maybe, one_or
from xstreamcast.model.atomic import STRING
from xstreamcast.model.column import Column


@function("fn:available-environment-variables() as xs:string*")
def available_environment_variables(call: Call) -> Column:
    """The names of the variables that a query may read."""
    return lists(STRING, [sorted(call.environment)] * call.n)


@function("fn:environment-variable($name as xs:string) as xs:string?")
def environment_variable(call: Call, name: Column) -> Column:
    """The value of a variable, () if the query may read none of this name."""
    return maybe(STRING, (call.environment.get(one) for one in one_or(name)))
