"""A running query beside the same query asked afresh: what both say at each instant."""

from __future__ import annotations

from functools import cache

import numpy as np

from tests.operators.beside import goes_on
from xstreamcast.api import compiled
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.errors import Error
from xstreamcast.evaluate.context import Inputs
from xstreamcast.evaluate.results.results import lines
from xstreamcast.evaluate.run import run
from xstreamcast.evaluate.time.moments import date_time
from xstreamcast.history.view import view
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.model.items import Items
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.watching.watch import Watch
from xstreamcast.tape.store import Store


class Following:
    """A query over one fragment stream named s, and the answer that its changes add up to."""

    def __init__(self, query: str, **options) -> None:
        self.program = compiled(query)
        self.watch = Watch(self.program, {"s": "fragments"}, **options)
        self.decoder = Decoder("s", names=self.watch.names)
        self.told = Accumulated()
        self.changes: list[Change] = []

    def feed(self, chunk: bytes) -> None:
        self.watch.on_arrivals("s", self.decoder.feed(chunk), self.decoder.ids)
        self.tick()

    def end(self) -> None:
        self.watch.on_arrivals("s", self.decoder.close(), self.decoder.ids)
        self.watch.on_end("s")
        self.tick()

    def tick(self) -> None:
        for change in self.watch.tick():
            self.changes.append(change)
            self.told.apply(change)

    def restart(self) -> None:
        """Throw the query away and go on from a snapshot of it, if one can be taken."""
        made = Watch(self.watch.program, self.watch.kinds, policy=self.watch.policy)
        decoder = Decoder("s", names=made.names)
        if goes_on(self.watch, {"s": self.decoder}, made, {"s": decoder}):
            self.watch, self.decoder = made, decoder

    def afresh(self) -> list[str] | None:
        """The query over the temporal view of what has arrived; None if it fails."""
        feed = self.watch._feeds.get("s")
        if feed is None:
            return []
        assert isinstance(feed, FragmentFeed)
        store = Store(self.watch.names)

        now = self.watch.now

        @cache
        def stream(name: str) -> Items:
            if len(feed.history) == 0:
                return Items.of_nodes(np.empty(0, np.int64))
            seen = view(feed.history, now.instant)
            return Items.of_nodes(np.array([store.add(seen) << 32], np.int64))

        current = date_time(now.instant, True, now)
        given = Inputs(store, streams=stream, clock=now, current=current)
        try:
            return list(lines(store, run(self.program, given)))
        except Error:
            return None
