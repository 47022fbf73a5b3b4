"""The changes that an answer tells add up to what it holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.model.change import Accumulated
from xstreamcast.operators.answer import Answer, Appended
from xstreamcast.operators.entries import EMPTY

GROUPS = ["a", "b", "c", "d", "e"]
ITEMS = st.lists(st.sampled_from(["x", "y", "z"]), max_size=4)
CONTENTS = st.dictionaries(st.sampled_from(GROUPS), ITEMS, max_size=5)


@given(st.lists(st.tuples(CONTENTS, st.booleans()), max_size=8))
def test_changes_add_up_when_groups_stay_in_their_places(steps):
    answer, told = Answer(), Accumulated()
    held: dict[str, list[str]] = {}
    ranks = {group: i for i, group in enumerate(GROUPS)}
    for contents, restart in steps:
        held |= contents
        for change in answer.revise(contents, 0, ranks):
            told.apply(change)
        answer = Answer(answer.snapshot()) if restart else answer
        assert told.items() == [item for group in GROUPS for item in held.get(group, [])]
        assert answer.items() == told.items()


@given(st.lists(st.tuples(CONTENTS, st.permutations(GROUPS)), max_size=8))
def test_changes_add_up_when_groups_change_places(steps):
    answer, told = Answer(), Accumulated()
    held: dict[str, list[str]] = {}
    for contents, order in steps:
        held |= contents
        for change in answer.revise(contents, 0, order=order):
            told.apply(change)
        assert told.items() == [item for group in order for item in held.get(group, [])]


def test_one_group_that_moves_is_the_only_one_told():
    answer = Answer()
    answer.revise({group: [group] for group in GROUPS}, 0, order=GROUPS)
    changes = answer.revise({}, 0, order=["b", "c", "d", "e", "a"])
    assert [(c.diff, c.key, c.after) for c in changes] == [(-1, "a.0", None), (1, "a.0", "e.0")]


@given(st.lists(ITEMS, max_size=6))
def test_what_stays_keeps_its_name(steps):
    entries = EMPTY
    for items in steps:
        before, entries = entries, entries.revised(items)
        assert [entry.item for entry in entries.listed] == items
        assert len({entry.serial for entry in entries.listed}) == len(items)
        if len(items) > len(before.listed) and items[-len(before.listed) :] == [
            entry.item for entry in before.listed
        ]:
            assert set(before.listed) <= set(entries.listed)


@given(st.lists(ITEMS, max_size=6))
def test_an_answer_that_only_grows_tells_its_items(steps):
    answer, told = Appended(), Accumulated()
    for items in steps:
        for change in answer.add(items, 0):
            told.apply(change)
        answer = Appended(answer.snapshot())
    assert told.items() == [item for items in steps for item in items]
