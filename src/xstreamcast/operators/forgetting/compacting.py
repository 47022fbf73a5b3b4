"""A fragment stream whose dropped fragments give their memory back.

columns and tapes of all fragments  →  columns and tapes of those that are kept
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from xstreamcast.history.forgetting import forget, tape_bytes
from xstreamcast.model.column import distinct
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.units.history_part import FragmentPlaces

if TYPE_CHECKING:
    from xstreamcast.history.history import History
    from xstreamcast.model.fragment import FragmentBatch
    from xstreamcast.operators.feeds.sharing import Shared
    from xstreamcast.tape.layout import I64, Bools

_FEW: Final = 64  # dead fragments that are not worth moving the others for
_SEVERAL: Final = 16  # small batches, before tapes are weighed
_SPARE: Final = 1 << 18  # bytes of tapes that are not worth cutting payloads out for
_ROW: Final = 27  # bytes of a node's columns


class CompactingFeed(FragmentFeed):
    """Notes which fragments are dead, and removes them when that is worth its cost."""

    def __init__(self, history: History, strict: bool) -> None:
        super().__init__(history, None, strict)
        self.shared: Shared | None = None  # others read the same history: nothing is forgotten
        self._dead: Bools = np.zeros(0, np.bool_)  # by place
        self._held = 0  # bytes of tapes when they were last weighed
        self._least = 0  # bytes of tapes when all that could go had gone
        self._looked = 0  # fragments when ended versions were last searched for
        self._weighed = 0  # fragments and holes when superseded contents were last searched for
        self._since = self._batches = 0  # bytes and batches since tapes were weighed

    def _bury(self, places: I64) -> None:
        more = len(self.history) - len(self._dead)
        if more > 0:
            self._dead = np.concatenate((self._dead, np.zeros(more, np.bool_)))
        self._dead[places] = True

    def _live(self) -> Bools:
        live = np.ones(len(self.history), np.bool_)
        live[: len(self._dead)] = ~self._dead
        return live

    @property
    def _size(self) -> int:
        """Fragments and holes."""
        return len(self.history) + len(self.history.holes)

    def _is_heavy(self, batch: FragmentBatch) -> bool:
        """Whether tapes hold too much that is not needed; measured when enough has come since."""
        self._since += tape_bytes(batch.tape)
        self._batches += 1
        few = max(_SEVERAL, len(self.history.store._tapes) // 16)
        if self._since <= max(_SPARE // 4, self._held // 16) and self._batches < few:
            return False
        self._since = self._batches = 0
        return self._waste() > _SPARE

    def _waste(self) -> int:
        """Bytes of tapes that no payload needs, beyond what is needed."""
        f, tapes = self.history.fragments, self.history.store._tapes
        live = slice(0, len(f)) if len(self._dead) == 0 else self._live()
        rows, text = f["rows"][live].sum(dtype=np.int64), f["nbytes"][live].sum(dtype=np.int64)
        held = self._held = sum(tape_bytes(tape) for tape in tapes if tape is not None)
        return held - 2 * max(int(_ROW * rows + text), self._least)

    def _compact_if_worth(self) -> None:
        dead = int(np.count_nonzero(self._dead))
        held = np.diff(self.history.fragments["holes"], prepend=0)[: len(self._dead)]
        empty, size = dead + int(held[self._dead].sum()), self._size
        # holes are copied too: where others hold many, more fragments must have gone
        worth = 2 * empty > size or (2 * dead > len(self.history) and 16 * dead > size)
        if (empty > _FEW and worth) or self._waste() > _SPARE:
            self._compact()

    def _compact(self) -> None:
        live = self._live()
        place = np.where(live, np.cumsum(live) - 1, -1)
        moved = distinct(self.history.fragments["id"][place != np.arange(len(live))])
        forget(self.history, live)
        links = FragmentPlaces(self.history)
        links.catch_up()
        tapes = self.history.store._tapes
        self._least = sum(tape_bytes(tape) for tape in tapes if tape is not None)
        for feed in [self] if self.shared is None else self.shared.feeds:
            feed._relink(links, place, moved)

    def _relink(self, links: FragmentPlaces, place: I64, moved: I64) -> None:
        """Fragments are at other places: below 0 those that are gone; `moved` are their ids."""
        self._links, self._dead = links, np.zeros(0, np.bool_)
        if self._by_version is not None:
            self._by_version.compacted(links, place, moved.tolist())
        if self._attached is not None:
            self._attached.links = links
        self._taken = int((place[: self._taken] >= 0).sum())
        self._looked = min(self._looked, len(self.history))
        self._weighed = min(self._weighed, self._size)
