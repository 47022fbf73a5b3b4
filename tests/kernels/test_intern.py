"""Texts as numbers, and links that must not lead back: the same as dictionaries and graphs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.kernels.acyclic import ContainmentLinks
from xstreamcast.kernels.intern import Ids

texts = st.lists(st.text(st.sampled_from("01é "), max_size=3) | st.text(max_size=40), max_size=60)


@given(texts, st.integers(1, 4))
def test_codes_are_those_of_a_dictionary(words: list[str], room: int) -> None:
    ids, known = Ids(room=1 << room), dict[str, int]()
    expected = [known.setdefault(word, len(known)) for word in words]
    raw = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, raw)])
    heap = np.frombuffer(b"".join(raw) + b"\0", np.uint8)
    lengths = np.array([len(one) for one in raw], np.int32)
    assert ids.codes(heap, ends[:-1].astype(np.int64), lengths).tolist() == expected
    assert [ids.code(word) for word in words] == expected
    assert [ids.text(code) for code in range(len(ids))] == list(known)


def test_a_length_below_zero_is_no_text() -> None:
    heap, start = np.zeros(4, np.uint8), np.zeros(2, np.int64)
    assert Ids().codes(heap, start, np.array([-1, 0], np.int32)).tolist() == [-1, 0]


@given(
    st.lists(
        st.tuples(st.lists(st.text("abc", max_size=4), max_size=12), st.sets(st.integers(0, 30)))
    ),
    st.integers(1, 4),
)
def test_codes_taken_back_are_given_to_other_texts(
    steps: list[tuple[list[str], set[int]]], room: int
) -> None:
    ids, known = Ids(room=1 << room), dict[str, int]()
    for words, needed in steps:
        for word in words:
            code = ids.code(word)
            free = min(set(range(len(known) + 1)) - set(known.values()))
            assert code == known.setdefault(word, free)
        mask = np.array([code in needed for code in range(len(ids))], np.bool_)
        gone = ids.take_back(mask)
        assert sorted(gone.tolist()) == sorted(set(known.values()) - needed)
        known = {word: code for word, code in known.items() if code in needed}
        assert ids.texts == ids.kept == len(known)
        assert {ids.text(code): code for code in known.values()} == known
        other = Ids()
        other.fill(*ids.packed())
        assert {other.text(code): code for code in known.values()} == known
        more = [f"new {n}" for n in range(4)]
        assert [other.code(word) for word in (*known, *more)] == [
            ids.code(word) for word in (*known, *more)
        ]
        known |= {word: ids.code(word) for word in more}


def test_the_table_does_not_grow_with_texts_that_went() -> None:
    ids = Ids(room=64)
    for number in range(10_000):
        ids.code(f"a text with the number {number}")
        if number % 32 == 31:
            ids.take_back(np.zeros(len(ids), np.bool_))
    assert ids.texts == 16
    assert ids.nbytes < 8000


codes = st.integers(0, 7)
groups = st.lists(st.tuples(codes, st.lists(codes, max_size=3)), max_size=30)


@given(groups, st.integers(1, 5))
def test_what_leads_back_is_refused_and_nothing_else(
    given_groups: list[tuple[int, list[int]]], size: int
) -> None:
    links, below = ContainmentLinks(), {code: set[int]() for code in range(8)}
    for at in range(0, len(given_groups), size):
        part = given_groups[at : at + size]
        rows = [(i, above, one) for i, (above, inside) in enumerate(part) for one in inside]
        group, above, content = np.array(rows, np.int32).reshape(-1, 3).T.copy()
        bad = links.take(group, above, content, 8)
        for i, (container, inside) in enumerate(part):
            fits = not any(container == one or container in reach(below, one) for one in inside)
            assert set(bad[group == i].tolist()) == ({not fits} if inside else set())
            if fits:
                below[container] |= set(inside)


def reach(below: dict[int, set[int]], top: int) -> set[int]:
    seen, todo = set[int](), [top]
    while todo:
        fresh = below[todo.pop()] - seen
        seen |= fresh
        todo.extend(fresh)
    return seen
