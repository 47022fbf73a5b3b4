"""One history for several queries over a stream, where none of them would drop parts of it.

answers over the one history  →  answers over a history for each
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.operators.forgetting.forgetting import ForgettingFeed

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.operators.feeds.kinds import Feed
    from xstreamcast.operators.forgetting.selecting import SelectingFeed
    from xstreamcast.operators.units.mini_cache import MiniCache


class Shared:
    """The first feed adds what arrives for all; each is given every batch in turn."""

    def __init__(self, first: ForgettingFeed) -> None:
        self.feeds = [first]
        self._turns = {id(first): 0}
        self.taken = 0  # batches
        self._new = False
        self._caches: dict[Hashable, tuple[tuple[int, int], MiniCache]] = {}

    @property
    def lead(self) -> ForgettingFeed:
        """The feed that adds what arrives."""
        return self.feeds[0]

    def fits(self, feed: ForgettingFeed) -> bool:
        """Whether a feed may join: nothing has arrived, and it keeps the same tags."""
        return self.taken == 0 and np.array_equal(feed.wanted, self.lead.wanted)

    def join(self, feed: ForgettingFeed) -> None:
        """One more reads this history."""
        self.feeds.append(feed)
        self._turns[id(feed)] = 0

    def go_on(self, taken: int) -> None:
        """All have read so many batches; their history was restored with them."""
        self.taken = taken
        self._turns = dict.fromkeys(self._turns, taken)

    def add(self, feed: SelectingFeed, batch: FragmentBatch) -> bool:
        """Add a batch, unless that was done → whether it may contain anything new."""
        turn = self._turns[id(feed)]
        self._turns[id(feed)] = turn + 1
        if turn == self.taken:
            self.taken += 1
            self._new = self.lead.add_alone(batch)
        feed.dropped = self.lead.dropped
        return self._new or turn + 1 < self.taken

    def cache(
        self, kind: Hashable, root: tuple[int, int], make: Callable[[], MiniCache]
    ) -> MiniCache:
        """The units of a root, one for all feeds that see the same kind."""
        known = self._caches.get(kind)
        if known is None or known[0] != root:
            known = self._caches[kind] = root, make()
        return known[1]


def share(known: dict[str, list[Shared]], feeds: Mapping[str | None, Feed]) -> None:
    """Let feeds join histories that others read, where they fit; else each begins one."""
    for name, feed in feeds.items():
        if isinstance(feed, ForgettingFeed) and feed.shared is None and feed.may_share():
            _let_in(known.setdefault(str(name), []), feed)


def _let_in(known: list[Shared], feed: ForgettingFeed) -> None:
    for one in known:
        if one.fits(feed):
            one.join(feed)
            feed.read_from(one)
            return
    known.append(Shared(feed))
    feed.read_from(known[-1])
