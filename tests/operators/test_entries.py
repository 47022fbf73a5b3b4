"""The changes that an answer emits add up to what it holds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from xstreamcast.algebra import plan as p
from xstreamcast.circuit import nodes as c
from xstreamcast.model.change import Accumulated
from xstreamcast.model.delta import Row, RowDelta
from xstreamcast.operators.entries import EMPTY
from xstreamcast.operators.relational.emit import Emit

GROUPS = ["a", "b", "c", "d", "e"]
ITEMS = st.lists(st.sampled_from(["x", "y", "z"]), max_size=4)
CONTENTS = st.dictionaries(st.sampled_from(GROUPS), ITEMS, max_size=5)
VALUE = p.Variable(1, "value")


def emitter() -> Emit:
    """An answer whose rows hold its items as they are written."""
    units = c.Units("s", 0, p.Variable(2, "document"), pieces=True)
    root = c.GrowingWindow(units, None, (VALUE,), answer=True)  # type: ignore[arg-type]
    return Emit(c.Circuit(root, p.Var(VALUE), ("s",)))


def applied(emit: Emit, held: dict[str, Row], now: dict[str, Row], told: Accumulated) -> None:
    """Bring an answer from some rows to others."""
    changed = {k for k in {**held, **now} if held.get(k) != now.get(k)}
    delta = {(k,): RowDelta(held.get(k), now.get(k)) for k in sorted(changed)}
    turn: Any = SimpleNamespace(final={})
    for change in emit.apply(turn, delta, 0, False):
        told.apply(change)


def rows(contents: dict[str, list[str]], order: list[str]) -> dict[str, Row]:
    return {k: Row((order.index(k),), (tuple(items),)) for k, items in contents.items()}  # type: ignore[arg-type]


@given(st.lists(st.tuples(CONTENTS, st.permutations(GROUPS)), max_size=8), st.booleans())
def test_changes_add_up_wherever_rows_stand(steps, fixed):
    emit, told, before = emitter(), Accumulated(), dict[str, Row]()
    for contents, permuted in steps:
        order = GROUPS if fixed else permuted
        now = rows(contents, order)
        applied(emit, before, now, told)
        before = now
        assert told.items() == [item for group in order for item in contents.get(group, [])]
        assert len(emit) == len(told.items())


def test_one_row_that_moves_is_the_only_one_emitted():
    emit, told = emitter(), Accumulated()
    contents = {group: [group] for group in GROUPS}
    before, after = rows(contents, GROUPS), rows(contents, ["b", "c", "d", "e", "a"])
    applied(emit, {}, before, told)
    delta = {(k,): RowDelta(before[k], after[k]) for k in GROUPS}
    turn: Any = SimpleNamespace(final={})
    changes = emit.apply(turn, delta, 0, False)
    assert [(c.diff, c.key, c.after) for c in changes] == [(-1, "a.0", None), (1, "a.0", "e.0")]


@given(st.lists(st.lists(ITEMS, max_size=3), max_size=6), st.data())
def test_rows_that_are_final_are_counted_and_not_kept(steps, data):
    emit, told, count = emitter(), Accumulated(), 0
    expected: list[str] = []
    for added in steps:
        delta = {}
        for items in added:
            delta[(str(count),)] = RowDelta(None, Row((count,), (tuple(items),)))
            expected += items
            count += 1
        final = data.draw(st.integers(0, count))
        turn: Any = SimpleNamespace(final={id(emit._root): {0: final}})
        for change in emit.apply(turn, delta, 0, False):
            told.apply(change)
        assert told.items() == expected
        assert len(emit) == len(expected)
        assert len(emit._entries) <= count - final + 1


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
