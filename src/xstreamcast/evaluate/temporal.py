"""Named inputs, and XCQL: what the history of a stream must answer is asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.algebra import plan as p
from xstreamcast.errors import error
from xstreamcast.model.atomic import DATE_TIME
from xstreamcast.model.column import Column
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.evaluate.frame import Frame


def stream_input(plan: p.StreamInput, frame: Frame) -> Column:
    """What has arrived on the input, the same for every row."""
    return Column.constant(frame.context.inputs.streams(plan.name), frame.n)


def instant(plan: p.Instant, frame: Frame) -> Column:
    """now: the clock of the evaluation; start is only known to a history."""
    if frame.context.inputs.history is None and plan.which == "now":
        return Column.constant(Items.of(DATE_TIME, [frame.context.inputs.current]), frame.n)
    return needs_history(plan, frame)


def needs_history(
    plan: p.Instant
    | p.LastVersion
    | p.LifespanBound
    | p.IntervalProjection
    | p.VersionProjection
    | p.Interval
    | p.AllenCompare,
    frame: Frame,
) -> Column:
    """The answer of the history that the inputs come from."""
    history = frame.context.inputs.history
    if history is None:
        raise error(
            "XSCS0001",
            "lifespans and versions need an input that remembers them; a document does not",
            hint="give the input as a fragment stream",
        )
    return history(plan, frame)
