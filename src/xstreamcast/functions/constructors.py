"""Constructor functions: xs:integer(…) and its siblings, one row for each atomic type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import cast, cast_numeric, strings
from xstreamcast.functions.cast.facets import as_string_type, collapse
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import lists, maybe
from xstreamcast.model.atomic import ATOMIC
from xstreamcast.model.column import Column

_ABSTRACT: Final = frozenset({"anyAtomicType", "NOTATION"})
_LISTS: Final = {"NMTOKENS": "NMTOKEN", "IDREFS": "IDREF", "ENTITIES": "ENTITY"}


def _constructor(tag: int) -> Callable[[CallContext, Column], Column]:
    def construct(call: CallContext, arg: Column) -> Column:
        return arg.with_items(cast(arg.items, tag, call.static.in_scope))

    return construct


def _list_constructor(name: str, tag: int) -> Callable[[CallContext, Column], Column]:
    def split(text: str) -> list[str]:
        words = collapse(text).split(" ")
        if words == [""]:
            raise error("FORG0001", f"an xs:{name} has at least one word")
        return [as_string_type(tag, word) for word in words]

    def construct(call: CallContext, arg: Column) -> Column:
        texts = iter(strings(arg.items).tolist())
        return lists(tag, [split(next(texts)) if k else [] for k in arg.lengths().tolist()])

    return construct


for _row in ATOMIC.values():
    if _row.name not in _ABSTRACT:
        function(
            f"xs:{_row.name}($arg as xs:anyAtomicType?) as xs:{_row.name}?",
            doc=f"The argument cast to xs:{_row.name}.",
        )(_constructor(_row.tag))

for _name, _member in _LISTS.items():
    function(
        f"xs:{_name}($arg as xs:anyAtomicType?) as xs:{_member}*",
        doc=f"The words of the argument, each an xs:{_member}.",
    )(_list_constructor(_name, ATOMIC[_member].tag))


@function("xs:numeric($arg as xs:anyAtomicType?) as xs:numeric?")
def numeric(call: CallContext, arg: Column) -> Column:
    """A number as it is, anything else cast to xs:double."""
    return arg.with_items(cast_numeric(arg.items))


@function("xs:error($arg as xs:anyAtomicType?) as empty-sequence()")
def no_value(call: CallContext, arg: Column) -> Column:
    """The type without values: an error for every argument but ()."""
    if len(arg.items):
        raise error("FORG0001", "xs:error has no values")
    return maybe(ATOMIC["string"].tag, [None] * call.n)
