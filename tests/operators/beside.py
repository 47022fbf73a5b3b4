"""A running query over several inputs beside the same query asked afresh."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from xstreamcast.api import compiled
from xstreamcast.circuit.node_sources import in_order
from xstreamcast.circuit.nodes import Join
from xstreamcast.edges.snapshot.container import unpacked
from xstreamcast.edges.snapshot.query import restored, taken
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import Error
from xstreamcast.evaluate.context import Inputs
from xstreamcast.evaluate.results.results import lines
from xstreamcast.evaluate.run import run
from xstreamcast.evaluate.time.moments import date_time
from xstreamcast.history.view import view
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.items import Items
from xstreamcast.operators.feeds.document import WholeDocument
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.snapshot.arrow import NotNow, Unwritten
from xstreamcast.operators.watching.network import Network
from xstreamcast.operators.watching.watch import Watch
from xstreamcast.tape.store import Store


def goes_on(
    watch: Watch | Network, decoders: Mapping[str, Decoder], other: Watch | Network,
    theirs: Mapping[str, Decoder],
) -> bool:  # fmt: skip
    """Let another query go on from a snapshot of one → whether one can be taken now."""
    try:
        raw = taken(watch, decoders, {})
    except (NotNow, Unwritten):
        return False
    restored(unpacked(raw), other, theirs)
    return True


class Beside:
    """A query over inputs of either kind, and the answer that its changes add up to."""

    def __init__(self, query: str, kinds: Mapping[str, Any], **options) -> None:
        self.program = compiled(query)
        self.kinds = kinds
        self.watch = Watch(self.program, dict(kinds.items()), **options)
        self.decoders = {
            name: Decoder(name, names=self.watch.names)
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

    def feed(self, name: str, chunk: bytes, tick: bool = True) -> None:
        if name in self.documents:
            self.documents[name].feed(chunk)
            self.watch.on_bytes(name, chunk)
        else:
            decoder = self.decoders[name]
            self.watch.on_arrivals(name, decoder.feed(chunk), decoder.ids)
        if tick:
            self.tick()

    def end(self, name: str) -> None:
        if name in self.documents:
            self.documents[name].close()
        else:
            decoder = self.decoders[name]
            self.watch.on_arrivals(name, decoder.close(), decoder.ids)
        self.watch.on_end(name)
        self.tick()

    def tick(self) -> list[Change]:
        found = self.watch.tick()
        for change in found:
            self.changes.append(change)
            self.told.apply(change)
        return found

    def restart(self) -> None:
        """Throw the query away and go on from a snapshot of it, if one can be taken."""
        made = Watch(self.program, self.watch.kinds, policy=self.watch.policy)
        decoders = {name: Decoder(name, names=made.names) for name in self.decoders}
        if goes_on(self.watch, self.decoders, made, decoders):
            self.watch, self.decoders = made, decoders

    def afresh(self) -> list[str] | None:
        """The query over what has arrived; None if it fails."""
        store = Store(self.watch.names)

        @cache
        def stream(name: str) -> Items:
            if name in self.documents:
                return self.documents[name].whole(store)
            feed = self.watch._feeds.get(name)
            assert feed is None or isinstance(feed, FragmentFeed)
            if feed is None or len(feed.history) == 0:
                return Items.of_nodes(np.empty(0, np.int64))
            seen = view(feed.history, self.watch.now.instant)
            return Items.of_nodes(np.array([store.add(seen) << 32], np.int64))

        now = self.watch.now
        current = date_time(now.instant, True, now)
        given = Inputs(store, streams=stream, clock=now, current=current)
        try:
            return list(lines(store, run(self.program, given)))
        except Error:
            return None

    @property
    def joined(self) -> bool:
        """Whether the query runs with a join between units."""
        pipeline = self.watch.pipeline
        assert pipeline is not None
        return any(isinstance(node, Join) for node in in_order(pipeline.circuit.root))

    @property
    def asked(self) -> int:
        assert self.watch.pipeline is not None
        return self.watch.pipeline.evaluated
