"""A query that stays: arrivals in, changes of its answer out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.monotone import grows, witnessed_item
from xstreamcast.circuit.analysis.normal import input_name
from xstreamcast.errors import Error
from xstreamcast.evaluate.deep import deep
from xstreamcast.model.uncollected import uncollected
from xstreamcast.operators.feeds.arrived import Tick
from xstreamcast.operators.feeds.document import (
    DocumentFeed,
    Forbidden,
    PlannedStates,
    WholeDocument,
)
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.feeds.kinds import Feed, drops_units
from xstreamcast.operators.feeds.once import OnceFeed
from xstreamcast.operators.feeds.split import SplitFeed
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.units.missing import hollow_names, sent_names
from xstreamcast.operators.units.units import UnitDelta

if TYPE_CHECKING:
    from xstreamcast.model.change import Change
    from xstreamcast.model.structure import TagStructure

from xstreamcast.operators.watching.planned_inputs import PlannedInputs


@dataclass(slots=True)
class Watch(PlannedInputs):
    """A query over inputs that arrive, tick by tick.

    accumulated changes after each tick  →  the query evaluated over what has arrived by then
    """

    def tick(self) -> list[Change]:
        """The changes of the answer since the last tick."""
        with uncollected():
            changes = deep(self._tick)  # one thread for all evaluations of a tick
            if self.once and not self._touched:  # nothing waits to be evaluated again
                self._drop_once()
        self._drop_units()
        return changes

    def _tick(self, leaving: bool = False) -> list[Change]:
        if self.pipeline is None or self._lacks_item():
            return []
        moves = self._taken()
        undecided = self._undecided()
        witness = self._witness() if undecided or self._unsaid else None
        waits = witness is None and self.pipeline.waits(undecided)
        if waits and not self._grows():
            self._hold(moves)
            return []
        self._views = {
            n: one for n, one in self._views.items() if input_name(n) not in self._touched
        }
        clock_moved = self.now != self._ticked_at
        arrived = Tick(
            moves, frozenset(self._touched), clock_moved, self._everything, self._again,
            not undecided or waits or witness is not None, frozenset(self.ended),
            frozenset(n for n, f in self._feeds.items() if isinstance(f, DocumentFeed)),
            frozenset(n for n, f in self._feeds.items() if drops_units(f)),
            self._rooted, self._spine, leaving,
        )  # fmt: skip
        asking = self._asking()
        owed, self._owed = self._owed, []
        try:
            changes = deep(partial(self.pipeline.on_tick, arrived, asking, self.now.instant))
        except Error as why:
            if self._plans_carefully():
                self._owed = owed
                return self._tick(leaving)
            if not self._may_mend():
                raise self._first_error(why) from None
            self._owed, self.failing = owed, why
            self._stale |= {n for n, f in self._feeds.items() if isinstance(f, FragmentFeed)}
            self._ask_answers_again()
            return []
        finally:
            asking.release()
        self._touched, self._ticked_at, self.failing = set(), self.now, None
        self._forget()
        if witness is None:
            return owed + changes
        return self._witnessed(owed + changes, witness, bool(undecided))

    # -- arrived since the last tick ---------------------------------------------------------------

    def _taken(self) -> dict[str | None, list[UnitDelta]]:
        """The moves of all inputs since the last tick; what cannot be cut is given up."""
        while True:
            try:
                taken = self._fragments_taken()
            except Forbidden as why:
                self._give_up_cut(why)
            else:
                moves, self._moves = self._moves, {}
                return moves | taken

    def _fragments_taken(self) -> dict[str | None, list[UnitDelta]]:
        moves: dict[str | None, list[UnitDelta]] = {}
        stale, self._stale = self._stale, set()
        for name, feed in self._feeds.items():
            if isinstance(feed, FragmentFeed) and feed.reach(self.now.instant):
                self._touched.add(name)
            if isinstance(feed, FragmentFeed) and feed.cut is not None:
                if feed.plans and self._reaches():
                    raise PlannedStates("a projection may see states that are planned")
                moved = feed.take()
                moved = feed.everything() if name in stale else moved
                if moved:
                    moves[name] = [moved]
        return moves

    def _hold(self, moves: dict[str | None, list[UnitDelta]]) -> None:
        """Keep changed units until answers may be emitted."""
        for name, held in moves.items():
            if isinstance(self._feeds[name], FragmentFeed):
                self._stale.add(name)
            else:
                self._moves[name] = held

    def _lacks_item(self) -> bool:
        """Whether the context item has not begun yet."""
        feed = self._feeds.get(None)
        return isinstance(feed, WholeDocument) and not feed.begun

    # -- policy: what is decided -------------------------------------------------------------------

    def _undecided(self) -> frozenset[str | None]:
        """The inputs of which something may be missing, where the policy minds."""
        if self.policy == "optimistic":
            return frozenset()
        return frozenset(
            name
            for name, feed in self._feeds.items()
            if name not in self.ended and not (isinstance(feed, FragmentFeed) and feed.complete)
        )

    def _grows(self) -> bool:
        """Whether items of the answer are final, though others are missing: all is streams."""
        feeds = self._feeds.values()
        if not all(isinstance(feed, FragmentFeed) for feed in feeds):
            return False
        return grows(self.program.body, self._names_of(hollow_names), self._names_of(sent_names))

    def _names_of(self, found: Callable[[TagStructure], frozenset[str]]) -> frozenset[str]:
        """Names of elements by the structures of all streams."""
        feeds = [one for one in self._feeds.values() if isinstance(one, FragmentFeed)]
        return frozenset().union(*(found(feed.history.structure) for feed in feeds))

    def _witness(self) -> str | None:
        """What the answer is for good once it is so, however much is missing: a witness decides."""
        return witnessed_item(self.program.body, self._names_of(hollow_names))

    def _witnessed(self, changes: list[Change], witness: str, undecided: bool) -> list[Change]:
        """What may be emitted of the answer to a test; changes that cancel out are omitted."""
        said: list[Change] = []
        for change in (*self._unsaid, *changes):
            if change.diff < 0 and said and said[-1].diff > 0:
                said.pop()
            else:
                said.append(change)
        waits = undecided and not (said and said[-1].diff > 0 and said[-1].item == witness)
        self._unsaid = said if waits else []
        return [] if waits else said

    # -- errors ------------------------------------------------------------------------------------

    def _plans_carefully(self) -> bool:
        """Plan the query again where an operator failed that evaluates what nothing may read."""
        hasty = self.pipeline is not None and self.pipeline.circuit.hasty
        documents = any(kind == "document" for kind in self.kinds.values())
        if not hasty or documents or self.program.careful:
            return False
        self.program = replace(self.program, careful=True)
        self._stale |= {n for n, f in self._feeds.items() if isinstance(f, FragmentFeed)}
        self._divide()
        return True

    def _first_error(self, why: Error) -> Error:
        """The error that is reported, however units are divided into batches and partitions."""
        run = self.pipeline
        return deep(partial(run.first_error, why)) if isinstance(run, CircuitRun) else why

    def _may_mend(self) -> bool:
        """Whether what is still to come may make an error go away: parts of it may be missing."""
        waits = {n for n, feed in self._feeds.items() if not self._is_dropping(n, feed)}
        return bool(waits - self.ended)

    # -- what is dropped ---------------------------------------------------------------------------

    def _drop_units(self) -> None:
        """Drop units of documents that no row refers to and that will not be read again."""
        for name, feed in self._feeds.items():
            if isinstance(feed, SplitFeed) and feed.held:
                if self.ended >= set(self.kinds):
                    feed.release()
                feed.drops = self._is_dropping(name, feed)
                feed.drop()

    def _is_dropping(self, name: str | None, feed: Feed) -> bool:
        """Whether units of an input are dropped once they were evaluated."""
        if isinstance(feed, SplitFeed) and feed.held and self.ended >= set(self.kinds) - {name}:
            return True
        return drops_units(feed)

    def _drop_once(self) -> None:
        """Drop the items that are read once; what was emitted because of them stays."""
        gone = {n: f.drop() for n, f in self._feeds.items() if isinstance(f, OnceFeed)}
        moves = {name: [moved] for name, moved in gone.items() if moved}
        if not moves:
            return
        assert self.pipeline is not None
        if self.pipeline.let_go(self.once):
            kept = self._views.items()
            self._views = {n: one for n, one in kept if input_name(n) not in moves}
        else:
            self._moves |= moves
            self._touched |= moves.keys()
            deep(partial(self._tick, leaving=True))

    def _forget(self) -> None:
        """Drop units that were emitted and cannot change."""
        assert self.pipeline is not None
        for name, feed in self._feeds.items():
            if isinstance(feed, ForgettingFeed):
                self.pipeline.settled(name, *feed.emitted(self.now.instant))
