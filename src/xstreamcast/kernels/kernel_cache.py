"""Compiled kernels on disk: announced when they are made, made again when any source changed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event

from xstreamcast.kernels.ahead.finding import sources
from xstreamcast.kernels.ahead.stamps import PACKAGE
from xstreamcast.kernels.bounds import check_bounds

_UNWRAPPED: dict[str, Any] = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}  # not to be called by Python


class _Announcer(event.Listener):
    """Says once on stderr that kernels are being compiled: it takes a while."""

    def __init__(self) -> None:
        self._said = False
        self.kept = True
        self.for_library = False

    def serve_library(self) -> None:
        """Print nothing from now on, and keep nothing: the build of the library shows progress."""
        self._said, self.for_library = True, True

    def on_start(self, event: Any) -> None:
        compiled = event.data["dispatcher"].py_func.__module__
        if not self._said and compiled.startswith("xstreamcast."):
            self._said = True
            sys.stderr.write(f"compiling kernels{', once' if self.kept else ''}…\n")
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        """Nothing is said at the end."""


check_bounds(PACKAGE)
_announcer = _Announcer()
event.register("numba:compile", _announcer)  # type: ignore[no-untyped-call]


def compile_for_library() -> None:
    """From now on no kernel comes from the disk: what is loaded from there has no LLVM IR."""
    _announcer.serve_library()


def cached(function: Any, **options: Any) -> Any:
    """`function`, compiled at its first call, and kept on disk where that can be."""
    if _announcer.for_library:
        return njit(**options, **_UNWRAPPED)(function)
    try:
        return stamped(njit(cache=True, **options)(function))
    except RuntimeError:  # no folder may be written to: each process compiles them again
        _announcer.kept = False
        return njit(**options)(function)


def stamped(dispatcher: Any) -> Any:
    """A cached kernel that also depends on the files of what it calls.

    numba looks only at the file of the kernel itself, and would keep an old callee compiled in. It
    also reads an index before it compares stamps, and fails if a type that the index names is in
    another module now: with the stamp in the version, an index of other sources is not read.
    """
    files = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if files is not None and hasattr(files, "_source_stamp"):
        stats = [path.stat() for path in sources(Path(dispatcher.py_func.__code__.co_filename))]
        newest, size = max(stat.st_mtime for stat in stats), sum(stat.st_size for stat in stats)
        files._source_stamp = (newest, size)
        files._version = (files._version, newest, size)
    return dispatcher
