"""A query that stays: arrivals in, changes of its answer out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from xstreamcast.algebra.analysis.cut import Cut, DepthCut, TagCut
from xstreamcast.algebra.analysis.monotone import grows, witnessed_item
from xstreamcast.algebra.analysis.timing import reached
from xstreamcast.circuit.analysis.normal import input_name
from xstreamcast.circuit.compile import whole_circuit
from xstreamcast.circuit.inputs.grown import only_grows
from xstreamcast.circuit.inputs.passed_tags import passing
from xstreamcast.circuit.inputs.sieve import sieve_of
from xstreamcast.errors import Error, not_given
from xstreamcast.evaluate.deep import deep
from xstreamcast.evaluate.time.moments import Moment
from xstreamcast.history.history import History
from xstreamcast.history.query import HistoryQuery, When
from xstreamcast.model.fragment import Arrival, Ended, FragmentBatch, Heartbeat, NewStructure
from xstreamcast.model.instant import SECOND
from xstreamcast.model.items import Items
from xstreamcast.model.uncollected import uncollected
from xstreamcast.operators.feeds.answer import AnswerFeed
from xstreamcast.operators.feeds.arrived import Tick
from xstreamcast.operators.feeds.document import (
    DocumentFeed,
    Forbidden,
    PlannedStates,
    WholeDocument,
)
from xstreamcast.operators.feeds.fragments import FragmentFeed
from xstreamcast.operators.feeds.grown import GrownFeed
from xstreamcast.operators.feeds.kinds import Feed, all_units, drops_units, units_again
from xstreamcast.operators.feeds.once import OnceFeed
from xstreamcast.operators.feeds.sharing import Shared, share
from xstreamcast.operators.feeds.split import SplitFeed
from xstreamcast.operators.forgetting.forgetting import ForgettingFeed
from xstreamcast.operators.inner.inner import Unmaintained
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.units.evaluating import BEFORE, EvaluationContext
from xstreamcast.operators.units.missing import hollow_names, sent_names
from xstreamcast.operators.units.units import UnitDelta
from xstreamcast.operators.watching.plans import WatchPlan, planned
from xstreamcast.tape.names import Names
from xstreamcast.tape.store import Store

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.model.change import Change
    from xstreamcast.model.sequence_type import NodeItem
    from xstreamcast.model.structure import TagStructure
    from xstreamcast.operators.units.spine_view import SpineView
    from xstreamcast.tape.layout import Tape

_NEXT: Final = b"next"  # distinguished from a piece by identity, not by content
Kind = Literal["document", "fragments", "answer"]
Policy = Literal["optimistic", "strict"]


@dataclass(slots=True)
class Watch:
    """The inputs by name (None is the context item) and the state that the answer needs.

    accumulated changes after each tick  →  the query evaluated over what has arrived by then
    """

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
    shallow: bool = False  # units stand in the root alone, with all of their versions
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
    _unkept: bool = False  # what stands in units is not what could be kept of them
    _waiting: list[tuple[str | None, bytes]] = field(default_factory=list)
    _owed: list[Change] = field(default_factory=list)
    _unsaid: list[Change] = field(default_factory=list)  # no witness has come for these yet
    _ticked_at: Moment | None = None
    _views: dict[str, tuple[Tape, Items]] = field(default_factory=dict)  # inputs as they stand

    def __post_init__(self) -> None:
        if "fragments" not in self.kinds.values():
            self._divide()

    # -- arrivals ---------------------------------------------------------------------------------

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

    def reach(self, now: Moment) -> None:
        """The clock says so; it never goes back."""
        if now.instant > self.now.instant:
            self.now = now

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

    @property
    def structures(self) -> list[TagStructure]:
        """Those of the streams of fragments, as far as they have come."""
        feeds = self._feeds.values()
        return [one.history.structure for one in feeds if isinstance(one, FragmentFeed)]

    # -- dividing ---------------------------------------------------------------------------------

    def _divide(self) -> None:
        """Plan the query, and begin; or begin anew."""
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

    # -- ticks ------------------------------------------------------------------------------------

    def tick(self) -> list[Change]:
        """The changes of the answer since the last tick."""
        with uncollected():
            changes = deep(self._tick)  # one thread for all evaluations of a tick
            if self.once and not self._touched:  # nothing waits to be evaluated again
                self._drop_once()
        self._drop_units()
        return changes

    def _drop_units(self) -> None:
        """Let go of units of documents that nobody refers to, when nobody can read them again."""
        for name, feed in self._feeds.items():
            if isinstance(feed, SplitFeed) and feed.held:
                if self.ended >= set(self.kinds):
                    feed.release()
                feed.drops = self._is_dropping(name, feed)
                feed.drop()

    def _is_dropping(self, name: str | None, feed: Feed) -> bool:
        """Whether units of an input are let go once they were evaluated."""
        if isinstance(feed, SplitFeed) and feed.held and self.ended >= set(self.kinds) - {name}:
            return True
        return drops_units(feed)

    def _drop_once(self) -> None:
        """Let the items go that are read once; what was emitted because of them stays."""
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

    def _lacks_item(self) -> bool:
        """Whether the context item has not begun yet."""
        feed = self._feeds.get(None)
        return isinstance(feed, WholeDocument) and not feed.begun

    def _forget(self) -> None:
        """Drop units that were emitted and cannot change."""
        assert self.pipeline is not None
        for name, feed in self._feeds.items():
            if isinstance(feed, ForgettingFeed):
                self.pipeline.settled(name, *feed.emitted(self.now.instant))

    def _undecided(self) -> frozenset[str | None]:
        """The inputs of which something may be missing, where the policy minds."""
        if self.policy == "optimistic":
            return frozenset()
        return frozenset(
            name
            for name, feed in self._feeds.items()
            if name not in self.ended and not (isinstance(feed, FragmentFeed) and feed.complete)
        )

    def _hold(self, moves: dict[str | None, list[UnitDelta]]) -> None:
        """Keep changed units until answers may be emitted."""
        for name, held in moves.items():
            if isinstance(self._feeds[name], FragmentFeed):
                self._stale.add(name)
            else:
                self._moves[name] = held

    def _first_error(self, why: Error) -> Error:
        """The error that is reported, however units are divided into batches and partitions."""
        run = self.pipeline
        return deep(partial(run.first_error, why)) if isinstance(run, CircuitRun) else why

    def _may_mend(self) -> bool:
        """Whether what is still to come may make an error go away: parts of it may be missing."""
        waits = {n for n, feed in self._feeds.items() if not self._is_dropping(n, feed)}
        return bool(waits - self.ended)

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

    def _whole(self, name: str, store: Store) -> Items:
        """An input as it stands; made once for as long as nothing comes."""
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

    def repeated(self, name: str | None) -> int:
        """How many fragments of an input said what had been said."""
        feed = self._feeds.get(name)
        return feed.history.repeated if isinstance(feed, FragmentFeed) else 0

    def orphans(self, name: str | None) -> int:
        """How many ids of an input have content, and stand nowhere."""
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


def _passes(cuts: Mapping[str | None, Cut]) -> bool:
    """Whether units stand in other fragments than the root."""
    return any(isinstance(cut, TagCut) and cut.passed for cut in cuts.values())
