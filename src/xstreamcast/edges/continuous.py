"""Queries that are kept running, and the changes of their answers."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    from datetime import timedelta

    from xstreamcast.edges.loading import Keep
    from xstreamcast.edges.watching import Watching
    from xstreamcast.edges.watching import WatchOptions as WatchOptions
    from xstreamcast.edges.watching.chosen import Chosen
    from xstreamcast.edges.wire.decoder import OnError
    from xstreamcast.model.change import Change
    from xstreamcast.model.query_limits import QueryLimits

Path: TypeAlias = "str | os.PathLike[str]"
Duration: TypeAlias = "str | timedelta"


class Continuous(ABC):
    """What can be kept running: a query, or several."""

    @abstractmethod
    def watching(self, document: Any, inputs: Mapping[str, Any], options: WatchOptions) -> Watching:
        """The continuous query over inputs of any name; its `ticks` yields changes."""

    def watch(
        self,
        document: Any = None,
        /,
        *,
        policy: str = "optimistic",
        follow: bool = False,
        batch: int = 1000,
        clock: str = "event",
        on_error: OnError = "quarantine",
        keep: Keep | None = None,
        tell: str = "",
        lateness: Duration | None = None,
        max_skew: Duration | None = None,
        immutable: Sequence[str] = (),
        duration: Duration | None = None,
        limit: int | None = None,
        quarantine: Path | None = None,
        max_quarantine: int = 1 << 30,
        max_memory: int | None = None,
        metrics: Path | None = None,
        metrics_every: Duration = "10s",
        checkpoint: Path | None = None,
        snapshot_every: int = 16 << 20,
        limits: QueryLimits | None = None,
        say: Callable[[str], None] | None = None,
        **inputs: Any,
    ) -> Changes:
        """Keep the query running: the changes of its answer, until its inputs end.

        with query.watch(roads="feed/", follow=True) as changes:
            for change in changes: ...

        An input is a path, a folder, a pattern, XML, or an iterator over pieces of bytes; an
        external variable may denote one, unless it is given a value (a string is one). `tell`
        names a declared stream whose changes are emitted instead of the body's.
        `keep` is called with each refused fragment, `say` with each note.

        The other options are those of the command `watch`; a duration is "30s", "PT5M" or a
        timedelta. `duration` and `limit` stop it after a time, or after so many changes; `limits`
        bounds each evaluation. With a `checkpoint`, a later call with the same arguments
        continues: what was read counts once all changes that it caused were taken; others come
        again.
        """
        from xstreamcast.edges.watching.chosen import Chosen

        chosen = Chosen(
            policy=policy, follow=follow, batch=batch, clock=clock, on_error=on_error, keep=keep,
            tell=tell, lateness=lateness, max_skew=max_skew, immutable=immutable,
            duration=duration, limit=limit, quarantine=quarantine, max_quarantine=max_quarantine,
            max_memory=max_memory, metrics=metrics, metrics_every=metrics_every,
            checkpoint=checkpoint, snapshot_every=snapshot_every, say=say,
        )  # fmt: skip
        return Changes(
            lambda: chosen.changes(partial(self.watching, document, inputs)), limits, chosen
        )


class Changes:
    """The changes of an answer, one by one; reading begins with the first that is taken.

    with query.watch(roads="feed/") as changes: ...
    async for change in query.watch(roads="feed/"): ...

    `close`, or the end of `with`, closes the inputs.
    """

    def __init__(
        self, begin: Callable[[], Generator[Change]], limits: QueryLimits | None, chosen: Chosen
    ) -> None:
        self._limits, self._chosen = limits, chosen
        self._changes = begin()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Change:
        from xstreamcast.model.query_limits import limited

        with limited(self._limits):
            return next(self._changes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop reading, and close the inputs."""
        self._changes.close()

    def report(self) -> list[str]:
        """What was read, emitted and kept so far, a line each."""
        watching = self._chosen.watching
        return [] if watching is None else watching.report()

    def measured(self) -> dict[str, Any]:
        """The numbers that `metrics` writes, as they are now; none before the first change."""
        return self._chosen.measured()

    async def __aiter__(self) -> AsyncGenerator[Change]:
        """The same changes; other tasks run while the next one is computed in a thread."""
        from asyncio import to_thread
        from inspect import GEN_RUNNING, getgeneratorstate

        try:
            while (change := await to_thread(next, self, None)) is not None:
                yield change
        finally:
            # cancelled while the thread waits for input: it ends by itself
            if getgeneratorstate(self._changes) == GEN_RUNNING:
                if self._chosen.watching is not None:
                    self._chosen.watching.stop()
            else:
                self.close()
