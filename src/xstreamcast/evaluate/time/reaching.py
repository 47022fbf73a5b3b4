"""What a projection is taken of where its interval reaches planned states, after now."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from xstreamcast.evaluate.frame import FOCUS, Frame, Key, Value
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.model.atomic import NODE
from xstreamcast.model.column import Column, scatter
from xstreamcast.model.instant import NOW
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.algebra.plan import Expression
    from xstreamcast.evaluate.context import Context
    from xstreamcast.tape.layout import I64


class FutureStreams(Protocol):
    """The streams as of instants after now."""

    def horizons(self, ends: I64) -> I64:
        """For each end of an interval up to when planned states count; NOW: none does."""

    def stream(self, name: str, horizon: int) -> Items:
        """The nodes of stream(name)."""

    def document(self, name: str, horizon: int) -> int:
        """The nodes of doc(name)."""

    def counterparts(self, handles: I64, horizon: int) -> I64:
        """The same nodes, with what is planned below them."""


def reaching(plan: Expression, frame: Frame, ends: I64) -> Column:
    """The operand of a projection to intervals that end there, one for each row."""
    reach = frame.context.inputs.reach
    if reach is None:
        return evaluate(plan, frame)
    horizons = reach.horizons(ends)
    parts = []
    for horizon in np.unique(horizons).tolist():
        rows = np.flatnonzero(horizons == horizon)
        some = frame.select(rows)
        inner = some if horizon == NOW else _reached(plan, some, horizon)
        parts.append((rows, evaluate(plan, inner)))
    return scatter(frame.n, parts)


def _reached(plan: Expression, frame: Frame, horizon: int) -> Frame:
    """The rows of a frame as the operand sees them; nothing of them is shared with others."""
    keys: set[Key] = set(frame.context.reads.of(plan).keys) | set(FOCUS)
    values: dict[Key, Value] = {key: _value(frame, key, horizon) for key in keys}
    return Frame(_context(frame.context, horizon), frame.n, None, None, values)


def _context(context: Context, horizon: int) -> Context:
    """The same evaluation with other streams; functions and variables of the prolog keep theirs."""
    made, reach = copy(context), context.inputs.reach
    assert reach is not None
    made.inputs = replace(
        context.inputs,
        streams=lambda name: reach.stream(name, horizon),
        documents=lambda name: reach.document(name, horizon),
        reach=None,
    )
    made._opened = {}
    return made


def _value(frame: Frame, key: Key, horizon: int) -> Value:
    def found() -> Column | None:
        column, reach = frame.get(key), frame.context.inputs.reach
        if column is None or reach is None:
            return column
        items = column.items
        if items.tag == NODE:
            return column.with_items(Items.of_nodes(reach.counterparts(items.values, horizon)))
        nodes = items.all_tags() == NODE
        if not nodes.any():
            return column
        values = items.as_objects().copy()
        values[nodes] = reach.counterparts(values[nodes].astype(np.int64), horizon)
        return column.with_items(Items.mixed(items.all_tags().tolist(), values.tolist()))

    return found  # type: ignore[return-value]
