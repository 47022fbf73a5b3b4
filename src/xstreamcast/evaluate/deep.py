"""Room for recursion: work done on a thread with a large stack."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from xstreamcast.errors import error
from xstreamcast.model.query_limits import QueryLimits, exceeded, limited, query_limits

T = TypeVar("T")

_STACK: Final = 1 << 29
_FRAMES: Final = 1_000_000
_inside = threading.local()


def deep(work: Callable[[], T]) -> T:
    """The result of the work, or its error; on a thread of its own unless already on such a one."""
    if getattr(_inside, "deep", False):
        return _guarded(work)
    outcome: list[T] = []
    failure: list[BaseException] = []
    limits = query_limits()

    def run() -> None:
        _inside.deep = True
        try:
            with limited(limits):
                outcome.append(_guarded(work))
        except BaseException as caught:
            failure.append(caught)

    with _ROOM:
        _awaited(_start(run), limits.query_timeout)
    if failure:
        raise _told(failure[0], limits)
    return outcome[0]


class Stopped(BaseException):
    """The time of an evaluation is over; nothing on its way out may take it for an error."""


def _awaited(thread: threading.Thread, seconds: float | None) -> None:
    """Wait for a thread; when its time is over, stop it at the next step that Python makes."""
    thread.join(seconds)
    while thread.is_alive():
        stop = ctypes.pythonapi.PyThreadState_SetAsyncExc
        stop(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Stopped))
        thread.join(1.0)  # once more, where it was caught on its way


def _told(failure: BaseException, limits: QueryLimits) -> BaseException:
    if not isinstance(failure, Stopped):
        return failure
    seconds = limits.query_timeout or 0
    return exceeded("query_timeout", f"the evaluation was stopped after {seconds:g} seconds")


class _Room:
    """The interpreter's limit on frames, raised while anybody needs it."""

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


def _start(run: Callable[[], None]) -> threading.Thread:
    before = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=run, name="query", daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    return thread


def _guarded(work: Callable[[], T]) -> T:
    try:
        return work()
    except RecursionError:
        raise error("XSCD0001") from None
    except MemoryError:
        raise error("XPDY0130", "the query needs more memory than there is") from None
