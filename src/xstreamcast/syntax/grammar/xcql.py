"""XCQL: projections, interval comparison and bare times; and the sequential block.

`now`, `start`, `last`, dates and durations are read as times
- inside the brackets of a projection or an interval, save in predicates, braces and after a slash;
- right of a comparison, `+` or `-` whose left side is a time, and right of Allen's words;
- left of a comparison, `+` or `-` whose right side is a time (names only);
- `now` alone on either side of a comparison; a date left of one whose right side is a bound;
- a dateTime anywhere; a duration right of any `+` or `-`; a date before `+` or `-` and a duration;
- `now-PT1H` anywhere: its three parts are separate although XQuery would read one name.
Everywhere else they are what XQuery says: names of children, and subtraction.
"""

from __future__ import annotations

import re
from typing import Final, cast

from xstreamcast.syntax.grammar import expressions, operators
from xstreamcast.syntax.grammar.names import variable
from xstreamcast.syntax.lexing import ALLEN, Cursor
from xstreamcast.syntax.tree import (
    AllenWord,
    ArithmeticExpr,
    Assign,
    AxisStep,
    BlockExpr,
    Expr,
    FunctionCall,
    IntervalComparison,
    IntervalExpr,
    IntervalProjectionExpr,
    Name,
    NameTest,
    PathExpr,
    Sequence,
    TimeConstant,
    TimeKind,
    TimeLiteral,
    VersionProjectionExpr,
)

_PERIOD: Final = (
    r"P(?=\d|T\d)(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"
)
_DURATION: Final = re.compile(_PERIOD, re.ASCII)
_CONSTANT: Final = re.compile(r"now|start|last")
_TIED: Final = re.compile(rf"(?:now|start|last)-{_PERIOD}", re.ASCII)
_ZONE: Final = r"(?:Z|[+-]\d\d:\d\d)?"
_DATETIME: Final = re.compile(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?{_ZONE}", re.ASCII)
_DATE: Final = re.compile(rf"\d{{4}}-\d\d-\d\d{_ZONE}(?![\d.])", re.ASCII)
_BEFORE_TIME: Final = re.compile(
    r"\s*[+-]\s*P[\dT]|\s*(?:[<>]=?|!?=|\b(?:eq|ne|lt|le|gt|ge)\b)\s*(?:vt(?:From|To)\s*\(|now\b)",
    re.ASCII,
)


def projection(cur: Cursor, base: Expr, start: int) -> Expr:
    """`base?[t1, t2]` or `base#[v1, v2]`, the cursor at the mark."""
    versions = cur.take("#")
    if not versions:
        cur.take("?")
    first, last = _bounds(cur)
    if versions:
        return VersionProjectionExpr(base, first, last, cur.span(start))
    return IntervalProjectionExpr(base, first, last, cur.span(start))


def _bounds(cur: Cursor) -> tuple[Expr, Expr | None]:
    """`[a]` or `[a, b]`."""
    time, cur.time = cur.time, True
    cur.expect("[")
    first = expressions.expr_single(cur)
    last = expressions.expr_single(cur) if cur.take(",") else None
    cur.expect("]")
    cur.time = time
    return first, last


def leading_interval(cur: Cursor) -> Expr | None:
    """`[a, b] before e`; None, the cursor left in its place, if the brackets are no interval."""
    start = cur.pos
    if cur.text[cur.skip_from(start + 1)] == "]":
        return None
    time, cur.time = cur.time, True
    cur.take("[")
    first = expressions.expr_single(cur)
    last = expressions.expr_single(cur) if cur.take(",") else None
    cur.time = time
    if not cur.take("]") or cur.word() not in ALLEN:
        cur.pos = start
        return None
    left = IntervalExpr(first, last, cur.span(start))
    word = cur.word()
    cur.take_word(word)
    return interval_comparison(cur, word, left, start)


def interval_comparison(cur: Cursor, word: str, left: Expr | IntervalExpr, start: int) -> Expr:
    """`left before right`, the cursor behind the word."""
    begin = cur.pos
    right: Expr | IntervalExpr
    if cur.at("["):
        first, last = _bounds(cur)
        right = IntervalExpr(first, last, cur.span(begin))
    else:
        right = in_time(cur, True, operators.CONCAT)
    if not isinstance(left, IntervalExpr):
        left = as_time(left)
    return IntervalComparison(cast(AllenWord, word), left, right, cur.span(start))


def in_time(cur: Cursor, time: bool, loosest: int) -> Expr:
    """The right operand of an operator; bare times are read in it if `time`."""
    before = cur.time
    cur.time = before or time
    right = operators.binary(cur, loosest)
    cur.time = before
    return right


def temporal(value: Expr) -> bool:
    """Is the expression a time by its looks?"""
    match value:
        case TimeConstant() | TimeLiteral():
            return True
        case FunctionCall(name):
            return _is_bound(name)
        case AxisStep("attribute", NameTest(name)) | PathExpr(
            _, (*_, AxisStep("attribute", NameTest(name)))
        ):
            return _is_bound(name)
        case ArithmeticExpr("+" | "-", left, right):
            return temporal(right) or temporal(left)
        case ArithmeticExpr("*" | "div", left):
            return temporal(left)
        case _:
            return False


def _is_bound(name: Name) -> bool:
    """`vtFrom` or `vtTo`, as a function or as an attribute."""
    return name.local in ("vtFrom", "vtTo") and not name.prefix and name.uri is None


def both_in_time(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """A bare name next to a time is a time."""
    return (as_time(left) if temporal(right) else left), right


def compared_in_time(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    """Both sides of a comparison: `now` is the clock."""
    return both_in_time(_as_now(left), _as_now(right))


def _as_now(value: Expr) -> Expr:
    match value:
        case AxisStep("child", NameTest(name), ()) if _is_bare(name, value.span):
            return _constant("now", value.span) if name.local == "now" else value
        case _:
            return value


def as_time(value: Expr) -> Expr:
    """`now`, `start`, `last` or a duration that was read as a child."""
    match value:
        case AxisStep("child", NameTest(name), ()) if _is_bare(name, value.span):
            if _CONSTANT.fullmatch(name.local):
                return _constant(name.local, value.span)
            return as_duration(value)
        case _:
            return value


def as_duration(value: Expr) -> Expr:
    """A duration that was read as a child, or a multiple of one."""
    match value:
        case AxisStep("child", NameTest(name), ()) if _is_bare(name, value.span):
            if _DURATION.fullmatch(name.local):
                return _duration(name.local, value.span)
            return value
        case ArithmeticExpr("*" | "div" as operator, left, right):
            return ArithmeticExpr(operator, as_duration(left), right, value.span)
        case _:
            return value


def _is_bare(name: Name, span: tuple[int, int]) -> bool:
    """`now`, not `child::now`."""
    return not name.prefix and name.uri is None and span[1] - span[0] == len(name.local)


def _constant(word: str, span: tuple[int, int]) -> TimeConstant:
    return TimeConstant("now" if word == "now" else "start" if word == "start" else "last", span)


def _duration(text: str, span: tuple[int, int]) -> TimeLiteral:
    date, _, clock = text.partition("T")
    months = "Y" in date or "M" in date
    days = "D" in date or bool(clock)
    kind: TimeKind = "duration" if months and days else "dayTimeDuration"
    return TimeLiteral("yearMonthDuration" if months and not days else kind, text, span)


def bare_time(cur: Cursor) -> Expr | None:
    """`now`, `start`, `last` or a duration at the cursor, where it is to be read as such."""
    word = cur.word()
    if word[0] not in "nslP" or not (cur.time or _TIED.fullmatch(word)):
        return None
    found = _CONSTANT.match(word) or _DURATION.match(word)
    if not found or not _ends_there(word[found.end() :]):
        return None
    if cur.word_then("(", "/", ":", "#"):
        return None
    return _take(cur, found.group())


def _ends_there(rest: str) -> bool:
    """`now-PT1H` and `last-1` are subtractions; `now-and-then` is a name."""
    return not rest or (rest[0] == "-" and (rest[1:2].isdigit() or rest[1:2] == "P"))


def _take(cur: Cursor, text: str) -> Expr:
    start = cur.pos
    cur.advance(len(text))
    span = cur.span(start)
    return _duration(text, span) if text[0] == "P" else _constant(text, span)


def bare_date(cur: Cursor) -> Expr | None:
    """A date or dateTime at the cursor, where it is to be read as such."""
    start = cur.pos
    if cur.text[start + 4 : start + 5] != "-":
        return None
    found = _DATETIME.match(cur.text, start)
    kind: TimeKind = "dateTime"
    if not found:
        found = _DATE.match(cur.text, start)
        kind = "date"
        if not found or not (cur.time or _BEFORE_TIME.match(cur.text, found.end())):
            return None
    cur.pos = found.end()
    cur.skip()
    return TimeLiteral(kind, found.group(), cur.span(start))


def block(cur: Cursor) -> Expr:
    """`{ set $v := e; …; result }`."""
    start = cur.pos
    if not cur.sequential:
        hint = "a block needs 'declare execution sequential;' in the prolog"
        raise cur.error("XPST0003", "expected an expression; got '{'", (start, start + 1), hint)
    cur.take("{")
    statements = [_statement(cur)]
    while cur.take(";"):
        statements.append(Sequence(span=cur.span(start)) if cur.at("}") else _statement(cur))
    cur.expect("}")
    result = statements.pop()
    if isinstance(result, Assign):
        statements.append(result)
        result = Sequence(span=cur.span(start))
    return BlockExpr(tuple(statements), result, cur.span(start)) if statements else result


def _statement(cur: Cursor) -> Assign | Expr:
    start = cur.pos
    if cur.word() != "set" or not cur.word_then("$"):
        return expressions.expr(cur)
    cur.take_word("set")
    name = variable(cur)
    cur.expect(":=")
    return Assign(name, expressions.expr_single(cur), cur.span(start))


def looks_like_time(word: str) -> bool:
    """Could the word, written bare, be read as a time somewhere?"""
    found = _CONSTANT.match(word) or _DURATION.match(word)
    return found is not None and word[found.end() : found.end() + 1] in ("", "-")
