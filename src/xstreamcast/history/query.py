"""A query over histories: which instant is now, and which nodes each stream denotes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from xstreamcast.algebra.nodes.parts import part_of
from xstreamcast.evaluate.context import no_streams
from xstreamcast.evaluate.time.clipping import clipped
from xstreamcast.evaluate.time.lifespans import LifespanColumns
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.history.history import History
from xstreamcast.history.planned import Planned, planned
from xstreamcast.history.strategy import ChosenStrategy, chosen
from xstreamcast.model.frozen import dataclass
from xstreamcast.model.instant import START
from xstreamcast.model.items import Items

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.tape.layout import I64
    from xstreamcast.tape.store import Store


@dataclass(frozen=True, slots=True)
class When:
    """The time of a query: `now`, and the interval that every stream is projected to, if any.

    `planned`: projections may also read fragments that are valid after now.
    """

    now: Moment
    between: tuple[Moment, Moment] | None = None
    planned: bool = False


def event_now(histories: Mapping[str, History]) -> Moment | None:
    """The largest valid time over all streams, also of those that sent heartbeats only."""
    newest = [Moment(one.newest, one.zoned) for one in histories.values() if one.newest > START]
    return max(newest, key=lambda moment: moment.instant, default=None)


def planned_instants(histories: Mapping[str, History], when: When | None) -> I64:
    """The valid times after now that projections may reach."""
    if when is None or not when.planned:
        return np.zeros(0, np.int64)
    return planned(histories.values(), when.now.instant)


class HistoryQuery:
    """The streams of one evaluation; views are built on first use."""

    def __init__(
        self,
        program: Program,
        histories: Mapping[str, History],
        store: Store,
        when: When | None,
        strategy: str = "auto",
        other: Callable[[str], Items] = no_streams,
    ) -> None:
        self._histories, self._store, self._when = histories, store, when
        self._other = other  # inputs that are no streams
        between = when is not None and when.between is not None
        later = planned_instants(histories, when)
        self.choice: ChosenStrategy = chosen(
            program,
            histories,
            strategy,
            links=not between,
            planned=self.now if len(later) else None,
        )
        self.program = self.choice.program
        self._made: dict[str, Items] = {}
        self.reach = None if len(later) == 0 else self._reach(later)

    @property
    def now(self) -> int:
        """The instant up to which fragments count."""
        assert self._when is not None
        return self._when.now.instant

    def stream(self, name: str) -> Items:
        """The nodes of stream(name), or of the part of it that the program names."""
        plain = part_of(name)[0]
        if plain not in self._histories:
            return self._other(name)
        if name not in self._made:
            handles = self.choice.nodes(self._histories[plain], name, self.now, self._store)
            self._made[name] = Items.of_nodes(self._projected(handles))
        return self._made[name]

    def document(self, name: str) -> int:
        """What represents doc(name)."""
        if name not in self._histories:
            return int(self._other(name).values[0])
        key = f"doc {name}"
        if key not in self._made:
            node = self.choice.document(self._histories[name], name, self.now, self._store)
            self._made[key] = Items.of_nodes(self._projected(np.array([node], np.int64)))
        return int(self._made[key].values[0])

    def _reach(self, later: I64) -> Planned:
        def stream(name: str, horizon: int) -> Items:
            history = self._histories.get(part_of(name)[0])
            if history is None:
                return self._other(name)
            return Items.of_nodes(self.choice.nodes(history, name, horizon, self._store))

        def document(name: str, horizon: int) -> int:
            if name not in self._histories:
                return int(self._other(name).values[0])
            return self.choice.document(self._histories[name], name, horizon, self._store)

        return Planned(self.now, later, stream, document, lambda: self.choice.shown(self.now))

    def _projected(self, handles: I64) -> I64:
        if self._when is None or self._when.between is None:
            return handles
        (begin, begin_zoned), (end, end_zoned) = self._when.between
        n = len(handles)
        to = LifespanColumns(
            np.full(n, begin, np.int64),
            np.full(n, end, np.int64),
            np.full(n, begin_zoned + 2 * end_zoned, np.uint8),
        )
        return clipped(self._store, handles, to, self._when.now.instant)[1]
