"""The environment of the process, which a query does not see: there are no variables in it."""

from __future__ import annotations

from xstreamcast.functions.call import Call
from xstreamcast.functions.registry import function
from xstreamcast.model.column import Column


@function("fn:available-environment-variables() as xs:string*")
def available_environment_variables(call: Call) -> Column:
    """No name: the environment is closed to queries."""
    return Column.empty(call.n)


@function("fn:environment-variable($name as xs:string) as xs:string?")
def environment_variable(call: Call, name: Column) -> Column:
    """(): the environment is closed to queries."""
    return Column.empty(call.n)
