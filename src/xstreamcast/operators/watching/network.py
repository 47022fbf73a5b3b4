"""Several queries that stay: what one emits, others read as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from xstreamcast.algebra.analysis.inputs import inputs_of
from xstreamcast.evaluate.deep import deep
from xstreamcast.model.uncollected import uncollected
from xstreamcast.operators.feeds.once import read_once
from xstreamcast.operators.units.evaluating import BEFORE
from xstreamcast.operators.watching.inputs import Kind, Policy
from xstreamcast.operators.watching.watch import Watch
from xstreamcast.tape.names import Names

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.errors import Error
    from xstreamcast.evaluate.time.moments import Moment
    from xstreamcast.kernels.intern import Ids
    from xstreamcast.model.change import Change
    from xstreamcast.model.fragment import Arrival
    from xstreamcast.model.items import Items
    from xstreamcast.operators.feeds.sharing import Shared


@dataclass(slots=True)
class Network:
    """Queries by name, each after those that it reads; the last one is emitted.

    Several may read an input (split), and share what is kept of a stream of fragments where none of
    them would forget of it; one query may read several (merge). A tick goes through all of them:
    what the first emits is an arrival for the next.

    accumulated changes after each tick  →  the last query over the answers of those before it
    """

    programs: Mapping[str, Program]
    kinds: Mapping[str | None, Kind]
    names: Names = field(default_factory=Names)
    variables: Mapping[tuple[str, str], Items] = field(default_factory=dict)
    policy: Policy = "optimistic"
    tables: frozenset[str | None] = frozenset()  # answers that are whole before all else comes
    lateness: int | None = None  # no fragment comes that is older than now by more
    watches: dict[str, Watch] = field(default_factory=dict)
    _shared: dict[str, list[Shared]] = field(default_factory=dict)
    _readers: dict[str | None, list[Watch]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        once = read_once(self.programs)
        for name, program in self.programs.items():
            read = inputs_of(program)
            kinds: dict[str | None, Kind] = {
                one: "answer" if one in self.programs else self.kinds[one] for one in read
            }
            self.watches[name] = watch = Watch(
                program, kinds, self.names, self.variables, self.policy, sharing=self._shared,
                once=frozenset(one for reader, one in once if reader == name),
                grown=frozenset(one for one in read if self._only_grows(one)),
                final=self._is_final(name, once), tables=self.tables & read,
                lateness=self.lateness,
            )  # fmt: skip
            for one in read:
                self._readers.setdefault(one, []).append(watch)

    def _only_grows(self, name: str | None) -> bool:
        """Whether an input is the answer of a query that never revises it."""
        watch = self.watches.get(str(name))
        return watch is not None and watch.only_grows

    def _is_final(self, name: str, once: frozenset[tuple[str, str]]) -> bool:
        """Whether all who read a query's answer read it once: then nothing of it is kept."""
        readers = [one for one, program in self.programs.items() if name in inputs_of(program)]
        return bool(readers) and all((one, name) in once for one in readers)

    @property
    def now(self) -> Moment:
        """One clock for all."""
        return max((one.now for one in self.watches.values()), key=_instant, default=BEFORE)

    def reach(self, now: Moment) -> None:
        """The clock says so; it never goes back."""
        for watch in self.watches.values():
            watch.reach(now)

    def on_bytes(self, name: str | None, chunk: bytes) -> None:
        """A piece of a document has come."""
        self._each(name, lambda watch: watch.on_bytes(name, chunk))

    def on_next_document(self, name: str | None) -> None:
        """What comes from now on is another document of an input."""
        self._each(name, lambda watch: watch.on_next_document(name))

    def on_arrivals(self, name: str, found: Iterable[Arrival], ids: Ids | None = None) -> None:
        """Something has come on a fragment stream."""
        for one in found:  # each by all of them: they may share what they keep of it
            self._each(name, partial(_arrived, name, one, ids))

    def on_end(self, name: str | None) -> None:
        """An input has ended."""
        self._each(name, lambda watch: watch.on_end(name))

    def _each(self, name: str | None, call: Callable[[Watch], None]) -> None:
        for watch in self._readers.get(name, ()):
            call(watch)
        self.reach(self.now)

    def tick(self) -> list[Change]:
        """The changes of the last query's answer since the last tick."""
        return self.ticks()[next(reversed(self.watches))]

    def ticks(self) -> dict[str, list[Change]]:
        """The changes of the answer of each query since the last tick."""
        return deep(self._ticks)  # one thread for all of them

    def _ticks(self) -> dict[str, list[Change]]:
        with uncollected():  # garbage is searched once for all of them
            return self._ticked()

    def _ticked(self) -> dict[str, list[Change]]:
        emitted: dict[str, list[Change]] = {}
        for name, watch in self.watches.items():
            changes = emitted[name] = watch.tick()
            readers = self._readers.get(name, ())
            ended = bool(readers) and watch.kinds.keys() <= watch.ended
            for reader in readers:
                if changes:
                    reader.on_changes(name, changes)
                if ended:
                    reader.on_end(name)
        return emitted

    @property
    def failures(self) -> dict[str, Error]:
        """The errors of the last tick, which may go away, by the names of their queries."""
        return {name: one.failing for name, one in self.watches.items() if one.failing}

    @property
    def refusals(self) -> list[str]:
        """Why cuts did not hold."""
        return [why for watch in self.watches.values() for why in watch.refusals]

    def repeated(self, name: str | None) -> int:
        """How many fragments of an input said what had been said."""
        return max((watch.repeated(name) for watch in self._readers.get(name, ())), default=0)

    def circular(self, name: str | None) -> int:
        """How many ids of an input contain themselves at some instant."""
        return max((watch.circular(name) for watch in self._readers.get(name, ())), default=0)

    def orphans(self, name: str | None) -> int:
        """How many ids of an input have content, and are in no hole."""
        return max((watch.orphans(name) for watch in self._readers.get(name, ())), default=0)

    def unread(self, name: str | None) -> int:
        """How many fragments of an input none of them needs."""
        return min((watch.unread(name) for watch in self._readers.get(name, ())), default=0)

    @property
    def state_bytes(self) -> int:
        """About what is kept by all of them."""
        return sum(watch.state_bytes for watch in self.watches.values())


def _arrived(name: str, one: Arrival, ids: Ids | None, watch: Watch) -> None:
    watch.on_arrivals(name, (one,), ids)


def _instant(moment: Moment) -> int:
    return moment.instant
