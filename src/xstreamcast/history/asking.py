"""A program asked of histories: which instant is now, and what each stream is to the query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra.parts import part_of
from xstreamcast.evaluate.clipping import clipped
from xstreamcast.evaluate.lifespans import Spans
from xstreamcast.evaluate.moments import Moment
from xstreamcast.history.history import History
from xstreamcast.history.strategy import Chosen, chosen
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.tape.layout import I64
    from xstreamcast.tape.store import Store


@dataclass(frozen=True, slots=True)
class When:
    """What is known and when: `now`, and the interval that every stream is projected to, if any."""

    now: Moment
    between: tuple[Moment, Moment] | None = None


def event_now(histories: Mapping[str, History]) -> Moment | None:
    """The largest valid time over all streams."""
    newest = [Moment(one.newest, one.zoned) for one in histories.values() if len(one)]
    return max(newest, key=lambda moment: moment.instant, default=None)


class Asked:
    """The streams of one evaluation: what a query sees of them is made when it asks."""

    def __init__(
        self,
        program: Program,
        histories: Mapping[str, History],
        store: Store,
        when: When | None,
        strategy: str = "auto",
    ) -> None:
        self._histories, self._store, self._when = histories, store, when
        between = when is not None and when.between is not None
        self.choice: Chosen = chosen(program, histories, strategy, links=not between)
        self.program = self.choice.program
        self._made: dict[str, Items] = {}

    def stream(self, name: str) -> Items:
        """What stands for stream(name), or for the part of it that the program names."""
        if name not in self._made:
            plain = part_of(name)[0]
            assert self._when is not None
            until = self._when.now.instant
            handles = self.choice.nodes(self._histories[plain], name, until, self._store)
            self._made[name] = Items.of_nodes(self._projected(handles))
        return self._made[name]

    def _projected(self, handles: I64) -> I64:
        if self._when is None or self._when.between is None:
            return handles
        (begin, begin_zoned), (end, end_zoned) = self._when.between
        n = len(handles)
        to = Spans(
            np.full(n, begin, np.int64),
            np.full(n, end, np.int64),
            np.full(n, begin_zoned + 2 * end_zoned, np.uint8),
        )
        return clipped(self._store, handles, to, self._when.now.instant)[1]
