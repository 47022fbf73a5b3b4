"""Compiled kernels on disk: announced when they are made, made again when any source changed."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event

from xstreamcast.kernels.bounds import check_bounds

_PACKAGE = Path(__file__).parent.parent
_IMPORT = re.compile(r"^from xstreamcast\.(tape|kernels)\.(\w+) import", re.MULTILINE)


class _Announcer(event.Listener):
    """Says once on stderr that kernels are being compiled: it takes a while."""

    def __init__(self) -> None:
        self._said = False
        self.kept = True

    def on_start(self, event: Any) -> None:
        compiled = event.data["dispatcher"].py_func.__module__
        if not self._said and compiled.startswith("xstreamcast."):
            self._said = True
            sys.stderr.write(f"compiling kernels{', once' if self.kept else ''}…\n")
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        """Nothing is said at the end."""


check_bounds(_PACKAGE)
_announcer = _Announcer()
event.register("numba:compile", _announcer)  # type: ignore[no-untyped-call]


def cached(function: Any, **options: Any) -> Any:
    """`function`, compiled at its first call, and kept on disk where that can be."""
    try:
        return stamped(njit(cache=True, **options)(function))
    except RuntimeError:  # no folder may be written to: each process compiles anew
        _announcer.kept = False
        return njit(**options)(function)


@cache
def _sources(path: Path) -> frozenset[Path]:
    """A file of kernels and those it imports from, near and far."""
    found, new = set[Path](), {path}
    while new:
        found |= new
        texts = [one.read_text("utf-8") for one in new]
        named = {_PACKAGE / room / f"{name}.py" for t in texts for room, name in _IMPORT.findall(t)}
        new = {one for one in named if one.is_file()} - found
    return frozenset(found)


def stamped(dispatcher: Any) -> Any:
    """A cached kernel that also depends on the files of what it calls.

    numba looks only at the file of the kernel itself, and would keep an old callee compiled in.
    """
    files = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if files is not None and hasattr(files, "_source_stamp"):
        stats = [path.stat() for path in _sources(Path(dispatcher.py_func.__code__.co_filename))]
        newest, size = max(stat.st_mtime for stat in stats), sum(stat.st_size for stat in stats)
        files._source_stamp = (newest, size)
    return dispatcher
