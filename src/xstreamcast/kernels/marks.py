"""Places between elements of a document, found by following its markup and nothing else.

Comments, CDATA, processing instructions, quoted values and a DOCTYPE may contain what looks like
tags; they are skipped as such. Names and well-formedness are for those who read it afterwards.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from xstreamcast.kernels.compiled import kernel, part

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]

LESS, MORE, SLASH, BANG, ASK, DASH = 60, 62, 47, 33, 63, 45
OPEN_BRACKET, CLOSE_BRACKET, QUOTE, APOSTROPHE, COLON = 91, 93, 34, 39, 58
UNFINISHED: Final = -1  # the bytes end inside markup, or too many elements were closed


@part
def _behind(data: U8, at: int, one: int, two: int, three: int) -> int:
    """The place behind the next three bytes like these; the end if there are none. 0: any byte."""
    n = len(data)
    while at + 2 < n:
        if data[at + 2] == three and data[at + 1] == two and (one == 0 or data[at] == one):
            return at + 3
        at += 1
    return n + 1


@part
def _behind_tag(data: U8, at: int) -> int:
    """The place behind the tag that is open here."""
    n = len(data)
    while at < n:
        byte = data[at]
        if byte == MORE:
            return at + 1
        at += 1
        if byte in (QUOTE, APOSTROPHE):
            while at < n and data[at] != byte:
                at += 1
            at += 1
    return n + 1


@part
def _behind_doctype(data: U8, at: int) -> int:
    n, depth = len(data), 0
    while at < n:
        byte = data[at]
        if byte in (QUOTE, APOSTROPHE):
            at += 1
            while at < n and data[at] != byte:
                at += 1
        elif byte == LESS and at + 3 < n and data[at + 1] == BANG and data[at + 2] == DASH:
            at = _behind(data, at + 4, DASH, DASH, MORE) - 1
        elif byte == LESS and at + 1 < n and data[at + 1] == ASK:
            at = _behind(data, at + 1, 0, ASK, MORE) - 1
        elif byte == OPEN_BRACKET:
            depth += 1
        elif byte == CLOSE_BRACKET:
            depth -= 1
        elif byte == MORE and depth <= 0:
            return at + 1
        at += 1
    return n + 1


@part
def _is_called(data: U8, at: int, names: U8, ends: I64) -> bool:
    """Whether the element whose name begins here is called by one of the names."""
    n, begin = len(data), at
    while at < n:
        byte = data[at]
        if byte == COLON:
            begin = at + 1
        if byte in (MORE, SLASH) or byte <= 32:
            break
        at += 1
    low = 0
    for i in range(len(ends)):
        high = ends[i]
        if high - low == at - begin:
            same = True
            for j in range(high - low):
                if names[low + j] != data[begin + j]:
                    same = False
                    break
            if same:
                return True
        low = high
    return False


@kernel
def marks(
    data: U8, level: int, step: int, names: U8, ends: I64, held: U8, held_ends: I64, found: I64
) -> int:
    """Places before elements whose parents are at most `level` deep, about `step` bytes apart.

    Each row of `found` gets the place, the depth, and where the start tags of the elements that are
    open there begin. No place is inside an element with one of the names, nor behind a held one
    below the same parent. → how many there are.
    """
    n, at, depth, whole, count, wanted, held_at = len(data), 0, 0, 0, 0, step, 0
    open_ = np.zeros(level + 1, np.int64)
    while at < n:
        if data[at] != LESS:
            at += 1
            continue
        if at + 1 >= n:
            return UNFINISHED
        kind = data[at + 1]
        if kind == SLASH:
            depth -= 1
            if depth < 0:
                return UNFINISHED
            if depth < whole:
                whole = 0
            if depth < held_at:
                held_at = 0
            at = _behind_tag(data, at + 2)
        elif kind == BANG:
            if at + 3 < n and data[at + 2] == DASH:
                at = _behind(data, at + 4, DASH, DASH, MORE)
            elif at + 2 < n and data[at + 2] == OPEN_BRACKET:
                at = _behind(data, at + 9, CLOSE_BRACKET, CLOSE_BRACKET, MORE)
            else:
                at = _behind_doctype(data, at + 2)
        elif kind == ASK:
            at = _behind(data, at + 1, 0, ASK, MORE)
        else:
            if at >= wanted and 0 < depth <= level and whole == 0 and held_at == 0:
                if count == len(found):
                    return count
                found[count, 0], found[count, 1] = at, depth
                for i in range(depth):
                    found[count, 2 + i] = open_[i]
                count += 1
                wanted = at + step
            inside = whole > 0 or held_at > 0 or depth == 0 or depth > level
            if not inside and len(held_ends) and _is_called(data, at + 1, held, held_ends):
                held_at = depth
            if depth < level:
                open_[depth] = at
                if whole == 0 and _is_called(data, at + 1, names, ends):
                    whole = depth + 1
            depth += 1
            at = _behind_tag(data, at + 1)
            if at <= n and data[at - 2] == SLASH:
                depth -= 1
                if depth < whole:
                    whole = 0
    if at > n or depth != 0:
        return UNFINISHED
    return count
