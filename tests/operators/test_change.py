"""Changes as lines, and what they add up to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.errors import InputError
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.instant import START

INSTANTS = st.one_of(st.just(START), st.integers(-(10**15), 10**15))


@given(INSTANTS, st.sampled_from([1, -1]), st.text(), st.none() | st.text(), st.text())
def test_a_change_comes_back_from_its_line(instant, diff, key, after, item):
    change = Change(instant, diff, key, after, item)
    assert Change.from_json(change.to_json()) == change
    assert "\n" not in change.to_json()


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9), st.text(max_size=2)), max_size=40))
def test_accumulated_changes_are_a_list_with_names(steps):
    kept: list[tuple[str, str]] = []
    answer = Accumulated()
    for number, (take, place, item) in enumerate(steps):
        if take and kept:
            key, gone = kept.pop(place % len(kept))
            answer.apply(Change(0, -1, key, None, gone))
        else:
            at = place % (len(kept) + 1)
            after = kept[at - 1][0] if at else None
            kept.insert(at, (f"k{number}", item))
            answer.apply(Change(0, 1, f"k{number}", after, item))
        assert list(answer) == kept
        assert len(answer) == len(kept)


@pytest.mark.parametrize(
    "change",
    [
        Change(0, -1, "b", None, ""),
        Change(0, 1, "a", None, ""),
        Change(0, 1, "b", "c", ""),
    ],
)
def test_a_change_that_does_not_fit_is_refused(change):
    answer = Accumulated([Change(0, 1, "a", None, "x")])
    with pytest.raises(InputError, match="which is"):
        answer.apply(change)
    assert list(answer) == [("a", "x")]


@pytest.mark.parametrize("line", ["", "[]", '{"time":"yesterday","diff":1}', '{"diff":2}'])
def test_a_line_that_is_no_change_is_refused(line):
    with pytest.raises(InputError, match="a change must have"):
        Change.from_json(line)
