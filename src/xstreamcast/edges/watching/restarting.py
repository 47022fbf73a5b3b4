"""A query that is restarted: what counts already is read between the same ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.edges.watching.replayed import again, burst_of, exactly, to_end
from xstreamcast.evaluate.time.moments import Moment

if TYPE_CHECKING:
    from xstreamcast.edges.watching.arriving import ArrivalLimits
    from xstreamcast.edges.watching.journal import Journal, Line
    from xstreamcast.edges.watching.run import Watching


def replay(watching: Watching, journal: Journal, rests: dict[str, bytes]) -> None:
    """Replay the journal's lines, and write nothing."""
    limits = watching.limits(again=True)
    for line in journal.lines:
        _take_again(watching, line, limits, rests)
    for name, rest in rests.items():
        stream, arriving = watching._open[name or None]
        if rest:
            watching._open[name or None] = again([rest], stream), arriving
    last = journal.covered_now().last
    if last is not None:
        _turn(watching, last or None)
    if watching.snapshots is not None:
        read = (n for line in journal.lines for _, n in line.read if n > 0)
        watching.snapshots.since = sum(read)


def _take_again(
    watching: Watching, line: Line, limits: ArrivalLimits, rests: dict[str, bytes]
) -> None:  # fmt: skip
    assert watching.watch is not None
    if not line.read:  # only time had passed
        _tick_again(watching, line)
        return
    name, count = line.read[0]
    stream, arriving = watching._open[name or None]
    if line.arrived is not None:
        arriving.stamp(line.arrived)
    if len(line.read) > 1:
        arriving.take_messages(burst_of(stream, line, rests), watching.watch, limits)
        _tick_again(watching, line)
        return
    if count < 0:
        to_end(stream, rests, name)
        steps = arriving.end_file(watching.watch, limits)
    else:
        steps = arriving.take(exactly(stream, count, rests, name), watching.watch, limits)
    for _ in steps:
        _tick_again(watching, line)


def _tick_again(watching: Watching, line: Line) -> None:
    assert watching.watch is not None
    if watching._by_wall:
        watching.watch.reach(Moment(*line.now))
    changes = watching.watch.tick()
    watching.ticked += 1
    watching.emitted += len(changes)
    if watching.form is not None:
        watching.form.recall(changes)


def _turn(watching: Watching, last: str | None) -> None:
    """Continue with the input whose turn it is, behind the one that was read last."""
    names = list(watching._open)
    behind = names.index(last) + 1
    watching._open = {name: watching._open[name] for name in names[behind:] + names[:behind]}
