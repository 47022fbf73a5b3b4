"""The memory of this process, and what the machine or its container has."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_OF_CONTAINERS: Final = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def resident_bytes() -> int | None:
    """The memory of this process; None where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except OSError:
        return None


@cache
def machine_bytes() -> int:
    """The memory of the machine, or less if its container may use less."""
    found = [_PAGE * os.sysconf("SC_PHYS_PAGES")]
    for path in _OF_CONTAINERS:
        with suppress(OSError, ValueError):  # no such file, or "max": without a limit
            found.append(int(Path(path).read_text(encoding="ascii")))
    return min(found)
