"""Functions on strings: building, cutting, searching, normalising."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from math import floor, inf, isnan
from typing import Final

import numpy as np

from xstreamcast.errors import error
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.cast import strings as strings_of
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import integers, lists, many, maybe, one_or, text, truths
from xstreamcast.functions.strings.collations import Collation, one_collation
from xstreamcast.functions.unread import unread
from xstreamcast.model.atomic import FUNCTIONS, INTEGER, NODE, STRING
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.model.query_limits import exceeded, query_limits


@function("fn:string($arg as item()?) as xs:string", doc="The string value of an item.")
def string(call: CallContext, arg: Column) -> Column:
    """Nodes stay unread where each row has one: the text is then created on first use."""
    if FUNCTIONS & arg.items.kinds():
        raise error("FOTY0014")
    if arg.items.tag == NODE and arg.single:
        return Column(Items.text_of(call.store, arg.items.values, STRING))
    filled = arg.with_items(Items(STRING, strings_of(atomize(call, arg).items)))
    return text(one_or(filled, ""))


@function("fn:string() as xs:string", focus=True, doc="The string value of the context item.")
def string_of_context(call: CallContext) -> Column:
    return string(call, call.context_item())


@function(
    "fn:concat($arg1 as xs:anyAtomicType?, $arg2 as xs:anyAtomicType?, ...) as xs:string",
    doc="The arguments as strings, end to end.",
)
def concat(call: CallContext, *args: Column) -> Column:
    parts = [one_or(string(call, arg), "") for arg in args]
    return text(joined(row) for row in zip(*parts, strict=True))


def joined(parts: Sequence[str], glue: str = "") -> str:
    """Strings end to end, unless there is more of it than a string may hold."""
    most = query_limits().max_text
    if sum(map(len, parts)) + len(glue) * len(parts) > most:
        raise exceeded("max_text", f"a string has more than {most:,} characters")
    return glue.join(parts)


@function(
    "fn:string-join($arg1 as xs:anyAtomicType*, $separator as xs:string) as xs:string",
    blocking=(0,),
    doc="The items as strings with the separator between them.",
)
def string_join(call: CallContext, arg: Column, separator: Column) -> Column:
    cells = arg.with_items(Items(STRING, strings_of(arg.items)))
    return text(
        joined(row, glue) for glue, row in zip(one_or(separator, ""), many(cells), strict=True)
    )


@function(
    "fn:string-join($arg1 as xs:anyAtomicType*) as xs:string",
    blocking=(0,),
    doc="The items as strings, end to end.",
)
def string_join_plain(call: CallContext, arg: Column) -> Column:
    cells = arg.with_items(Items(STRING, strings_of(arg.items)))
    return text(joined(row) for row in many(cells))


@function("fn:string-length($arg as xs:string?) as xs:integer", doc="The number of characters.")
def string_length(call: CallContext, arg: Column) -> Column:
    return integers(len(value) for value in one_or(arg, ""))


@function("fn:string-length() as xs:integer", focus=True, doc="Characters of the context item.")
def string_length_of_context(call: CallContext) -> Column:
    return string_length(call, string_of_context(call))


# -- codepoints ------------------------------------------------------------------------------


def is_xml_character(code: int) -> bool:
    """Whether XML 1.0 allows the codepoint."""
    return (
        code in (0x9, 0xA, 0xD)
        or 0x20 <= code <= 0xD7FF
        or 0xE000 <= code <= 0xFFFD
        or 0x10000 <= code <= 0x10FFFF
    )


@function(
    "fn:codepoints-to-string($arg as xs:integer*) as xs:string",
    blocking=(0,),
    doc="The string of the given codepoints.",
)
def codepoints_to_string(call: CallContext, arg: Column) -> Column:
    for code in arg.items.values.tolist():
        if not is_xml_character(code):
            raise error("FOCH0001", f"the codepoint {code} is not an XML character")
    return text("".join(map(chr, row)) for row in many(arg))


@function("fn:string-to-codepoints($arg as xs:string?) as xs:integer*", doc="The codepoints.")
def string_to_codepoints(call: CallContext, arg: Column) -> Column:
    return lists(INTEGER, ([ord(char) for char in value] for value in one_or(arg, "")))


@function(
    "fn:codepoint-equal($a as xs:string?, $b as xs:string?) as xs:boolean?",
    doc="Whether two strings have the same codepoints.",
)
def codepoint_equal(call: CallContext, left: Column, right: Column) -> Column:
    from xstreamcast.model.atomic import BOOLEAN

    both = zip(one_or(left), one_or(right), strict=True)
    return maybe(BOOLEAN, (None if a is None or b is None else a == b for a, b in both))


# -- comparing and searching -----------------------------------------------------------------


@function("fn:compare($a as xs:string?, $b as xs:string?) as xs:integer?", doc="-1, 0 or 1.")
@function(
    "fn:compare($a as xs:string?, $b as xs:string?, $collation as xs:string) as xs:integer?",
    doc="-1, 0 or 1 in the order of a collation.",
)
def compare(
    call: CallContext, left: Column, right: Column, collation: Column | None = None
) -> Column:
    order = one_collation(call, collation)
    both = zip(one_or(order.column(left)), one_or(order.column(right)), strict=True)
    return maybe(INTEGER, (None if a is None or b is None else (a > b) - (a < b) for a, b in both))


Search = Callable[[str, str], bool]


def _search(
    call: CallContext, name: str, hay: Column, needle: Column, test: Search, order: Collation
) -> Column:
    """A search for a constant in unread nodes is one kernel call; else one test a row."""
    needles = one_or(needle, "")
    if not order.plain:
        cells = zip(one_or(hay, ""), needles, strict=True)
        return truths(test(order.folded(a), order.folded(b)) for a, b in cells)
    lazy = unread(hay.items) if hay.single else None
    if lazy is not None and len(needles) > 0 and len(set(needles)) == 1:
        ask = getattr(lazy[0], name)
        return truths(np.asarray(ask(lazy[1], needles[0].encode())))
    return truths(test(a, b) for a, b in zip(one_or(hay, ""), needles, strict=True))


@function("fn:contains($arg1 as xs:string?, $arg2 as xs:string?) as xs:boolean", doc="Substring?")
@function(
    "fn:contains($arg1 as xs:string?, $arg2 as xs:string?, $collation as xs:string) as xs:boolean",
    doc="Whether the second string occurs in the first.",
)
def contains(
    call: CallContext, hay: Column, needle: Column, collation: Column | None = None
) -> Column:
    return _search(
        call, "contains", hay, needle, lambda a, b: b in a, one_collation(call, collation)
    )


@function(
    "fn:starts-with($arg1 as xs:string?, $arg2 as xs:string?) as xs:boolean",
    doc="Whether the first string begins with the second.",
)
@function(
    "fn:starts-with($arg1 as xs:string?, $arg2 as xs:string?, $collation as xs:string)"
    " as xs:boolean",
    doc="Whether the first string begins with the second.",
)
def starts_with(
    call: CallContext, hay: Column, needle: Column, collation: Column | None = None
) -> Column:
    return _search(call, "starts_with", hay, needle, str.startswith, one_collation(call, collation))


@function(
    "fn:ends-with($arg1 as xs:string?, $arg2 as xs:string?) as xs:boolean",
    doc="Whether the first string ends with the second.",
)
@function(
    "fn:ends-with($arg1 as xs:string?, $arg2 as xs:string?, $collation as xs:string) as xs:boolean",
    doc="Whether the first string ends with the second.",
)
def ends_with(
    call: CallContext, hay: Column, needle: Column, collation: Column | None = None
) -> Column:
    return _search(call, "ends_with", hay, needle, str.endswith, one_collation(call, collation))


@function(
    "fn:contains-token($input as xs:string*, $token as xs:string) as xs:boolean",
    doc="Whether a token occurs among the white-space separated tokens of a string.",
)
@function(
    "fn:contains-token($input as xs:string*, $token as xs:string, $collation as xs:string)"
    " as xs:boolean",
    doc="Whether a token occurs among the white-space separated tokens of a string.",
)
def contains_token(
    call: CallContext, hay: Column, token: Column, collation: Column | None = None
) -> Column:
    order = one_collation(call, collation)
    tokens = (value.strip(_SPACE) for value in one_or(token, ""))
    return truths(
        token != "" and any(order.key(token) in map(order.key, _words(value)) for value in row)
        for row, token in zip(many(hay), tokens, strict=True)
    )


# -- cutting ---------------------------------------------------------------------------------


def _round(value: float) -> float:
    """fn:round: halves go up; the infinities and NaN stay."""
    if isnan(value) or value in (inf, -inf):
        return value
    down = float(floor(value))
    return down + (value - down >= 0.5)  # value + 0.5 would round 0.49999999999999994 up


def _cut(value: str, first: float, end: float) -> str:
    """The characters at the positions first, first+1, … before end, counted from 1."""
    if isnan(first) or isnan(end) or end <= 1 or first > len(value):
        return ""
    begin = 0 if first < 1 else int(first) - 1
    return value[begin:] if end == inf else value[begin : int(end) - 1]


@function(
    "fn:substring($source as xs:string?, $start as xs:double) as xs:string",
    doc="The characters from a position on.",
)
def substring_from(call: CallContext, source: Column, start: Column) -> Column:
    both = zip(one_or(source, ""), one_or(start), strict=True)
    return text(_cut(value, _round(first), inf) for value, first in both)


@function(
    "fn:substring($source as xs:string?, $start as xs:double, $length as xs:double) as xs:string",
    doc="So many characters from a position on.",
)
def substring(call: CallContext, source: Column, start: Column, length: Column) -> Column:
    cells = zip(one_or(source, ""), one_or(start), one_or(length), strict=True)
    return text(
        _cut(value, _round(first), _round(first) + _round(count)) for value, first, count in cells
    )


@function(
    "fn:substring-before($arg1 as xs:string?, $arg2 as xs:string?) as xs:string",
    doc="The part before the first occurrence of the second string.",
)
@function(
    "fn:substring-before($arg1 as xs:string?, $arg2 as xs:string?, $collation as xs:string)"
    " as xs:string",
    doc="The part before the first occurrence of the second string.",
)
def substring_before(
    call: CallContext, hay: Column, needle: Column, collation: Column | None = None
) -> Column:
    order = one_collation(call, collation)
    both = zip(one_or(hay, ""), one_or(needle, ""), strict=True)
    if not order.plain:
        return text(value[: (order.find(value, mark) or (0,))[0]] for value, mark in both)
    return text(value.partition(mark)[0] if mark and mark in value else "" for value, mark in both)


@function(
    "fn:substring-after($arg1 as xs:string?, $arg2 as xs:string?) as xs:string",
    doc="The part after the first occurrence of the second string.",
)
@function(
    "fn:substring-after($arg1 as xs:string?, $arg2 as xs:string?, $collation as xs:string)"
    " as xs:string",
    doc="The part after the first occurrence of the second string.",
)
def substring_after(
    call: CallContext, hay: Column, needle: Column, collation: Column | None = None
) -> Column:
    order = one_collation(call, collation)
    both = zip(one_or(hay, ""), one_or(needle, ""), strict=True)
    if not order.plain:
        return text(_after(value, order.find(value, mark)) for value, mark in both)
    return text(value.partition(mark)[2] if mark else value for value, mark in both)


def _after(value: str, place: tuple[int, int] | None) -> str:
    return "" if place is None else value[place[1] :]


# -- changing --------------------------------------------------------------------------------

_SPACE: Final = " \t\r\n"


def _words(value: str) -> list[str]:
    return [word for word in value.translate(_TO_BLANK).split(" ") if word]


_TO_BLANK: Final = str.maketrans("\t\r\n", "   ")


@function(
    "fn:normalize-space($arg as xs:string?) as xs:string",
    doc="White space trimmed at the ends and single inside.",
)
def normalize_space(call: CallContext, arg: Column) -> Column:
    return text(" ".join(_words(value)) for value in one_or(arg, ""))


@function("fn:normalize-space() as xs:string", focus=True, doc="The context item, trimmed.")
def normalize_space_of_context(call: CallContext) -> Column:
    return normalize_space(call, string_of_context(call))


@function(
    "fn:normalize-unicode($arg as xs:string?, $form as xs:string) as xs:string",
    doc="The string in a Unicode normalisation form.",
)
def normalize_unicode(call: CallContext, arg: Column, form: Column) -> Column:
    both = zip(one_or(arg), one_or(form), strict=True)
    return text(
        "" if value is None else _normalised(value, name.strip().upper()) for value, name in both
    )


def _normalised(value: str, form: str) -> str:
    match form:
        case "":
            return value
        case "NFC" | "NFD" | "NFKC" | "NFKD":
            return unicodedata.normalize(form, value)
        case _:
            raise error("FOCH0003", f"the normalisation form must be NFC, NFD, …; got {form}")


@function("fn:normalize-unicode($arg as xs:string?) as xs:string", doc="The string in NFC.")
def normalize_unicode_nfc(call: CallContext, arg: Column) -> Column:
    return text(unicodedata.normalize("NFC", value) for value in one_or(arg, ""))


@function("fn:upper-case($arg as xs:string?) as xs:string", doc="In capital letters.")
def upper_case(call: CallContext, arg: Column) -> Column:
    return text(value.upper() for value in one_or(arg, ""))


@function("fn:lower-case($arg as xs:string?) as xs:string", doc="In small letters.")
def lower_case(call: CallContext, arg: Column) -> Column:
    return text(value.lower() for value in one_or(arg, ""))


@function(
    "fn:translate($arg as xs:string?, $map as xs:string, $trans as xs:string) as xs:string",
    doc="Characters of the map replaced by those at the same place of the third string.",
)
def translate(call: CallContext, arg: Column, source: Column, target: Column) -> Column:
    cells = zip(one_or(arg, ""), one_or(source), one_or(target), strict=True)
    return text(value.translate(_table(a, b)) for value, a, b in cells)


def _table(source: str, target: str) -> dict[int, str | None]:
    table: dict[int, str | None] = {}
    for i, char in enumerate(source):
        table.setdefault(ord(char), target[i] if i < len(target) else None)
    return table
