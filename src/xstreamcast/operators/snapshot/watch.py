"""A running query as tables: its inputs, its clock, its circuit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.evaluate.moments import Moment
from xstreamcast.operators.forgetting import ForgettingFeed
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.snapshot.arrow import NotNow, Unreadable, Unwritten
from xstreamcast.operators.snapshot.circuit import (
    circuit_fingerprint,
    read_circuit,
    write_circuit,
)
from xstreamcast.operators.snapshot.feed import begin_feed, end_feed, write_feed
from xstreamcast.operators.snapshot.history import structure_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xstreamcast.kernels.intern import Ids
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
    from xstreamcast.operators.watch import Watch


def write_watch(to: TableWriter, watch: Watch) -> None:
    """All that a query needs to go on; Unwritten if it has something that no table holds."""
    run = watch.pipeline
    if run is None:
        raise NotNow("not all inputs have told their structure")
    if not isinstance(run, CircuitRun):
        raise Unwritten("the query is evaluated unit by unit, without a circuit")
    if (
        watch._moves
        or watch._waiting
        or watch._owed
        or watch._stale
        or watch._touched
        or watch._unsaid
    ):
        raise NotNow("something has come that no tick has taken in")
    write_circuit(to, run)
    write_inputs(to, watch)


def write_inputs(to: TableWriter, watch: Watch) -> None:
    """The inputs of a query and its clock, without its operators."""
    run = watch.pipeline
    assert isinstance(run, CircuitRun)
    feeds = list(watch._feeds.items())
    for number, (name, feed) in enumerate(feeds):
        if not isinstance(feed, ForgettingFeed):
            raise Unwritten(f"{name or 'the input'} is a document")
        write_feed(to, f"input{number}", feed)
    to.facts["watch"] = {
        "inputs": [name for name, _ in feeds],
        "ended": sorted(watch.ended, key=str),
        "now": list(watch.now),
        "ticked": None if watch._ticked_at is None else list(watch._ticked_at),
        "shallow": watch.shallow,
        "unkept": watch._unkept,
        "uncut": sorted(watch._uncut, key=str),
        "refusals": watch.refusals,
        "circuit": circuit_fingerprint(run.circuit),
    }


def read_watch(source: TableReader, watch: Watch, ids: Mapping[str, Ids]) -> None:
    """Give a query that nothing has come to what another one had; its names are there already."""
    read_circuit(source, read_inputs(source, watch, ids), watch.names)
    watch._moves, watch._owed, watch._touched, watch._stale = {}, [], set(), set()


def read_inputs(source: TableReader, watch: Watch, ids: Mapping[str, Ids]) -> CircuitRun:
    """The same for a query's inputs and clock → its operators, which have nothing yet."""
    facts = source.facts["watch"]
    watch.shallow, watch._unkept = facts["shallow"], facts["unkept"]
    watch._uncut, watch.refusals = set(facts["uncut"]), list(facts["refusals"])
    for number, name in enumerate(facts["inputs"]):
        structure = structure_from(source.facts[f"input{number}.history"]["structure"])
        feed = watch._feed_of(name, structure, ids[name])
        begin_feed(source, f"input{number}", feed)
        watch._feeds[name] = feed
    watch.now = Moment(*facts["now"])
    watch._divide()
    run = watch.pipeline
    if not isinstance(run, CircuitRun) or circuit_fingerprint(run.circuit) != facts["circuit"]:
        raise Unreadable("it is of another circuit: the query is planned in another way now")
    for number, name in enumerate(facts["inputs"]):
        feed_ = watch._feeds[name]
        assert isinstance(feed_, ForgettingFeed)
        end_feed(source, f"input{number}", feed_)
    watch.ended = set(facts["ended"])
    watch._ticked_at = None if facts["ticked"] is None else Moment(*facts["ticked"])
    return run
