"""Keys of collations: fn:collation-key, fn:default-collation, and what lowering makes of clauses.

A clause that names a collation compares keys: order by $x collation "u" is order by the key of $x.
"""

from __future__ import annotations

from xstreamcast.functions.call import CallContext
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import column_of, one_or, text
from xstreamcast.functions.strings.collations import one_collation
from xstreamcast.model.atomic import BASE64_BINARY
from xstreamcast.model.column import Column


@function("fn:collation-key($key as xs:string) as xs:base64Binary")
@function("fn:collation-key($key as xs:string, $collation as xs:string) as xs:base64Binary")
def collation_key(call: CallContext, key: Column, collation: Column | None = None) -> Column:
    """Bytes that compare as the string does in the collation."""
    order = one_collation(call, collation)
    keys = (order.key(value).encode("utf-32-be", "surrogatepass") for value in one_or(key))
    return column_of(BASE64_BINARY, keys)


@function("fn:default-collation() as xs:string")
def default_collation(call: CallContext) -> Column:
    """The collation of what names none."""
    return text([call.static.collation] * call.n)


@function("xsc:collated($value as xs:anyAtomicType*, $collation as xs:string) as xs:anyAtomicType*")
def collated(call: CallContext, value: Column, collation: Column) -> Column:
    """The values with strings replaced by their keys in a collation."""
    return one_collation(call, collation).column(value)
