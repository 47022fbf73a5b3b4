"""Arrivals of a query that stays, and how its inputs are divided into units for its circuit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from xstreamcast.algebra.analysis.cut import Cut, DepthCut, TagCut
from xstreamcast.circuit.compile import whole_circuit
from xstreamcast.circuit.inputs.passed_tags import passing
from xstreamcast.circuit.inputs.sieve import sieve_of
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.history.history import History
from xstreamcast.model.fragment import Arrival, Ended, FragmentBatch, Heartbeat, NewStructure
from xstreamcast.model.instant import SECOND
from xstreamcast.operators.feeds.answer import AnswerFeed
from xstreamcast.operators.feeds.document import (
    Forbidden,
    PlannedStates,
)
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.feeds.grown import GrownFeed
from xstreamcast.operators.feeds.kinds import Feed
from xstreamcast.operators.feeds.once import OnceFeed
from xstreamcast.operators.feeds.sharing import share
from xstreamcast.operators.feeds.split import SplitFeed
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.inner.inner import Unmaintained
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.watching.plans import WatchPlan, planned
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.model.change import Change
    from xstreamcast.model.structure import TagStructure

from xstreamcast.operators.watching.inputs import WatchInputs

_NEXT: Final = b"next"  # distinguished from a piece by identity, not by content


@dataclass(slots=True)
class PlannedInputs(WatchInputs):
    """The inputs, and the circuit that is planned as soon as their structures are known."""

    def __post_init__(self) -> None:
        if "fragments" not in self.kinds.values():
            self._divide()

    # -- arrivals ----------------------------------------------------------------------------------

    def on_bytes(self, name: str | None, chunk: bytes) -> None:
        """A piece of a document has come."""
        if self.pipeline is None:
            self._waiting.append((name, chunk))
            return
        feed = self._feeds[name]
        assert not isinstance(feed, FragmentFeed | AnswerFeed)
        self._touched.add(name)
        while chunk:
            moved = feed.feed(chunk)
            if moved:
                self._moves.setdefault(name, []).append(moved)
            chunk = feed.behind()
            if chunk:
                feed.next_document()
        self.reach(Moment(feed.units * SECOND))

    def on_next_document(self, name: str | None) -> None:
        """What comes from now on is another document of an input, behind those that came."""
        if self.pipeline is None:
            self._waiting.append((name, _NEXT))
            return
        feed = self._feeds[name]
        assert not isinstance(feed, FragmentFeed | AnswerFeed)
        feed.next_document()

    def on_arrivals(self, name: str, found: Iterable[Arrival], ids: Ids | None = None) -> None:
        """Something has come on a fragment stream."""
        for one in found:
            match one:
                case NewStructure(structure):
                    self._describe(name, structure, ids)
                case FragmentBatch():
                    feed = self._feeds[name]
                    assert isinstance(feed, FragmentFeed)
                    if feed.add(one):
                        self._touched.add(name)
                    if self.told_time:
                        self.reach(Moment(feed.history.newest, feed.history.zoned))
                case Heartbeat(instant):
                    if self.told_time:
                        self.reach(Moment(instant))
                case Ended():
                    self.on_end(name)
                case _:
                    pass  # the reader reports what was refused

    def on_changes(self, name: str, changes: Sequence[Change]) -> None:
        """The answer that is read as an input has changed."""
        if not changes:
            return
        feed = self._answer_feed(name)
        assert isinstance(feed, AnswerFeed)
        only_more = all(change.diff > 0 for change in changes)
        assert only_more or name not in self.grown, "such an answer revises nothing"
        moved = feed.feed(changes)
        self._touched.add(name)
        if name in self.grown:
            self._moves.setdefault(name, []).append(moved)
        else:  # waiting units may be gone: then all are evaluated
            self._moves[name] = [feed.everything() if name in self._moves else moved]

    def _answer_feed(self, name: str | None) -> Feed:
        """What takes the answer of another query in."""
        if name not in self._feeds:
            kind = OnceFeed if name in self.once else AnswerFeed
            self._feeds[name] = kind(str(name), self.names)
        return self._feeds[name]

    def on_end(self, name: str | None) -> None:
        """An input has ended."""
        if name in self.ended:
            return
        self.ended.add(name)
        self._touched.add(name)
        feed = self._feeds.get(name)
        if isinstance(feed, FragmentFeed):
            # nothing is missing any more: what has not come is absent
            self._stale |= {name} if feed.strict else set()
            feed.strict = False
        elif feed is not None:
            feed.close()

    def _describe(self, name: str, structure: TagStructure, ids: Ids | None) -> None:
        feed = self._feeds.get(name)
        if feed is None:
            self._feeds[name] = self._feed_of(name, structure, ids)
        else:
            assert isinstance(feed, ForgettingFeed)
            if structure == feed.history.structure:
                return
            feed.describe(structure)
        streams = [one for one, kind in self.kinds.items() if kind == "fragments"]
        if all(one in self._feeds for one in streams):
            self._divide()
            if self.sharing is not None:
                share(self.sharing, self._feeds)

    def _feed_of(self, name: str, structure: TagStructure, ids: Ids | None) -> ForgettingFeed:
        """What takes a stream in of which nothing has come yet."""
        history = History(name, structure, store=Store(self.names), ids=ids)
        fixed = frozenset[int]() if self.fixed is None else self.fixed(name, structure)
        feed = ForgettingFeed(history, self.program, self.policy == "strict", fixed)
        feed.versioned, feed.lateness = not self.shallow, self.lateness
        feed.moves_clock = self.told_time
        return feed

    # -- planning ----------------------------------------------------------------------------------

    def _divide(self) -> None:
        """Plan the query, and begin; or begin again by another plan."""
        documents = frozenset(name for name, kind in self.kinds.items() if kind == "document")
        cuts = self._cuts(documents)
        inner = self.policy == "optimistic" and not self._unkept and not _passes(cuts)
        if self._as_written:
            plan = WatchPlan(whole_circuit(self.program), {}, {})
        else:
            grown = self.tables | self.grown
            plan = planned(
                self.program, cuts, documents - self._uncut, inner, grown, self.once
            )  # fmt: skip
        self.pipeline = self._go_on(plan.run(self.final, self.once))
        self._compress(self.pipeline.looked_up & self.grown)
        for name in documents:
            self._begin(name, plan)
        try:
            self._begin_streams(plan)
        except Forbidden as why:
            self._give_up_cut(why)
            return
        waiting, self._waiting = self._waiting, []
        for name, chunk in waiting:
            if chunk is _NEXT:
                self.on_next_document(name)
            else:
                self.on_bytes(name, chunk)

    def _compress(self, names: frozenset[str | None]) -> None:
        """Keep items that nothing refers to compressed."""
        for name in names:
            feed = self._feeds[name]
            if not isinstance(feed, OnceFeed | GrownFeed):
                assert isinstance(feed, AnswerFeed)
                made = self._feeds[name] = GrownFeed(feed.name, self.names)
                made.extend(list(feed.items()))

    def _go_on(self, made: CircuitRun) -> CircuitRun:
        """The operators in place of those before: all units are evaluated again, and only what
        differs from what was emitted is a change.
        """
        if self.pipeline is not None:
            made.take_over(self.pipeline)
        return made

    def _cuts(self, documents: frozenset[str | None]) -> Mapping[str | None, Cut]:
        """Where streams of fragments, and answers that are read as inputs, are cut into units."""
        cuts: dict[str | None, Cut] = {
            name: TagCut(feed.history.structure)
            for name, feed in self._feeds.items()
            if isinstance(feed, FragmentFeed) and name not in self._uncut
        }
        for name in (one for one, kind in self.kinds.items() if kind == "answer"):
            self._answer_feed(name)
            if name not in self._uncut:
                cuts[name] = DepthCut(2)
        self._ask_answers_again()
        return cuts if self.shallow else passing(self.program, cuts, documents - self._uncut)

    def _begin(self, name: str | None, plan: WatchPlan) -> None:
        """Read a document as the plan needs it; again from its beginning if it was split."""
        before = self._feeds.get(name)
        if before is not None and not isinstance(before, SplitFeed):
            return
        mixed = "fragments" in self.kinds.values()  # a stream may turn out not to be cut
        feed = self._feeds[name] = plan.document(name, self.names, mixed)
        if before is not None:
            moved = feed.feed(bytes(before.raw)) if before.raw else None
            self._moves[name] = [moved] if moved else []
            self._touched.add(name)
            if name in self.ended:
                feed.close()

    def _begin_streams(self, plan: WatchPlan) -> None:
        """Cut the streams of fragments as the plan needs it."""
        run = self.pipeline
        for name, feed in self._feeds.items():
            if not isinstance(feed, ForgettingFeed):
                continue
            assert run is not None
            feed.reach(self.now.instant)  # it may have come before other inputs did
            feed.timed = run.is_timed(name)
            units = run.units_of(name)
            feed.maintain(
                () if units is None else units.inner, self._asking,
                None if units is None else units.judged,
            )  # fmt: skip
            feed.sift(sieve_of(run.circuit, name), self._asking)
            feed.settles = run.settles(name)
            cut = plan.cuts.get(name)
            assert not isinstance(cut, DepthCut)
            feed.cut_at(cut if name in run.driven else None)
            self._stale.add(name)
            self._touched.add(name)

    def _ask_answers_again(self) -> None:
        """Evaluate all items of answers that are read as inputs, whatever was known."""
        for name, feed in self._feeds.items():
            if isinstance(feed, AnswerFeed | SplitFeed):
                self._moves[name] = [feed.everything()]

    def _give_up_cut(self, why: Forbidden) -> None:
        """The root cannot be cut, and its stream is read whole from now on; or nothing is kept."""
        if isinstance(why, Unmaintained):
            self._unkept = True
            self._divide()
            return
        self._as_written |= isinstance(why, PlannedStates)
        if not self.shallow and not self._as_written and _passes(self._cuts(frozenset())):
            self.shallow = True
            self._divide()
            return
        self.refusals.append(str(why))
        self._uncut |= {n for n, f in self._feeds.items() if isinstance(f, FragmentFeed)}
        self._divide()


def _passes(cuts: Mapping[str | None, Cut]) -> bool:
    """Whether units are in other fragments than the root."""
    return any(isinstance(cut, TagCut) and cut.passed for cut in cuts.values())
