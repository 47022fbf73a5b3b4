"""What a query that stays has of its inputs, and what its operators evaluate it with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from xstreamcast.algebra.analysis.timing import reached
from xstreamcast.circuit.analysis.normal import input_name
from xstreamcast.circuit.inputs.grown import only_grows
from xstreamcast.errors import Error, not_given
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.history.query import HistoryQuery, When
from xstreamcast.model.items import Items
from xstreamcast.operators.feeds.document import (
    DocumentFeed,
)
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.feeds.kinds import Feed, all_units, units_again
from xstreamcast.operators.feeds.sharing import Shared
from xstreamcast.operators.feeds.split import SplitFeed
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.units.evaluating import BEFORE, EvaluationContext
from xstreamcast.operators.units.units import UnitDelta
from xstreamcast.tape.names import Names
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.model.change import Change
    from xstreamcast.model.sequence_type import NodeItem
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.operators.units.spine_view import SpineView
    from xstreamcast.tape.layout import Tape


Kind = Literal["document", "fragments", "answer"]
Policy = Literal["optimistic", "strict"]


@dataclass(slots=True)
class WatchInputs:
    """The inputs by name (None is the context item) with what has arrived of each."""

    program: Program
    kinds: Mapping[str | None, Kind]
    names: Names = field(default_factory=Names)
    variables: Mapping[tuple[str, str], Items] = field(default_factory=dict)
    policy: Policy = "optimistic"
    now: Moment = BEFORE
    pipeline: CircuitRun | None = None
    ended: set[str | None] = field(default_factory=set)
    failing: Error | None = None  # the error of the last tick, which may go away
    refusals: list[str] = field(default_factory=list)  # why cuts did not hold
    fixed: Callable[[str, TagStructure], frozenset[int]] | None = None  # tags never revised
    sharing: dict[str, list[Shared]] | None = None  # histories that other queries read
    shallow: bool = False  # units are in the root alone, with all of their versions
    told_time: bool = True  # what arrives moves the clock; False: only `reach` does
    once: frozenset[str | None] = frozenset()  # answers whose items are dropped after each tick
    final: bool = False  # what is emitted is never revised
    tables: frozenset[str | None] = frozenset()  # answers that are whole before all else comes
    grown: frozenset[str | None] = frozenset()  # answers that only grow
    lateness: int | None = None  # no fragment comes that is older than now by more
    _feeds: dict[str | None, Feed] = field(default_factory=dict)
    _moves: dict[str | None, list[UnitDelta]] = field(default_factory=dict)
    _touched: set[str | None] = field(default_factory=set)
    _stale: set[str | None] = field(default_factory=set)  # inputs whose units must all be evaluated
    _uncut: set[str | None] = field(default_factory=set)
    _as_written: bool = False  # projections see planned states, whatever rules would make of them
    _unkept: bool = False  # folds over fragments inside of units cannot be kept
    _waiting: list[tuple[str | None, bytes]] = field(default_factory=list)
    _owed: list[Change] = field(default_factory=list)
    _unsaid: list[Change] = field(default_factory=list)  # no witness has come for these yet
    _ticked_at: Moment | None = None
    _views: dict[str, tuple[Tape, Items]] = field(default_factory=dict)  # of inputs, as of now

    # -- evaluating --------------------------------------------------------------------------------

    def _asking(self) -> EvaluationContext:
        reaching = self._reaching if self._reaches() else None
        return EvaluationContext(
            self.program, self.names, self.variables, self._whole, self.now, reaching
        )

    def _reaches(self) -> bool:
        """Whether a projection may see states that are planned."""
        feeds = (one for one in self._feeds.values() if isinstance(one, FragmentFeed))
        return any(one.plans for one in feeds) and reached(self.program) > self.now.instant

    def _reaching(self, store: Store) -> HistoryQuery:
        """The streams with what is planned, as a query that is not left running sees them."""
        fed = {n: one for n, one in self._feeds.items() if isinstance(one, FragmentFeed)}
        histories = {str(name): feed.history for name, feed in fed.items()}
        when = When(self.now, planned=True)
        return HistoryQuery(  # caq: the program's paths begin at the root
            self.program, histories, store, when, "caq", lambda name: self._whole(name, store)
        )

    def _whole(self, name: str, store: Store) -> Items:
        """All of an input as of now; it is made again only after something has arrived."""
        known = self._views.get(name)
        if known is None:
            if input_name(name) not in self._feeds:
                raise not_given("FODC0002", f"there is no input named {name or repr(name)}")
            feed = self._feeds[input_name(name)]
            assert not isinstance(feed, DocumentFeed | SplitFeed)
            found = feed.whole(store)
            if len(found):
                self._views[name] = store.tape(int(found.values[0]) >> 32), found
            return found
        tape, found = known
        return Items.of_nodes((found.values & 0xFFFFFFFF) | (store.add(tape) << 32))

    def _everything(self, name: str | None) -> UnitDelta:
        return all_units(self._feeds[name])

    def _rooted(self, name: str | None, test: NodeItem) -> bool:
        """Whether a stream of fragments has a root element that passes a test."""
        feed = self._feeds.get(name)
        return isinstance(feed, FragmentFeed) and feed.has_root(test)

    def _spine(self, name: str | None) -> SpineView | None:
        """The elements of the root of a stream of fragments."""
        feed = self._feeds.get(name)
        return feed.spine() if isinstance(feed, FragmentFeed) else None

    def _again(self, keys: Sequence[str], name: str | None) -> list[UnitDelta]:
        return units_again(self._feeds[name], keys)

    # -- what there is -----------------------------------------------------------------------------

    def reach(self, now: Moment) -> None:
        """The clock says so; it never goes back."""
        if now.instant > self.now.instant:
            self.now = now

    @property
    def structures(self) -> list[TagStructure]:
        """Those of the streams of fragments, as far as they have come."""
        feeds = self._feeds.values()
        return [one.history.structure for one in feeds if isinstance(one, FragmentFeed)]

    def repeated(self, name: str | None) -> int:
        """How many fragments of an input said what had been said."""
        feed = self._feeds.get(name)
        return feed.history.repeated if isinstance(feed, FragmentFeed) else 0

    def orphans(self, name: str | None) -> int:
        """How many ids of an input have content, and are in no hole."""
        feed = self._feeds.get(name)
        return feed.history.orphans if isinstance(feed, FragmentFeed) else 0

    def circular(self, name: str | None) -> int:
        """How many ids of an input contain themselves at some instant."""
        feed = self._feeds.get(name)
        return feed.history.circular if isinstance(feed, FragmentFeed) else 0

    def unread(self, name: str | None) -> int:
        """How many fragments of an input were dropped, because no answer can need them."""
        feed = self._feeds.get(name)
        return feed.dropped if isinstance(feed, ForgettingFeed) else 0

    @property
    def only_grows(self) -> bool:
        """Whether items of the answer follow all others and are never revised, whatever comes."""
        if self.pipeline is None or "fragments" in self.kinds.values():
            return False
        return only_grows(self.pipeline.circuit, self.once)

    @property
    def failures(self) -> dict[str, Error]:
        """The error of the last tick, which may go away; a query alone has no name."""
        return {} if self.failing is None else {"": self.failing}

    @property
    def state_bytes(self) -> int:
        """About what is kept: by feeds and by operators."""
        held = 0 if self.pipeline is None else self.pipeline.state_bytes
        return held + sum(feed.state_bytes for feed in self._feeds.values())
