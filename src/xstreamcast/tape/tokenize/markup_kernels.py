"""Following the markup of a document and nothing else: what bytes leave open, places to cut at.

Comments, CDATA, processing instructions, quoted values and a DOCTYPE may contain what looks like
tags; they are skipped as such. Names and well-formedness are for those who read it afterwards.
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
    tag_stops,
)

LESS, MORE, SLASH, BANG, ASK, DASH = 60, 62, 47, 33, 63, 45
OPEN_BRACKET, CLOSE_BRACKET, QUOTE, APOSTROPHE, COLON = 91, 93, 34, 39, 58
UNFINISHED: Final = -1  # the bytes end inside markup, or too many elements were closed
FULL: Final = -2  # more elements are open than there is room for
NOWHERE: Final = -3  # no place
AT, DEPTH, WHOLE, HELD = range(4)  # in the state of `next_place`
EXIT, CLOSED, BELOW = range(3)  # in what `left_open` tells


@intrinsic
def less_stops(typingctx: Any, address: Any) -> Any:
    """Where `<` is in the next bytes."""
    from xstreamcast.tape.tokenize.byte_classes import mask

    return mask(lambda v: v.is_any("<"))


@inlined
def next_less(base: int, at: int, n: int) -> int:
    """The place of the next `<`, `n` without one. No byte at or behind `n` is read."""
    while at + WIDTH <= n:
        mask = less_stops(base + at)
        if mask != 0:
            return at + first(mask)
        at += WIDTH
    while at < n and byte(base + at) != LESS:
        at += 1
    return at


@inlined
def next_stop(base: int, at: int, n: int) -> int:
    """The place of the next `>` or quote; `n` or more without one."""
    while at + WIDTH <= n:
        mask = tag_stops(base + at)
        if mask != 0:
            return at + first(mask)
        at += WIDTH
    while at < n:
        one = byte(base + at)
        if one in (MORE, QUOTE, APOSTROPHE):
            return at
        at += 1
    return at


@inlined
def behind_tag(base: int, at: int, n: int) -> int:
    """The place behind the tag that is open here; n + 1 if it does not end."""
    at = next_stop(base, at, n)
    while at < n:
        quote = byte(base + at)
        at += 1
        if quote == MORE:
            return at
        while at < n and byte(base + at) != quote:
            at += 1
        at = next_stop(base, at + 1, n)
    return n + 1


@helper
def behind(base: int, at: int, n: int, one: int, two: int) -> int:
    """The place behind the next three bytes that end in `>`; n + 1 without. 0: any byte."""
    while at + 2 < n:
        if (
            byte(base + at + 2) == MORE
            and byte(base + at + 1) == two
            and (one == 0 or byte(base + at) == one)
        ):
            return at + 3
        at += 1
    return n + 1


@inlined
def is_comment(base: int, at: int, n: int) -> bool:
    return at + 3 < n and byte(base + at + 1) == BANG and byte(base + at + 2) == DASH


@helper
def behind_doctype(base: int, at: int, n: int) -> int:
    depth = 0
    while at < n:
        one = byte(base + at)
        if one in (QUOTE, APOSTROPHE):
            at += 1
            while at < n and byte(base + at) != one:
                at += 1
        elif one == LESS and is_comment(base, at, n):
            at = behind(base, at + 4, n, DASH, DASH) - 1
        elif one == LESS and at + 1 < n and byte(base + at + 1) == ASK:
            at = behind(base, at + 1, n, 0, ASK) - 1
        elif one == OPEN_BRACKET:
            depth += 1
        elif one == CLOSE_BRACKET:
            depth -= 1
        elif one == MORE and depth <= 0:
            return at + 1
        at += 1
    return n + 1


@helper
def behind_other(base: int, at: int, n: int) -> int:
    """The place behind a comment, CDATA section, processing instruction or DOCTYPE."""
    if byte(base + at + 1) == ASK:
        return behind(base, at + 1, n, 0, ASK)
    if is_comment(base, at, n):
        return behind(base, at + 4, n, DASH, DASH)
    if at + 2 < n and byte(base + at + 2) == OPEN_BRACKET:
        return behind(base, at + 9, n, CLOSE_BRACKET, CLOSE_BRACKET)
    return behind_doctype(base, at + 2, n)


@helper
def is_called(base: int, at: int, n: int, names: U8, ends: I64) -> bool:
    """Whether the element whose name begins here is called by one of the names."""
    begin = at
    while at < n:
        one = byte(base + at)
        if one == COLON:
            begin = at + 1
        if one in (MORE, SLASH) or one <= 32:
            break
        at += 1
    low = 0
    for i in range(len(ends)):
        high = ends[i]
        if high - low == at - begin:
            j = 0
            while j < high - low and names[low + j] == byte(base + begin + j):
                j += 1
            if j == high - low:
                return True
        low = high
    return False


@entry
def first_less(base: int, at: int, n: int) -> int:
    """The place of the first `<` from here on; `n` without one."""
    found: int = next_less(base, at, n)
    return found


@entry
def has_name(base: int, at: int, n: int, names: U8, ends: I64) -> bool:
    """Whether the start tag that begins here has one of the names."""
    found: bool = is_called(base, at + 1, n, names, ends)
    return found


@entry
def left_open(
    base: int, n: int, at: int, end: int, held: U8, ends: I64, stack: I64, flags: U8, told: I64
) -> int:
    """What the markup from the `<` at `at` to the first one at or behind `end` does.

    `stack`: where the start tags begin that it leaves open; `flags`: which of them have a held
    child. `told`: where it stops; how many elements it closes that it did not open; whether a held
    child is below the one around those. → how many it leaves open.
    """
    count, closed, below = 0, 0, 0
    while at < end:
        if at + 1 >= n:
            return UNFINISHED
        kind = byte(base + at + 1)
        if kind == SLASH:
            if count > 0:
                count -= 1
            else:
                closed, below = closed + 1, 0
            at = behind_tag(base, at + 2, n)
        elif kind in (BANG, ASK):
            at = behind_other(base, at, n)
        else:
            if len(ends) > 0 and is_called(base, at + 1, n, held, ends):
                if count > 0:
                    flags[count - 1] = 1
                else:
                    below = 1
            if count == len(stack):
                return FULL
            begin = at
            at = behind_tag(base, at + 1, n)
            if at <= n and byte(base + at - 2) != SLASH:
                stack[count], flags[count] = begin, 0
                count += 1
        if at > n:
            return UNFINISHED
        at = next_less(base, at, n)
    told[EXIT], told[CLOSED], told[BELOW] = at, closed, below
    return count


@entry
def next_place(
    base: int, n: int, end: int, level: int, wanted: int, names: U8, ends: I64, held: U8,
    held_ends: I64, open_: I64, state: I64,
) -> int:  # fmt: skip
    """The next place before an element whose parent is at most `level` deep, from `wanted` on.

    None is inside an element with one of the names, nor behind a held one below the same parent.
    `open_` has where the start tags begin that are open there. Nothing at or behind `end` is looked
    at, where UNFINISHED markup was looked for before. → the place, or NOWHERE.
    """
    at, depth, whole, held_at = state[AT], state[DEPTH], state[WHOLE], state[HELD]
    while at < end:
        kind = byte(base + at + 1)
        if kind == SLASH:
            depth -= 1
            whole = 0 if depth < whole else whole
            held_at = 0 if depth < held_at else held_at
            at = behind_tag(base, at + 2, n)
        elif kind in (BANG, ASK):
            at = behind_other(base, at, n)
        else:
            inside = whole > 0 or held_at > 0 or depth == 0 or depth > level
            if at >= wanted and not inside:
                state[AT], state[DEPTH], state[WHOLE], state[HELD] = at, depth, whole, held_at
                return at
            if not inside and len(held_ends) > 0 and is_called(base, at + 1, n, held, held_ends):
                held_at = depth
            begin = at
            at = behind_tag(base, at + 1, n)
            if byte(base + at - 2) != SLASH:
                if depth < level:
                    open_[depth] = begin
                    if whole == 0 and is_called(base, begin + 1, n, names, ends):
                        whole = depth + 1
                depth += 1
        at = next_less(base, at, n)
    state[AT], state[DEPTH], state[WHOLE], state[HELD] = at, depth, whole, held_at
    return NOWHERE
