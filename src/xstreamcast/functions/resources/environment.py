"""The variables of the environment, as far as the caller lets a query see them: by default none."""

from __future__ import annotations

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import column_of, lists, maybe, one_or
from xstreamcast.model.atomic import ATOMIC, STRING
from xstreamcast.model.column import Column

_LANGUAGE = ATOMIC["language"].tag


@function("fn:available-environment-variables() as xs:string*")
def available_environment_variables(call: CallContext) -> Column:
    """The names of the variables that a query may read."""
    return lists(STRING, [sorted(call.environment)] * call.n)


@function("fn:environment-variable($name as xs:string) as xs:string?")
def environment_variable(call: CallContext, name: Column) -> Column:
    """The value of a variable, () if the query may read none of this name."""
    return maybe(STRING, (call.environment.get(one) for one in one_or(name)))


@function("fn:default-language() as xs:language")
def default_language(call: CallContext) -> Column:
    """The language of numbers and dates that name none."""
    return column_of(_LANGUAGE, ["en"] * call.n)


@function("fn:transform($options as map(*)) as map(*)")
def transform(call: CallContext, options: Column) -> Column:
    """FOXT0001: there is no XSLT processor."""
    if call.n == 0:
        return Column.empty(0)
    raise error("FOXT0001")
