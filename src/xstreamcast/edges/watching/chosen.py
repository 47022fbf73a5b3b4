"""A continuous query for Python: the options of the command `watch`, and its changes one by one."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.durations import micros
from xstreamcast.edges.quarantine import Quarantine
from xstreamcast.edges.watching.metrics import Metrics, TickTimes, measured
from xstreamcast.edges.watching.options import WatchOptions
from xstreamcast.errors import error

if TYPE_CHECKING:
    from xstreamcast.edges.watching.run import Watching
    from xstreamcast.edges.wire.decoder import OnError
    from xstreamcast.model.change import Change
    from xstreamcast.model.fragment import Refused

Path = str | os.PathLike[str]


@dataclass(slots=True)
class Chosen:
    """What a caller chose, as it was written; and the query once it runs."""

    policy: str
    follow: bool
    batch: int
    clock: str
    on_error: OnError
    keep: Callable[[Refused], None] | None
    tell: str
    lateness: str | timedelta | None
    max_skew: str | timedelta | None
    immutable: Sequence[str]
    duration: str | timedelta | None
    limit: int | None
    quarantine: Path | None
    max_quarantine: int
    max_memory: int | None
    metrics: Path | None
    metrics_every: str | timedelta
    checkpoint: Path | None
    snapshot_every: int
    say: Callable[[str], None] | None
    watching: Watching | None = None

    def __post_init__(self) -> None:
        for name in ("batch", "limit", "max_quarantine", "max_memory", "snapshot_every"):
            if (number := getattr(self, name)) is not None and number < 1:
                raise error("XSCU0005", f"{name} must be at least 1; got {number}")
        for name in ("lateness", "max_skew", "duration", "metrics_every"):
            micros(getattr(self, name))

    def options(self, keep: Callable[[Refused], None] | None) -> WatchOptions:
        """The same, as the query takes it."""
        seconds = micros(self.duration)
        made = WatchOptions(
            policy=self.policy, follow=self.follow, batch=self.batch, clock=self.clock,
            on_error=self.on_error, tell=self.tell, lateness=micros(self.lateness),
            skew=micros(self.max_skew), immutable=tuple(self.immutable),
            seconds=None if seconds is None else seconds / 10**6, max_memory=self.max_memory,
            metrics=self._metrics(), snapshot_every=self.snapshot_every,
            checkpoint=None if self.checkpoint is None else os.fspath(self.checkpoint),
        )  # fmt: skip
        made = made if self.say is None else replace(made, say=self.say)
        return made if keep is None else replace(made, keep=keep)

    def _metrics(self) -> Metrics | None:
        if self.metrics is None:
            return None
        return Metrics(os.fspath(self.metrics), (micros(self.metrics_every) or 0) / 10**6)

    def changes(self, begin: Callable[[WatchOptions], Watching]) -> Generator[Change]:
        """The changes one by one; reading begins with the first that is taken."""
        with self._quarantine() as kept:
            options = self.options(self.keep if kept is None else self._kept_in(kept))
            self.watching = begin(options)
            if kept is not None:
                self.watching.keep_in(kept)
            with self._measuring(self.watching), closing(self.watching.ticks()) as ticks:
                yield from self._limited(self.watching, ticks)

    def _limited(
        self, watching: Watching, ticks: Generator[list[Change]]
    ) -> Generator[Change, None, None]:
        """Up to so many; those that were taken before it started again count."""
        if self.limit is None:
            for changes in ticks:
                yield from changes
            return
        watching.begin()
        left = self.limit - watching.written_before
        while left > 0 and (changes := next(ticks, [])):
            yield from changes[:left]
            left -= len(changes)

    @contextmanager
    def _quarantine(self) -> Iterator[Quarantine | None]:
        if self.quarantine is None:
            yield None
            return
        with Quarantine(self.quarantine, self.max_quarantine) as kept:
            yield kept

    def _kept_in(self, kept: Quarantine) -> Callable[[Refused], None]:
        def keep(refused: Refused) -> None:
            kept.add(refused)
            if self.keep is not None:
                self.keep(refused)

        return keep

    @contextmanager
    def _measuring(self, watching: Watching) -> Iterator[None]:
        """Whatever ends the query, the last line of its metrics is written."""
        try:
            yield
        finally:
            metrics = watching.options.metrics
            if metrics is not None:
                if watching.watch is not None:
                    metrics.write(watching)
                metrics.close()

    def measured(self) -> dict[str, Any]:
        """The numbers of the query as they are now; none where it has not begun."""
        if self.watching is None or self.watching.watch is None:
            return {}
        return measured(self.watching, TickTimes())
