"""Values of a part of a query on their way from tasks to the driver, and put together there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xstreamcast.evaluate.calls import library_call
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.numbers.arithmetic import arithmetic
from xstreamcast.functions.registry import lookup
from xstreamcast.functions.sequences.aggregates import doubles_for_untyped
from xstreamcast.functions.signature import FN
from xstreamcast.model.atomic import BOOLEAN, DECIMAL, INTEGER, MAP, PRIMITIVE
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items
from xstreamcast.operators.batch.around import counted_elements
from xstreamcast.operators.batch.sending import decoded, encoded
from xstreamcast.operators.batch.spine import counted_spine
from xstreamcast.operators.kept_items import UnwrittenNode, placed, read, written

if TYPE_CHECKING:
    from xstreamcast.circuit.batch.parts import BatchPart
    from xstreamcast.evaluate.context import Context


def sent(part: BatchPart, items: Items, context: Context) -> bytes:
    """What a task sends of the value of a part: as little as the same answer can be had from."""
    match part.fold:
        case "count" | "exists" | "empty":
            return encoded(len(items))
        case "items":
            if (items.all_tags() >= MAP).any():
                raise UnwrittenNode
            return encoded(written({"": items}, context.store)[""])
        case "sum" | "avg":
            atoms = summands(items, context)
            total = called("sum", atoms, context) if is_exact(atoms) and len(atoms) > 1 else atoms
            return encoded((len(atoms), packed(total)))
        case _:
            atoms = _atoms(items, context)
            return encoded(packed(called(part.fold, atoms, context) if len(atoms) else atoms))


def summands(items: Items, context: Context) -> Items:
    """What is added: untyped values count as doubles."""
    atoms = _atoms(items, context)
    return doubles_for_untyped(Column(atoms, np.array([0, len(atoms)], np.int64))).items


def is_exact(atoms: Items) -> bool:
    """Whether they add up to the same in any order: integers and decimals, not doubles."""
    return {PRIMITIVE.get(tag, tag) for tag in atoms.kinds()} <= {INTEGER, DECIMAL}


def combined(part: BatchPart, of_stream: bool, values: Sequence[bytes], context: Context) -> Items:
    """The value of a part from what tasks sent, in the order of their places."""
    if part.around is not None and of_stream:
        return counted_spine(part, values)
    if part.around is not None:
        return counted_elements(part, values)
    found = [decoded(one) for one in values]
    match part.fold:
        case "count":
            return Items.of(INTEGER, [sum(found)])
        case "exists":
            return Items.of(BOOLEAN, [sum(found) > 0])
        case "empty":
            return Items.of(BOOLEAN, [sum(found) == 0])
        case "rows":
            return _chosen(part, found, context)
        case "items":
            kept = {str(at): one for at, one in enumerate(found)}
            return Items.concat([*placed(read(kept), context.store).values()])
        case "sum":
            return called("sum", Items.concat([unpacked(total) for _, total in found]), context)
        case "avg":
            return _mean(found, context)
        case _:
            return called(part.fold, Items.concat([unpacked(one) for one in found]), context)


def sent_rows(part: BatchPart, by: list[bytes], result: Column, context: Context) -> bytes:
    """Rows with the bytes they are sorted by: of each task, no more than can be chosen."""
    order = sorted(range(len(by)), key=by.__getitem__)
    order = order[: part.last] if part.first > 0 else order[part.first :]
    mine = result.take(np.array(order, np.int64))
    return all_rows([by[at] for at in order], mine, context)


def all_rows(by: list[bytes], result: Column, context: Context) -> bytes:
    """Rows with the bytes they are sorted by."""
    if (result.items.all_tags() >= MAP).any():
        raise UnwrittenNode
    items = written({"": result.items}, context.store)[""]
    return encoded((by, result.lengths().tolist(), items))


def no_rows() -> bytes:
    """What a task sends that has no rows."""
    return encoded(((), (), ()))


def _chosen(part: BatchPart, found: Sequence[Any], context: Context) -> Items:
    """The items of rows in the order of all of them, at the requested positions."""
    if not found:
        return Items.of(INTEGER, [])
    kept = {str(at): items for at, (_, _, items) in enumerate(found)}
    items = Items.concat([*placed(read(kept), context.store).values()])
    by = [one for ranks, _, _ in found for one in ranks]
    lengths = np.array([n for _, own, _ in found for n in own], np.int64)
    order = sorted(range(len(by)), key=by.__getitem__)
    order = order[part.first - 1 : part.last] if part.first > 0 else order[part.first :]
    return Column.from_lengths(items, lengths).take(np.array(order, np.int64)).items


def _mean(found: Sequence[tuple[int, Any]], context: Context) -> Items:
    """The mean from counts, and totals or all values."""
    values = Items.concat([unpacked(total) for _, total in found])
    count = sum(many for many, _ in found)
    if len(values) == count:
        return called("avg", values, context)
    return arithmetic("div", called("sum", values, context), Items.of(INTEGER, [count]))


def called(name: str, items: Items, context: Context) -> Items:
    """A function of one sequence."""
    function = lookup(FN, name, 1)
    assert function is not None
    column = Column(items, np.array([0, len(items)], np.int64))
    return library_call(function, [column], context.root, None).items


def packed(items: Items) -> tuple[Any, Any]:
    """Atomic items as lists of their types and values."""
    return items.all_tags().tolist(), items.values.tolist()


def unpacked(both: tuple[Any, Any]) -> Items:
    """The items again."""
    return Items.mixed(list(both[0]), list(both[1]))


def _atoms(items: Items, context: Context) -> Items:
    return atomize(context.store, Column(items, np.array([0, len(items)], np.int64))).items
