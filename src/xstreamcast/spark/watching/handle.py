"""The handle of a query that is left running on Spark, and how its batches come out of it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from xstreamcast.errors import error
from xstreamcast.spark.failing import failure
from xstreamcast.spark.watching.progress import stages_of_progress
from xstreamcast.spark.watching.sink import BatchTotals, Named

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from xstreamcast.errors import Error
    from xstreamcast.spark.watching.run import SparkWatching

PATIENCE: Final = 0.1  # seconds between two looks at a query that says nothing


class Handing:
    """Batches from Spark's thread to ours: Spark's waits until ours has written them."""

    def __init__(self) -> None:
        self._batches: queue.Queue[tuple[int, list[Named]]] = queue.Queue()
        self._written = threading.Semaphore(0)
        self._over = False

    def __call__(self, epoch: int, changes: list[Named]) -> None:
        self._batches.put((epoch, changes))
        self._written.acquire()
        if self._over:
            raise error("XSCK0001", "the query was stopped")

    def next(self, seconds: float) -> tuple[int, list[Named]] | None:
        try:
            return self._batches.get(timeout=seconds)
        except queue.Empty:
            return None

    def done(self) -> None:
        self._written.release()

    def close(self) -> None:
        self._over = True
        self._written.release()


class Running:
    """The handle of a running query, with PySpark's habits."""

    def __init__(self, query: StreamingQuery, of: SparkWatching) -> None:
        self.query, self._of = query, of  # without it its folder would go
        self._ending: threading.Thread | None = None

    @property
    def totals(self) -> BatchTotals:
        return self._of.totals

    @property
    def status(self) -> Mapping[str, Any]:
        return dict(self.query.status)

    @property
    def lastProgress(self) -> Any:
        return self.query.lastProgress

    @property
    def stages(self) -> dict[str, dict[str, int]]:
        """Of the last batch, by stage: fragments, changes, stateBytes, late, refused."""
        return stages_of_progress(self.query.lastProgress)

    @property
    def recentProgress(self) -> Any:
        return self.query.recentProgress

    @property
    def isActive(self) -> bool:
        return bool(self.query.isActive)

    def end_with(self, come: Callable[[Callable[[], bool]], None], end: Callable[[], None]) -> None:
        """When all input was processed and emitted, send the end, and stop after it."""

        def ending() -> None:
            try:
                come(lambda: not self.query.isActive)
                self.query.processAllAvailable()
                end()
                self.query.processAllAvailable()
            except Exception as failed:
                if not self.query.isActive:
                    return  # it failed or was stopped: the waiting caller is notified
                self.totals.failed.append(self._why(failed))
            self.query.stop()

        self._ending = threading.Thread(target=ending, daemon=True)
        self._ending.start()

    def goes_on(self) -> bool:
        """Whether there is more to come; what failed is raised."""
        self._of.prepared.check()
        active = self.query.isActive
        self._of.keep_refused()
        if active:
            return True
        if self.totals.failed:
            raise self.totals.failed[0]
        failed = self.query.exception()
        if failed is not None:
            raise self._why(failed) from None
        return False

    def _why(self, failed: Exception) -> Error:
        return failure(failed, writes=(self._of.folder,))

    def awaitTermination(self, timeout: float | None = None) -> bool:
        """Wait for the end → whether it has come."""
        until = None if timeout is None else time.monotonic() + timeout
        while self.goes_on():
            left = PATIENCE if until is None else min(until - time.monotonic(), PATIENCE)
            if left <= 0:
                return False
            time.sleep(left)
        return True

    def stop(self) -> None:
        self._of.prepared.close()
        self.query.stop()

    def __getattr__(self, name: str) -> Any:
        """What else Spark's own handle has: id, name, processAllAvailable, exception, explain."""
        return getattr(self.query, name)

    close = stop
