"""fn:error and fn:trace."""

from __future__ import annotations

from xstreamcast.errors import QueryError, error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import string_value
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import one_or, pairs
from xstreamcast.functions.signature import ERR
from xstreamcast.model.atomic import FUNCTIONS, NODE
from xstreamcast.model.column import Column
from xstreamcast.model.qname import QName


@function("fn:error() as none", deterministic=False)
@function("fn:error($code as xs:QName?) as none", deterministic=False)
@function("fn:error($code as xs:QName?, $description as xs:string) as none", deterministic=False)
@function(
    "fn:error($code as xs:QName?, $description as xs:string, $error-object as item()*) as none",
    deterministic=False,
)
def error_(
    call: CallContext,
    code: Column | None = None,
    description: Column | None = None,
    value: Column | None = None,
) -> Column:
    """Fails with the code (err:FOER0000 by default), the description and the value given."""
    if call.n == 0:
        return Column.empty(0)
    name = (one_or(code)[0] if code else None) or QName(ERR, "FOER0000", "err")
    sentence = one_or(description)[0] if description else None
    held = value.row(0) if value else None
    made = error(name.local, sentence, qname=(name.uri, name.local), value=held, static=False)
    if isinstance(made, QueryError):
        made.prefix = name.prefix
    raise made


@function("fn:trace($value as item()*) as item()*", deterministic=False)
@function("fn:trace($value as item()*, $label as xs:string) as item()*", deterministic=False)
def trace(call: CallContext, value: Column, label: Column | None = None) -> Column:
    """The value itself, written to the trace on its way."""
    labels = one_or(label) if label is not None else [None] * call.n
    for row, name in zip(pairs(value), labels, strict=True):
        shown = ", ".join(_shown(call, tag, item) for tag, item in row) or "()"
        call.trace(f"{name}: {shown}" if name is not None else shown)
    return value


def _shown(call: CallContext, tag: int, value: object) -> str:
    if tag == NODE:
        return str(call.store.serialize(value).decode())
    return "function" if tag in FUNCTIONS else string_value(tag, value)
