"""The answer of a run from what its tasks found."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.edges.batch.task import CLASSES, ClockBinding, answer_rows
from xstreamcast.edges.table.schema import arrow
from xstreamcast.evaluate.context import Context
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.frame import Frame
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.column import Column
from xstreamcast.operators.batch.ranks import met
from xstreamcast.operators.batch.values import combined

if TYPE_CHECKING:
    from xstreamcast.circuit.batch.parts import Distributed

COLUMNS: Final = ["place", "ordinal", "kind", "item"]  # of an answer


def listed(found: Any) -> Any:
    """Items of parts that follow each other."""
    part, place = found["part"].to_numpy(), found["place"].to_numpy()
    steps = np.diff(part), np.diff(place)
    if not ((steps[0] > 0) | ((steps[0] == 0) & (steps[1] >= 0))).all():
        found = found.sort_by([("part", "ascending"), ("place", "ascending")])
    return found.select(COLUMNS)


def is_mixed(found: Any) -> bool:
    """Whether tasks met keys that only compare where all of them are known."""
    pc = arrow().compute
    sent = found.filter(pc.equal(found["part"], CLASSES))["value"].to_pylist()
    return any(len(one) > 1 for one in met(sent))


def ranked(found: Any) -> Any:
    """Items in the order of the bytes that encode their place."""
    pc = arrow().compute
    items = found.filter(pc.greater_equal(found["part"], 0))
    by = [(name, "ascending") for name in ("value", "place", "ordinal")]
    return numbered(items.sort_by(by))


def numbered(items: Any) -> Any:
    """Items that are in order, with numbers that say so."""
    pa, n = arrow(), items.num_rows
    places, ordinals = pa.array(np.zeros(n, np.int64)), pa.array(np.arange(n, dtype=np.int64))
    return pa.table([places, ordinals, items["kind"], items["item"]], COLUMNS)


def followed(plan: Distributed, found: Any, asking: ClockBinding, form: str) -> Any:
    """What follows from the values of parts; `asking` asks that."""
    pa = arrow()
    found = found.sort_by([("part", "ascending"), ("place", "ascending")])
    context = Context(*deep(partial(asking.prepared, None)))

    def ask() -> Any:
        bound: dict[Any, Any] = {}
        for number, part in enumerate(plan.parts):
            mine = found.filter(pa.compute.equal(found["part"], number))["value"].to_pylist()
            value = combined(part, not plan.levels, mine, context)
            bound[part.variable.number] = Column(value, np.array([0, len(value)], np.int64))
        frame = Frame(context, 1, context.root, None, bound)
        return evaluate(context.program.body, frame).items

    batches = list(answer_rows(0, 0, context.store, deep(ask), form))
    if not batches:
        return found.slice(0, 0).select(COLUMNS)
    return pa.Table.from_batches(batches).select(COLUMNS)
