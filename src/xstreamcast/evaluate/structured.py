"""Maps and arrays made and looked into, for all rows at once: their parts are rows of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.evaluate.typing.conversion import converted
from xstreamcast.evaluate.typing.type_names import item_name
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.model.array_item import ArrayItem, array_items
from xstreamcast.model.atomic import ARRAY, ATOMIC, INTEGER, MAP
from xstreamcast.model.column import Column, gather, stack
from xstreamcast.model.items import Items
from xstreamcast.model.map_item import MapItem, map_items
from xstreamcast.model.map_key import map_key
from xstreamcast.model.sequence_type import AtomicItem, SequenceType

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.array_item import Cell

_KEY = SequenceType(AtomicItem(ATOMIC["anyAtomicType"].tag))
_POSITION = SequenceType(AtomicItem(INTEGER))


def make_map(plan: p.MakeMap, frame: Frame) -> Column:
    """A map for each row; the entries of all rows share one column of values."""
    n, width = frame.n, len(plan.keys)
    if width == 0:
        empty = Items(ARRAY, np.empty(0, object))
        return Column(map_items(empty, Column.empty(0), np.zeros(n, np.int64)))
    keys = [converted(frame, evaluate(key, frame), _KEY, "a key of the map") for key in plan.keys]
    order = (np.arange(n)[:, None] + n * np.arange(width)[None, :]).ravel()
    held = Items.concat([key.items for key in keys]).take(order)
    values = stack([evaluate(value, frame) for value in plan.values]).take(order)
    made = map_items(held, values, np.full(n, width, np.int64))
    _all_different(made)
    return Column(made)


def _all_different(maps: Items) -> None:
    for one in maps.values.tolist():
        if len(one.index) < len(one):
            seen = set()
            for tag, value in one.own_keys().pairs():
                key = map_key(tag, value)
                if key in seen:
                    raise error("XQDY0137", f"the map would have the key {value} twice")
                seen.add(key)


def make_array(plan: p.MakeArray, frame: Frame) -> Column:
    """An array for each row; the members of all rows are one column."""
    if plan.each:
        column = evaluate(plan.members[0], frame)
        return Column(array_items(column.each(), column.lengths()))
    n, width = frame.n, len(plan.members)
    if width == 0:
        return Column(array_items(Column.empty(0), np.zeros(n, np.int64)))
    order = (np.arange(n)[:, None] + n * np.arange(width)[None, :]).ravel()
    members = stack([evaluate(member, frame) for member in plan.members]).take(order)
    return Column(array_items(members, np.full(n, width, np.int64)))


def lookup(plan: p.Lookup, frame: Frame) -> Column:
    """What the maps and arrays of each row hold under its keys, in order."""
    column = evaluate(plan.operand, frame)
    return looked_up(column, None if plan.key is None else evaluate(plan.key, frame), frame)


def looked_up(column: Column, keys: Column | None, frame: Frame) -> Column:
    """What the items of a column hold under keys; all that they hold where there is none."""
    if keys is not None:
        keys = atomize(frame.context.store, keys)
    pairs = None if keys is None else list(keys.items.pairs())
    bounds = None if keys is None else keys.bounds().tolist()
    rows = column.rows().tolist()
    cells: list[Cell] = []
    ends = np.zeros(len(column.items) + 1, np.int64)
    for i, (tag, value) in enumerate(column.items.pairs()):
        if tag not in (MAP, ARRAY):
            got = item_name(frame.context.store, column.items.slice(i, i + 1))
            raise error("XPTY0004", f"a lookup must be in a map or an array; got {got}")
        if pairs is None or bounds is None:
            cells += _all(value)
        else:
            row = rows[i]
            for key in range(bounds[row], bounds[row + 1]):
                cells += _found(frame, value, pairs[key])
        ends[i + 1] = len(cells)
    return gather(cells).regroup(ends).regroup(column.bounds())


def _all(value: MapItem | ArrayItem) -> list[Cell]:
    return value.cells()


def _found(frame: Frame, value: MapItem | ArrayItem, key: tuple[int, object]) -> list[Cell]:
    if isinstance(value, MapItem):
        found = value.find(*key)
        return [] if found is None else [found]
    if key[0] != INTEGER:
        column = Column(Items.of(key[0], [key[1]]))
        column = converted(frame, column, _POSITION, "the position in an array")
        return [value.cell(int(column.items.values[0]))]
    return [value.cell(key[1])]  # type: ignore[arg-type]
