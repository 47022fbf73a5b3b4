"""Where windows begin and end, against the definition followed item by item."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.errors import error
from xstreamcast.evaluate.flwor import boundaries as b
from xstreamcast.model.column import offsets_of

Window = tuple[int, int]
Ends = Callable[[int, int], bool]

rows = st.lists(st.lists(st.booleans(), max_size=40), min_size=1, max_size=4)
modulus, width = st.integers(1, 7), st.integers(0, 30)


def _laid_out(starts: list[list[bool]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lengths = np.array([len(row) for row in starts], np.int64)
    offsets = offsets_of(lengths)
    flat = np.array([flag for row in starts for flag in row], np.bool_)
    return flat, offsets, np.repeat(offsets[1:], lengths)


def _by_definition(
    starts: list[list[bool]], ends: Ends, only: bool, tumbling: bool
) -> list[Window]:
    found, base = [], 0
    for row in starts:
        at, stop = base, base + len(row)
        while at < stop:
            if not row[at - base]:
                at += 1
                continue
            end = next((j for j in range(at, stop) if ends(at, j)), None)
            if end is not None or not only:
                found.append((at, stop - 1 if end is None else end))
            at = (stop if end is None else end + 1) if tumbling else at + 1
        base = stop
    return found


def _pairs(ends: Ends) -> b.PairTest:
    return lambda first, last: np.array(
        [ends(i, j) for i, j in zip(first.tolist(), last.tolist(), strict=True)], np.bool_
    )


def _windows(found: b.Bounds) -> list[Window]:
    return list(zip(found.first.tolist(), found.last.tolist(), strict=True))


@given(rows, modulus, width, st.booleans())
def test_tumbling_windows_follow_their_definition(
    starts: list[list[bool]], by: int, size: int, only: bool
) -> None:
    flat, offsets, stop = _laid_out(starts)

    def ends(i: int, j: int) -> bool:
        return (j - i >= size) and (i + j) % by == 0

    found = b.tumbling(flat, offsets, stop, _pairs(ends), only)
    assert _windows(found) == _by_definition(starts, ends, only, tumbling=True)


@given(rows, modulus, width, st.booleans())
def test_sliding_windows_follow_their_definition(
    starts: list[list[bool]], by: int, size: int, only: bool
) -> None:
    flat, _, stop = _laid_out(starts)

    def ends(i: int, j: int) -> bool:
        return (j - i >= size) and (i + j) % by == 0

    found = b.sliding(flat, stop, _pairs(ends), only)
    assert _windows(found) == _by_definition(starts, ends, only, tumbling=False)


@given(rows, modulus, st.booleans())
def test_ends_known_beforehand_give_the_same_windows(
    starts: list[list[bool]], by: int, only: bool
) -> None:
    flat, offsets, stop = _laid_out(starts)
    ends = np.arange(len(flat)) % by == 0
    one_by_one = _pairs(lambda i, j: bool(ends[j]))
    for known, asked in (
        (b.sliding(flat, stop, ends, only), b.sliding(flat, stop, one_by_one, only)),
        (
            b.tumbling(flat, offsets, stop, ends, only),
            b.tumbling(flat, offsets, stop, one_by_one, only),
        ),
        (b.landmark(flat, stop, ends, only), b.landmark(flat, stop, one_by_one, only)),
    ):
        assert _windows(known) == _windows(asked)


def test_no_error_comes_from_an_item_after_the_end() -> None:
    def test(first: np.ndarray, last: np.ndarray) -> np.ndarray:
        if (last > 2).any():
            raise error("FOAR0001")
        hit: np.ndarray = last == 2
        return hit

    stop = np.full(9, 9, np.int64)
    assert b.first_ends(np.array([0, 1]), stop, test).tolist() == [2, 2]


def test_an_error_before_the_end_is_one() -> None:
    def test(first: np.ndarray, last: np.ndarray) -> np.ndarray:
        raise error("FOAR0001")

    with pytest.raises(Exception, match="FOAR0001"):
        b.first_ends(np.array([0]), np.full(3, 3, np.int64), test)
