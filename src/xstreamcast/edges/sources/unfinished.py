"""Files of a folder that are still being written: by their names, or compressed and cut off.

One that cannot be decompressed is awaited, too: it is read when it has changed.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Final

from xstreamcast.edges.inputs import opened
from xstreamcast.edges.notes import note
from xstreamcast.edges.sources.compressed import broken_in, is_compressed, is_cut_off

UNFINISHED: Final = (".tmp", ".part", ".partial", ".crdownload", ".swp", "~")
_PIECE: Final = 1 << 20


def is_unfinished(name: str) -> bool:
    """Whether the name of a file says so."""
    return name.endswith(UNFINISHED)


def lacks_its_end(name: str) -> bool:
    """Whether a file is compressed, and is cut off or cannot be decompressed."""
    if not is_compressed(name):
        return False
    there = os.stat(name)
    return _cut_off(name, there.st_size, there.st_mtime_ns)


@lru_cache(4096)
def _cut_off(name: str, size: int, changed: int) -> bool:
    with opened(name, growing=True) as file:
        while file.read(_PIECE):
            pass
        why = broken_in(file)
        if why is not None:
            note(f"{name} cannot be decompressed: {why}; it is read when it has changed")
        return why is not None or is_cut_off(file)
