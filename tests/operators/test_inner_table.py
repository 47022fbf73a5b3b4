"""Values by unit: whatever comes and goes, what is there is what a list for each unit holds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xstreamcast.model.atomic import DOUBLE
from xstreamcast.model.items import Items
from xstreamcast.operators.inner.table import BlockTable, items_of, rows_of

Row = tuple[int, int, int, int, float]
UNITS, PLACES = 6, 40
STEPS = st.lists(
    st.tuples(
        st.sets(st.integers(0, UNITS - 1), min_size=1),
        st.sets(st.integers(0, PLACES - 1), max_size=6) | st.just(set(range(PLACES))),
        st.integers(1, 80),
    ),
    max_size=30,
)


@settings(deadline=None)
@given(STEPS, st.randoms(use_true_random=False))
def test_a_table_holds_what_lists_hold(steps, dice):
    table = BlockTable()
    lists: dict[int, list[Row]] = {unit: [] for unit in range(UNITS)}
    for chosen, gone, width in steps:
        units = np.array(sorted(chosen), np.int64)
        dead = np.zeros(PLACES, np.bool_)
        dead[list(gone)] = True
        new = []
        for at, unit in enumerate(units.tolist()):
            lists[unit] = [row for row in lists[unit] if row[3] not in gone]
            for place in gone:
                row = (0, dice.randrange(3), place, place, dice.random())
                rows = [row] * (dice.randrange(width) if len(gone) < PLACES else 0)
                new += [(at, row) for row in rows]
                lists[unit] += rows
            lists[unit].sort(key=lambda row: row[:3])
        dice.shuffle(new)
        over, hole, begin, place = (
            np.array([row[i] for _, row in new], np.int64) for i in range(4)
        )
        items = Items(DOUBLE, np.array([row[4] for _, row in new], np.float64))
        owner = np.array([at for at, _ in new], np.int64)
        table.revise(units, dead, owner, rows_of(over, hole, begin, place, items))
        for unit, rows in lists.items():
            found, counts = table.of(np.array([unit]))
            assert counts.tolist() == [len(rows)]
            assert items_of(found).values.tolist() == [row[4] for row in rows]
    assert len(table) == sum(map(len, lists.values()))


def test_a_unit_that_is_empty_keeps_its_room_when_others_move():
    def rows(count: int, place: int):
        numbers = np.arange(count, dtype=np.int64)
        items = Items(DOUBLE, numbers + 0.5)
        return rows_of(numbers * 0, numbers * 0, numbers, numbers * 0 + place, items)

    table, units = BlockTable(), np.array([0, 1])
    dead = np.zeros(4, np.bool_)
    table.revise(units[:1], dead, np.zeros(3, np.int64), rows(3, 1))
    dead[1] = True
    table.revise(units[:1], dead, np.zeros(0, np.int64), rows(0, 1))
    dead[1] = False
    new = rows(1102, 2)
    table.revise(units, dead, np.repeat([0, 1], [2, 1100]), new)
    found, counts = table.of(units)
    assert counts.tolist() == [2, 1100]
    assert items_of(found).values.tolist() == items_of(new).values.tolist()
