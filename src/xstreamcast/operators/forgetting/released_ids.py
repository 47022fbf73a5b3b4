"""Ids of which nothing is kept any more: their codes are given to others.

answers with codes taken back  →  answers without: nothing refers to what a code meant before
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.watching.network import Network

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xstreamcast.kernels.intern import Ids
    from xstreamcast.operators.feeds.kinds import Feed
    from xstreamcast.operators.watching.watch import Watch
    from xstreamcast.tape.layout import Bools

_FEW: Final = 2048  # ids that are not worth looking for


def is_worth(ids: Ids) -> bool:
    """Whether as many ids have come as there were when codes were last taken back."""
    return ids.texts > max(_FEW, 2 * ids.kept)


def take_back(watch: Watch | Network, name: str, ids: Ids, needed: Bools) -> int:
    """Take back the codes of an input that no query needs, nor its reader → how many."""
    feeds = list(_feeds(watch, name))
    if all(isinstance(feed, ForgettingFeed) and feed.mark(needed) for feed in feeds):
        gone = ids.take_back(needed)
        for feed in feeds:
            assert isinstance(feed, ForgettingFeed)
            feed.forget_codes(gone)
        return len(gone)
    ids.kept = ids.texts  # the next look is when there are twice as many
    return 0


def _feeds(watch: Watch | Network, name: str) -> Iterator[Feed]:
    """What takes the input in, for each query."""
    watches = watch._readers.get(name, ()) if isinstance(watch, Network) else (watch,)
    return (one._feeds[name] for one in watches if name in one._feeds)


def no_codes(ids: Ids) -> Bools:
    """For each code, that nothing refers to it."""
    return np.zeros(len(ids), np.bool_)
