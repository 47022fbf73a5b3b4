"""order by: all keys as ranks, one sort for all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra import plan as p
from xstreamcast.evaluate.pairs import at_most_one
from xstreamcast.evaluate.walk import evaluate
from xstreamcast.functions.atomize import atomize
from xstreamcast.functions.compare import order_ranks

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame
    from xstreamcast.model.column import Ints


def order_by(plan: p.OrderBy, tuples: Frame, frame: Frame) -> Frame:
    """The tuples sorted within their row; equal ones keep their order."""
    if tuples.n == 0:
        return tuples
    ranks = [_ranks(key, tuples) for key in plan.keys]
    return tuples.select(np.lexsort((*reversed(ranks), tuples.origin_in(frame))))


def _ranks(key: p.OrderKey, tuples: Frame) -> Ints:
    column = atomize(tuples.context.store, evaluate(key.value, tuples))
    at_most_one(column, "a key of order by")
    timezone = tuples.context.inputs.timezone
    ranks = order_ranks(column, empty_greatest=key.empty_greatest, timezone=timezone)
    return -ranks if key.descending else ranks
