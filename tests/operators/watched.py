"""A query left running, next to the same query evaluated over all that has arrived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from xstreamcast.algebra.program import Program
from xstreamcast.api import compiled
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.nodes import Join
from xstreamcast.edges.decoding import decoder_of
from xstreamcast.edges.snapshot.container import unpacked
from xstreamcast.edges.snapshot.query import restored, taken
from xstreamcast.edges.wire.decoder import Decoder, OnError
from xstreamcast.errors import Error
from xstreamcast.evaluate.context import Inputs
from xstreamcast.evaluate.results.results import lines
from xstreamcast.evaluate.run import run
from xstreamcast.evaluate.time.moments import date_time
from xstreamcast.history.history import History
from xstreamcast.history.view import view
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.fragment import Arrival
from xstreamcast.model.items import Items
from xstreamcast.operators.feeds.document import WholeDocument
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.snapshot.arrow import NotNow, Unwritten
from xstreamcast.operators.watching.network import Network
from xstreamcast.operators.watching.watch import Watch
from xstreamcast.tape.store import Store

ONE_STREAM = {"s": "fragments"}


def is_restored(
    watch: Watch | Network, decoders: Mapping[str, Decoder], other: Watch | Network,
    theirs: Mapping[str, Decoder],
) -> bool:  # fmt: skip
    """Restore another query from a snapshot of one → whether one can be taken now."""
    try:
        raw = taken(watch, decoders, {})
    except (NotNow, Unwritten):
        return False
    restored(unpacked(raw), other, theirs)
    return True


class Watched:
    """A query over inputs of any kind, and the answer that its changes add up to.

    `updates`: the names of streams that are written as updates; `running`: Watch or Network.
    """

    def __init__(
        self, query: str | Program | Mapping[str, Program], kinds: Mapping[str, Any] = ONE_STREAM,
        running: Any = Watch, updates: Iterable[str] = (), on_error: OnError = "quarantine",
        **options: Any,
    ) -> None:  # fmt: skip
        self.program: Any = compiled(query) if isinstance(query, str) else query
        self.kinds = kinds
        self.watch: Watch = running(self.program, dict(kinds.items()), **options)
        written: dict[str, Any] = {
            name: "updates" if name in updates else kind for name, kind in kinds.items()
        }
        self.decoders: dict[str, Any] = {
            name: decoder_of(written[name], name, self.watch.names, on_error)
            for name, kind in kinds.items()
            if kind == "fragments"
        }
        self.documents = {
            name: WholeDocument(name, self.watch.names)
            for name, kind in kinds.items()
            if kind == "document"
        }
        self.told = Accumulated()
        self.changes: list[Change] = []

    # -- arrivals ---------------------------------------------------------------------------------

    def feed(self, name: str, chunk: bytes, tick: bool = True) -> list[Change]:
        """A piece of an input has come → the changes that it caused."""
        if name in self.documents:
            self.documents[name].feed(chunk)
            self.watch.on_bytes(name, chunk)
        else:
            self.arrive(name, self.decoders[name].feed(chunk))
        return self.tick() if tick else []

    def arrive(self, name: str, arrivals: Iterable[Arrival]) -> None:
        """What a decoder made of a piece."""
        self.watch.on_arrivals(name, arrivals, self.decoders[name].ids)

    def end(self, *names: str) -> list[Change]:
        """Some inputs have ended; all of them if none is named."""
        for name in names or self.kinds:
            if name in self.documents:
                self.documents[name].close()
            else:
                self.arrive(name, self.decoders[name].close())
            self.watch.on_end(name)
        return self.tick()

    def tick(self) -> list[Change]:
        """The changes since the last tick."""
        found = self.watch.tick()
        for change in found:
            self.changes.append(change)
            self.told.apply(change)
        return found

    def restart(self) -> None:
        """Throw the query away and restore it from a snapshot, if one can be taken."""
        made = Watch(self.program, self.watch.kinds, policy=self.watch.policy)
        decoders = {name: Decoder(name, names=made.names) for name in self.decoders}
        if is_restored(self.watch, self.decoders, made, decoders):
            self.watch, self.decoders = made, dict(decoders)

    # -- the oracle -------------------------------------------------------------------------------

    def history(self, name: str) -> History | None:
        """What has arrived of a stream of fragments."""
        feed = self.watch._feeds.get(name)
        assert feed is None or isinstance(feed, FragmentFeed)
        return None if feed is None else feed.history

    def afresh(self) -> list[str] | None:
        """The query over what has arrived; None if it fails."""
        if self.watch.pipeline is None:  # not all streams have sent their structure
            return []
        store, now = Store(self.watch.names), self.watch.now

        @cache
        def stream(name: str) -> Items:
            if name in self.documents:
                return self.documents[name].whole(store)
            history = self.history(name)
            if history is None or len(history) == 0:
                return Items.of_nodes(np.empty(0, np.int64))
            seen = view(history, now.instant)
            return Items.of_nodes(np.array([store.add(seen) << 32], np.int64))

        current = date_time(now.instant, True, now)
        given = Inputs(store, streams=stream, clock=now, current=current)
        try:
            return list(lines(store, run(self.program, given)))
        except Error:
            return None

    # -- how it runs ------------------------------------------------------------------------------

    @property
    def joined(self) -> bool:
        """Whether the query runs with a join between units."""
        pipeline = self.watch.pipeline
        assert pipeline is not None
        return any(isinstance(node, Join) for node in in_order(pipeline.circuit.root))

    @property
    def evaluated(self) -> int:
        """How many units were evaluated."""
        assert self.watch.pipeline is not None
        return self.watch.pipeline.evaluated
