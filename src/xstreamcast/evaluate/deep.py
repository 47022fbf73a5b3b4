"""Room for recursion: work done on a thread with a large stack."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from xstreamcast.errors import Error, error
from xstreamcast.model.memory import resident_bytes
from xstreamcast.model.query_limits import QueryLimits, exceeded, limited, query_limits

T = TypeVar("T")

_STACK: Final = 1 << 29
_FRAMES: Final = 1_000_000
_IDLE: Final = 2  # threads that are kept; programs with threads use several at a time
_LOOK: Final = 0.1  # seconds between two looks at the memory
_MUCH: Final = 1 << 24  # bytes: an evaluation that takes less does not go over the limit itself
_inside = threading.local()


def deep(work: Callable[[], T]) -> T:
    """The result of the work, or its error; on a thread of its own unless already on such a one."""
    if getattr(_inside, "deep", False):
        return _guarded(work)
    limits = query_limits()
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            with limited(limits):
                outcome.append(_guarded(work))
        except BaseException as caught:
            failure.append(caught)

    with _ROOM:
        stopped = _POOL.run(run, limits)
    if not outcome:
        raise stopped or failure[0]
    return outcome[0]


class Stopped(BaseException):
    """An evaluation takes too long or too much; nothing on its way out may take it for an error."""


class _Bounds:
    """The time and the memory of one evaluation, looked at while it runs."""

    def __init__(self, limits: QueryLimits) -> None:
        self._limits, self._memory = limits, limits.memory
        self._began = time.monotonic()
        self._least: int | None = None  # what is held before it takes more

    def wait(self) -> float:
        """Seconds until the next look."""
        left = self._left()
        return _LOOK if left is None else max(0.0, min(_LOOK, left))

    def reached(self) -> Error | None:
        """The limit that is exceeded, as an error."""
        left = self._left()
        if left is not None and left <= 0:
            seconds = self._limits.query_timeout
            return exceeded(
                "query_timeout", f"the evaluation was stopped after {seconds:g} seconds"
            )
        held = resident_bytes()
        if held is None:
            return None
        self._least = held if self._least is None else min(held, self._least)
        if held <= max(self._memory, self._least + _MUCH):
            return None
        return exceeded(
            "max_memory",
            f"the evaluation was stopped: the process holds {held:,} bytes, more than "
            f"{self._memory:,}",
        )

    def _left(self) -> float | None:
        seconds = self._limits.query_timeout
        return None if seconds is None else self._began + seconds - time.monotonic()


class _Room:
    """The interpreter's limit on frames, raised while a caller needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(max(self._before, _FRAMES))
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                sys.setrecursionlimit(self._before)


_ROOM: Final = _Room()


class _Worker:
    """A thread with a large stack that does one piece of work after another."""

    def __init__(self) -> None:
        self._given = threading.Lock()
        self._done = threading.Lock()
        self._given.acquire()
        self._done.acquire()
        self._work: Callable[[], None] | None = None
        before = threading.stack_size(_STACK)
        try:
            self._thread = threading.Thread(target=self._loop, name="query", daemon=True)
            self._thread.start()
        finally:
            threading.stack_size(before)

    def _loop(self) -> None:
        _inside.deep = True
        with suppress(Stopped):  # it may come when the work is done
            while True:
                self._given.acquire()
                if self._work is None:
                    return
                self._work()
                self._work = None
                self._done.release()

    def run(self, work: Callable[[], None], limits: QueryLimits) -> Error | None:
        """Wait for the work; stop it at a limit → the limit, and the thread may do no more."""
        self._work = work
        bounds = _Bounds(limits)
        self._given.release()
        while not self._done.acquire(timeout=bounds.wait()):
            reached = bounds.reached()
            if reached is not None:
                self._stop()
                return reached
        return None

    def _stop(self) -> None:
        stop = ctypes.pythonapi.PyThreadState_SetAsyncExc
        while True:  # at the next step that Python makes; once more, where it was caught on its way
            stop(ctypes.c_ulong(self._thread.ident or 0), ctypes.py_object(Stopped))
            if self._done.acquire(timeout=1.0) or not self._thread.is_alive():
                return

    def end(self) -> None:
        """Let the thread end when it has done what it does."""
        self._given.release()


class _Pool:
    """Threads that wait for work: a new one costs more than most evaluations of one fragment."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []

    def run(self, work: Callable[[], None], limits: QueryLimits) -> Error | None:
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = _Worker()
        again = False  # one that was interrupted or stopped does not get more work
        try:
            stopped = worker.run(work, limits)
            again = stopped is None and len(self._idle) < _IDLE
            return stopped
        finally:
            if again:
                self._idle.append(worker)
            else:
                worker.end()

    def forget(self) -> None:
        """A process that was forked has none of the threads."""
        self._idle = []


_POOL: Final = _Pool()
os.register_at_fork(after_in_child=_POOL.forget)


def _guarded(work: Callable[[], T]) -> T:
    try:
        return work()
    except RecursionError:
        raise error("XSCD0001") from None
    except MemoryError:
        raise error("XPDY0130", "the query needs more memory than there is") from None
