"""Files of a folder that are still being written: by their names, or compressed and cut off."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Final

from xstreamcast.edges.inputs import opened
from xstreamcast.edges.sources.compressed import is_compressed, is_cut_off

UNFINISHED: Final = (".tmp", ".part", ".partial", ".crdownload", ".swp", "~")
_PIECE: Final = 1 << 20


def is_unfinished(name: str) -> bool:
    """Whether the name of a file says so."""
    return name.endswith(UNFINISHED)


def lacks_its_end(name: str) -> bool:
    """Whether a file is compressed and cut off."""
    if not is_compressed(name):
        return False
    there = os.stat(name)
    return _cut_off(name, there.st_size, there.st_mtime_ns)


@lru_cache(4096)
def _cut_off(name: str, size: int, changed: int) -> bool:
    with opened(name, growing=True) as file:
        while file.read(_PIECE):
            pass
        return is_cut_off(file)
