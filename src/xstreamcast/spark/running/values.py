"""Values of a part of a query on their way from tasks to the driver, and put together there."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.algebra.cut import Cut, TagCut
from xstreamcast.evaluate.calls import library_call
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import BOOLEAN, INTEGER, MAP
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.operators.kept_items import Unwritten, placed, read, written
from xstreamcast.spark.running.around import counted
from xstreamcast.spark.running.spine import counted_spine

if TYPE_CHECKING:
    from xstreamcast.algebra.division import Part
    from xstreamcast.evaluate.context import Context


def sent(part: Part, items: Items, context: Context) -> bytes:
    """What a task sends of the value of a part: as little as the same answer can be had from."""
    match part.fold:
        case "count" | "exists" | "empty":
            return pickle.dumps(len(items))
        case "items":
            if (items.all_tags() >= MAP).any():
                raise Unwritten
            return pickle.dumps(written({"": items}, context.store))
        case "sum" | "avg":  # added in order on the driver: doubles do not add up in any other
            return pickle.dumps(packed(_atoms(items, context)))
        case _:
            atoms = _atoms(items, context)
            return pickle.dumps(packed(called(part.fold, atoms, context) if len(atoms) else atoms))


def combined(part: Part, cut: Cut, values: Sequence[bytes], context: Context) -> Items:
    """The value of a part from what tasks sent, in the order of their places."""
    if part.around is not None and isinstance(cut, TagCut):
        return counted_spine(part, values)
    if part.around is not None:
        return counted(part, values)
    found = [pickle.loads(one) for one in values]
    match part.fold:
        case "count":
            return Items.of(INTEGER, [sum(found)])
        case "exists":
            return Items.of(BOOLEAN, [sum(found) > 0])
        case "empty":
            return Items.of(BOOLEAN, [sum(found) == 0])
        case "items":
            kept = {str(at): one[""] for at, one in enumerate(found)}
            return Items.concat([*placed(read(kept), context.store).values()])
        case _:
            return called(part.fold, Items.concat([unpacked(one) for one in found]), context)


def called(name: str, items: Items, context: Context) -> Items:
    """A function of one sequence."""
    function = lookup(FN, name, 1)
    assert function is not None
    column = Column(items, np.array([0, len(items)], np.int64))
    return library_call(function, [column], context.root, None).items


def packed(items: Items) -> tuple[Any, Any]:
    """Atomic items as arrays."""
    return items.all_tags(), items.values


def unpacked(both: tuple[Any, Any]) -> Items:
    return Items.mixed(both[0].tolist(), both[1].tolist())


def _atoms(items: Items, context: Context) -> Items:
    return atomize(context.store, Column(items, np.array([0, len(items)], np.int64))).items
