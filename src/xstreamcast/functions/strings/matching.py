"""Functions with regular expressions: matches, replace, tokenize."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from xstreamcast.errors import error
from xstreamcast.functions.call import CallContext
from xstreamcast.functions.regex import Regex, cutting_regex, regex
from xstreamcast.functions.regex.guarded import Match
from xstreamcast.functions.registry import function
from xstreamcast.functions.rows import lists, one_or, text, truths
from xstreamcast.model.atomic import STRING
from xstreamcast.model.column import Column

_SPACE: Final = re.compile("[ \t\r\n]+")
_DIGITS: Final = "0123456789"


def rows_of(
    call: CallContext, source: Column, pattern: Column, flags: Column | None
) -> Iterator[tuple[str, str, str]]:
    """(text, pattern, flags) of every row; an absent text is the empty one."""
    given = one_or(flags, "") if flags is not None else [""] * call.n
    return zip(one_or(source, ""), one_or(pattern), given, strict=True)


@function("fn:matches($input as xs:string?, $pattern as xs:string) as xs:boolean")
@function(
    "fn:matches($input as xs:string?, $pattern as xs:string, $flags as xs:string) as xs:boolean"
)
def matches(
    call: CallContext, source: Column, pattern: Column, flags: Column | None = None
) -> Column:
    """Whether a regular expression matches some part of the string."""
    return truths(
        regex(sought, given).compiled.search(value) is not None
        for value, sought, given in rows_of(call, source, pattern, flags)
    )


# -- tokenize --------------------------------------------------------------------------------


@function("fn:tokenize($input as xs:string?) as xs:string*")
def words(call: CallContext, source: Column) -> Column:
    """The words of a string, which white space separates."""
    return lists(STRING, ([w for w in _SPACE.split(v) if w] for v in one_or(source, "")))


@function("fn:tokenize($input as xs:string?, $pattern as xs:string) as xs:string*")
@function(
    "fn:tokenize($input as xs:string?, $pattern as xs:string, $flags as xs:string) as xs:string*"
)
def tokenize(
    call: CallContext, source: Column, pattern: Column, flags: Column | None = None
) -> Column:
    """The parts of a string between the matches of a regular expression."""
    cells = rows_of(call, source, pattern, flags)
    return lists(STRING, (_parts(*cell) for cell in cells))


def _parts(value: str, cut: str, flags: str) -> list[str]:
    sought = cutting_regex(cut, flags) if value else regex(cut, flags)
    if value == "":
        return []
    parts, at = [], 0
    for found in sought.compiled.finditer(value):
        parts.append(value[at : found.start()])
        at = found.end()
    return [*parts, value[at:]]


# -- replace ---------------------------------------------------------------------------------


@function(
    "fn:replace($input as xs:string?, $pattern as xs:string, $replacement as xs:string)"
    " as xs:string"
)
@function(
    "fn:replace($input as xs:string?, $pattern as xs:string, $replacement as xs:string,"
    " $flags as xs:string) as xs:string"
)
def replace(
    call: CallContext, source: Column, pattern: Column, by: Column, flags: Column | None = None
) -> Column:
    """The string with every match replaced; $1 in the replacement is the first group."""
    cells = zip(rows_of(call, source, pattern, flags), one_or(by), strict=True)
    return text(
        _replaced(value, cutting_regex(old, given), new) for (value, old, given), new in cells
    )


def _replaced(value: str, old: Regex, new: str) -> str:
    fill = _filler(new, old)
    return old.compiled.sub(fill, value)


def _filler(new: str, old: Regex) -> Callable[[Match], str]:
    """What a match becomes."""
    parts = [new] if old.literal else list(_template(new, old.groups))
    if all(isinstance(part, str) for part in parts):
        constant = "".join(map(str, parts))
        return lambda found: constant
    return lambda found: "".join(
        part if isinstance(part, str) else found[part] or "" for part in parts
    )


def _template(new: str, groups: int) -> Iterator[str | int]:
    """A replacement as texts and numbers of groups; FORX0004."""
    at = 0
    while at < len(new):
        char, after = new[at], new[at + 1 : at + 2]
        if char == "\\":
            if after not in ("\\", "$"):
                raise error("FORX0004", f"a \\ must be written \\\\; got {new!r}")
            yield after
            at += 2
        elif char == "$":
            if not after or after not in _DIGITS:
                raise error("FORX0004", f"a $ must be written \\$ or name a group; got {new!r}")
            number, at = _group(new, at + 1, groups)
            yield number if number <= groups else ""
        else:
            yield char
            at += 1


def _group(new: str, at: int, groups: int) -> tuple[int, int]:
    """The number of a group and where it ends: as many digits as still name one."""
    number = int(new[at])
    at += 1
    while at < len(new) and new[at] in _DIGITS and number * 10 + int(new[at]) <= groups:
        number, at = number * 10 + int(new[at]), at + 1
    return number, at
