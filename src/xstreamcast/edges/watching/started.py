"""The programs that a query, or a set of queries, consists of, as they begin to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xstreamcast.errors import Error
from xstreamcast.operators.watching.inputs import Kind, Policy
from xstreamcast.operators.watching.network import Network
from xstreamcast.operators.watching.query_set import QuerySet, QuerySetRun
from xstreamcast.operators.watching.watch import Watch

if TYPE_CHECKING:
    from xstreamcast.algebra.program import Program
    from xstreamcast.edges.watching.options import WatchOptions
    from xstreamcast.model.change import Change
    from xstreamcast.model.items import Items


def started(
    programs: Mapping[str, Program], queries: QuerySet | None, kinds: Mapping[str | None, Kind],
    variables: Mapping[tuple[str, str], Items], options: WatchOptions,
) -> Watch | Network:  # fmt: skip
    """One program by itself, several that read each other, or those of a set."""
    policy: Policy = "strict" if options.policy == "strict" else "optimistic"
    late = options.lateness
    if queries is None and len(programs) == 1:
        (program,) = programs.values()
        return Watch(program, kinds, variables=variables, policy=policy, lateness=late)
    if queries is None:
        return Network(programs, kinds, variables=variables, policy=policy, lateness=late)
    if options.on_failure is None:
        return QuerySetRun(
            programs, kinds, variables=variables, policy=policy, answered=queries.answered,
            lateness=late,
        )  # fmt: skip
    return SeparateQueries(
        programs, kinds, variables=variables, policy=policy, answered=queries.answered,
        lateness=late, on_failure=options.on_failure,
    )  # fmt: skip


def _unheard(name: str, why: Error) -> None:
    """Ignore failures."""


@dataclass(slots=True)
class SeparateQueries(QuerySetRun):
    """A set of which a program that fails stops, with those that read its answer; others continue.

    What it had emitted stays. It reads nothing more, so a snapshot is not one of the whole set.
    """

    on_failure: Callable[[str, Error], None] = _unheard
    failed: dict[str, Error] = field(default_factory=dict)

    def _ticked(self) -> dict[str, list[Change]]:
        emitted: dict[str, list[Change]] = {}
        for name in list(self.watches):
            if name in self.failed:  # since this tick began
                continue
            try:
                emitted[name] = self.watches[name].tick()
            except Error as why:
                self._fail(name, why)
            else:
                self._hand_on(name, emitted[name])
        return emitted

    def _hand_on(self, name: str, changes: list[Change]) -> None:
        """Let those read a program's answer who do."""
        watch, readers = self.watches[name], self._readers.get(name, ())
        ended = bool(readers) and watch.kinds.keys() <= watch.ended
        for reader in readers:
            if changes:
                reader.on_changes(name, changes)
            if ended:
                reader.on_end(name)

    def _fail(self, name: str, why: Error) -> None:
        """A program stops; so do those that read its answer."""
        self.failed[name] = why
        watch = self.watches.pop(name)
        self.answered = {one: own for one, own in self.answered.items() if one != name}
        for reading in self._readers.values():
            reading[:] = [one for one in reading if one is not watch]
        self.on_failure(name, why)
        behind = [one for one, own in self.watches.items() if own in self._readers.get(name, ())]
        for one in behind:
            self._fail(one, why)
