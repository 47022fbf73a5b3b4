"""Where the elements begin that are directly below a root that has been opened, and how many.

Markup is followed and nothing else, so comments, CDATA and quoted values cannot mislead it. What
the reader of the bytes might judge otherwise is left to it.
"""

from __future__ import annotations

from typing import Any, Final

from xstreamcast.tape.layout import I64, U8
from xstreamcast.tape.tokenize.load_bytes import (
    WIDTH,
    byte,
    entry,
    first,
    helper,
    inlined,
    intrinsic,
)
from xstreamcast.tape.tokenize.markup_kernels import (
    APOSTROPHE,
    ASK,
    BANG,
    DASH,
    LESS,
    MORE,
    QUOTE,
    SLASH,
    behind_other,
    is_called,
    next_less,
)

RAN_OUT: Final = 0  # the bytes end, between units or inside one
LIMIT: Final = 1  # the next unit is one too many
SAID: Final = 2  # the next unit is none that counts, perhaps
STRANGE: Final = 3  # the next unit, or what follows the last one, is not as it should be
SAFE, COUNT, MARKS, UNIT, BEHIND = range(5)  # in what is told
_INSIDE: Final = -1  # another may begin inside it


@intrinsic
def tag_or_less(typingctx: Any, address: Any) -> Any:
    """Where a tag may end, a quote hides that, or `<` says that it was never closed."""
    from xstreamcast.tape.tokenize.byte_classes import mask

    return mask(lambda v: v.is_any("<>\"'"))


@inlined
def next_in_tag(base: int, at: int, n: int) -> int:
    """The place of the next `<`, `>` or quote; `n` or more without one."""
    while at + WIDTH <= n:
        mask = tag_or_less(base + at)
        if mask != 0:
            return at + first(mask)
        at += WIDTH
    while at < n:
        one = byte(base + at)
        if one in (LESS, MORE, QUOTE, APOSTROPHE):
            return at
        at += 1
    return at


@inlined
def behind_tag(base: int, at: int, n: int) -> int:
    """The place behind the tag that is open here; n + 1 if it does not end, less if it cannot."""
    at = next_in_tag(base, at, n)
    while at < n:
        quote = byte(base + at)
        at += 1
        if quote == MORE:
            return at
        if quote == LESS:
            return _INSIDE
        while at < n and byte(base + at) != quote:
            if byte(base + at) == LESS:
                return _INSIDE
            at += 1
        at = next_in_tag(base, at + 1, n)
    return n + 1


@inlined
def is_word(base: int, at: int, n: int, word: U8) -> bool:
    """Whether these bytes begin with a word."""
    if at + len(word) > n:
        return False
    i = 0
    while i < len(word) and byte(base + at + i) == word[i]:
        i += 1
    return i == len(word)


@helper
def begins_one(base: int, at: int, n: int, prefix: U8, hole: U8, plain: U8, ends: I64) -> bool:
    """Whether the element whose name begins here may be a unit inside one that was not closed."""
    if is_word(base, at, n, prefix):
        return not is_word(base, at + len(prefix), n, hole)
    return bool(is_called(base, at, n, plain, ends))


@inlined
def behind_unit(
    base: int, at: int, n: int, prefix: U8, hole: U8, plain: U8, ends: I64
) -> int:  # fmt: skip
    """The place behind the element that begins here; more than `n` if it does not end."""
    depth = 0
    while at + 1 < n:
        kind = byte(base + at + 1)
        if kind == SLASH:
            depth -= 1
            at = behind_tag(base, at + 2, n)
        elif kind in (BANG, ASK):
            at = behind_other(base, at, n)
        else:
            # of the letters that a word begins with: f, r, s
            if (
                depth > 0
                and (kind == 115 or kind == 102 or kind == 114)
                and begins_one(base, at + 1, n, prefix, hole, plain, ends)
            ):
                return _INSIDE
            at = behind_tag(base, at + 1, n)
            if 0 < at <= n and byte(base + at - 2) != SLASH:
                depth += 1
        if at > n or at < 0 or depth == 0:
            return at
        at = next_less(base, at, n)
    return n + 1


@entry
def unit_places(
    base: int, n: int, at: int, left: int, until: int, step: int, prefix: U8, hole: U8, plain: U8,
    plain_ends: I64, said: U8, said_ends: I64, beat: U8, places: I64, counts: I64, told: I64,
) -> int:  # fmt: skip
    """Follow units from `at` on, at most `left` that count, and not many bytes behind `until`.

    `places` and `counts` get a unit every `step` bytes and how many count before it. `told`: behind
    the last whole unit, how many count, how many marks; of the next unit, where it is and ends.
    What is strange may be so because of the unit before it: then that is not among the whole ones.
    """
    last, before = at, 0
    begin, safe, marked, count, marks = at, at, at, 0, 0
    unit, end, why = at, at, RAN_OUT
    while True:
        unit = next_less(base, at, n)
        while at < unit and byte(base + at) <= 32:
            at += 1
        if at < unit:
            why = STRANGE
            break
        if unit + 3 >= n:
            break
        kind = byte(base + unit + 1)
        if kind == ASK or (kind == BANG and byte(base + unit + 2) == DASH):
            at = behind_other(base, unit, n)
            if at > n:
                break
            continue
        if kind in (BANG, SLASH):
            why = STRANGE
            break
        if (unit >= until and safe > begin) or marks == len(places):
            why = LIMIT
            break
        beats = is_word(base, unit + 1, n, beat)
        counts_not = beats or is_called(base, unit + 1, n, said, said_ends)
        if not counts_not and not begins_one(base, unit + 1, n, prefix, hole, plain, plain_ends):
            why = STRANGE
            break
        if count == left and not counts_not:
            why = LIMIT
            break
        end = behind_unit(base, unit, n, prefix, hole, plain, plain_ends)
        if end > n:
            break
        if end == _INSIDE or (counts_not and not beats):
            why = STRANGE if end == _INSIDE else SAID
            break
        if unit - marked >= step:
            places[marks], counts[marks] = unit, count
            marks, marked = marks + 1, unit
        last, before = unit, count
        count += not beats
        at = safe = end
    if why == STRANGE:
        safe, count = last, before
    told[SAFE], told[COUNT], told[MARKS], told[UNIT], told[BEHIND] = safe, count, marks, unit, end
    return why
