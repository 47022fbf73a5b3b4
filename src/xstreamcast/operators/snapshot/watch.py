"""A running query as tables: its inputs, its clock, its circuit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.operators.feeds.answer import AnswerFeed
from xstreamcast.operators.feeds.sharing import share
from xstreamcast.operators.feeds.split import SplitFeed
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.snapshot.answer import read_answer, write_answer
from xstreamcast.operators.snapshot.arrow import NotNow, Unreadable, Unwritten
from xstreamcast.operators.snapshot.circuit import (
    circuit_fingerprint,
    read_circuit,
    write_circuit,
)
from xstreamcast.operators.snapshot.documents import hold_units, read_document, write_document
from xstreamcast.operators.snapshot.feed import begin_feed, end_feed, write_feed
from xstreamcast.operators.snapshot.history import structure_from
from xstreamcast.operators.watching.plans import DocumentReader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xstreamcast.kernels.intern import Ids
    from xstreamcast.operators.snapshot.tables import TableReader, TableWriter
    from xstreamcast.operators.watching.watch import Watch


def write_watch(to: TableWriter, watch: Watch) -> None:
    """All that a query needs to continue; Unwritten if it has something that no table holds."""
    run = watch.pipeline
    if run is None:
        raise NotNow("not all inputs have sent their structure")
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
        raise NotNow("some input has not been processed by a tick yet")
    write_circuit(to, run)
    write_inputs(to, watch)


def write_inputs(to: TableWriter, watch: Watch) -> None:
    """The inputs of a query and its clock, without its operators."""
    run = watch.pipeline
    assert isinstance(run, CircuitRun)
    feeds = list(watch._feeds.items())
    for number, (_, feed) in enumerate(feeds):
        if isinstance(feed, AnswerFeed):
            write_answer(to, f"input{number}", feed)
        elif isinstance(feed, ForgettingFeed):
            write_feed(to, f"input{number}", feed)
        else:
            assert isinstance(feed, DocumentReader)
            write_document(to, f"input{number}", feed)
    to.facts["watch"] = {
        "inputs": [name for name, _ in feeds],
        "ended": sorted(watch.ended, key=str),
        "now": list(watch.now),
        "ticked": None if watch._ticked_at is None else list(watch._ticked_at),
        "shallow": watch.shallow,
        "unkept": watch._unkept,
        "as written": watch._as_written,
        "uncut": sorted(watch._uncut, key=str),
        "refusals": watch.refusals,
        "circuit": circuit_fingerprint(run.circuit),
        "held": [at for at, one in enumerate(run.circuit.sources) if _is_held(watch, one)],
    }


def _is_held(watch: Watch, name: str | None) -> bool:
    """Whether units of an input are kept for as long as rows refer to them."""
    feed = watch._feeds.get(name)
    return isinstance(feed, SplitFeed) and feed.held


def read_watch(source: TableReader, watch: Watch, ids: Mapping[str, Ids]) -> None:
    """Give a query that nothing has come to what another one had; its names are there already."""
    read_watches([(source, watch)], ids)


def read_watches(parts: Sequence[tuple[TableReader, Watch]], ids: Mapping[str, Ids]) -> None:
    """The same for queries that may read each other, and share what is kept of a stream."""
    for source, watch in parts:
        begin_inputs(source, watch, ids)
    for source, watch in parts:
        read_circuit(source, end_inputs(source, watch), watch.names)
        watch._moves, watch._owed, watch._touched, watch._stale = {}, [], set(), set()


def read_inputs(source: TableReader, watch: Watch, ids: Mapping[str, Ids]) -> CircuitRun:
    """A query's inputs and its clock → its operators, which have nothing yet."""
    begin_inputs(source, watch, ids)
    return end_inputs(source, watch)


def begin_inputs(source: TableReader, watch: Watch, ids: Mapping[str, Ids]) -> None:
    """Plan a query as it was planned; its streams have nothing yet."""
    facts = source.facts["watch"]
    watch.shallow, watch._unkept = facts["shallow"], facts["unkept"]
    watch._as_written = facts.get("as written", False)  # of older snapshots, none is
    watch._uncut, watch.refusals = set(facts["uncut"]), list(facts["refusals"])
    for number, name in enumerate(facts["inputs"]):
        if watch.kinds[name] != "fragments":
            continue  # its feed is made when the query is divided
        known = source.facts[f"input{number}.feed"]
        if "structure" not in known:  # of an older snapshot
            known = source.facts[f"input{number}.history"]
        feed = watch._feed_of(name, structure_from(known["structure"]), ids[name])
        begin_feed(source, f"input{number}", feed)
        watch._feeds[name] = feed
    watch.now = Moment(*facts["now"])
    watch._divide()
    if watch.sharing is not None:
        share(watch.sharing, watch._feeds)


def end_inputs(source: TableReader, watch: Watch) -> CircuitRun:
    """Give a query that is planned its inputs and its clock → its operators, which have nothing."""
    facts = source.facts["watch"]
    run = watch.pipeline
    if not isinstance(run, CircuitRun) or circuit_fingerprint(run.circuit) != facts["circuit"]:
        raise Unreadable("it is of another circuit: the query is planned in another way now")
    for number, name in enumerate(facts["inputs"]):
        feed = watch._feeds[name]
        if isinstance(feed, AnswerFeed):
            read_answer(source, f"input{number}", feed)
        elif isinstance(feed, ForgettingFeed):
            end_feed(source, f"input{number}", feed)
        else:
            assert isinstance(feed, DocumentReader)
            read_document(source, f"input{number}", feed)
    for number in facts.get("held", ()):
        feed = watch._feeds[run.circuit.sources[number]]
        assert isinstance(feed, SplitFeed)
        hold_units(source, number, feed)
    watch.ended = set(facts["ended"])
    watch._ticked_at = None if facts["ticked"] is None else Moment(*facts["ticked"])
    return run
