"""How much memory this process has in use, as the system counts it; and at most."""

import ctypes
import sys
from pathlib import Path
from typing import Final

_STATUS = Path("/proc/self/status")
_TRIM_THRESHOLD: Final = -1  # options of glibc's mallopt
_MMAP_MAX: Final = -4
_ARENA_MAX: Final = -8


def resident() -> int:
    """Bytes of this process that are in memory."""
    return _told("VmRSS")


def peak() -> int:
    """The most that was in memory since the last reset."""
    return _told("VmHWM")


def reset_peak() -> None:
    """Count the peak anew."""
    Path("/proc/self/clear_refs").write_text("5")


def keep_freed_memory() -> None:
    """Let the process keep the memory that it frees, as SaxonC-HE keeps its heap.

    A virtual machine gives freed pages back to its host, and then 276 MB that numpy touches cost
    0.03 s or 0.6 s of the system's time, by chance. Call it before threads are started: each has
    its own memory otherwise. Only glibc can be told; elsewhere nothing changes.
    """
    if (libc := _glibc()) is not None:
        for option, value in ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1), (_ARENA_MAX, 1)):
            if not libc.mallopt(option, value):
                raise OSError(f"mallopt refuses option {option}")


def release_freed_memory() -> None:
    """Give back what was kept."""
    if (libc := _glibc()) is not None:
        libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    return libc if hasattr(libc, "gnu_get_libc_version") else None


def _told(what: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024
    raise OSError(f"the system does not tell {what}")
