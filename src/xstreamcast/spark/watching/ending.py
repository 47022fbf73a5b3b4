"""The end of inputs is emitted, but not kept: a restart continues with what was added.

    DIR/before   the checkpoint as it was when all had been read and the end not yet been said

It is a second name for files that Spark never writes to again, and a copy of the small ones. The
next start puts it in the place of what came after, as the local runner forgets an end.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

SPARK, REACHED, ENDS = "spark", "reached", "ends"
_BEFORE: Final = "before"
_LARGE: Final = 1 << 20  # from so many bytes on a file gets a second name in place of a copy
# Of what one folder says, those behind it have more: never less than a batch that counts.
_ORDER: Final = ("commits", "offsets", "sources", "state")


def keep_before(folder: Path) -> None:
    """Remember a checkpoint as it is now."""
    part = folder / f"{_BEFORE}.part"
    shutil.rmtree(part, ignore_errors=True)
    if (folder / REACHED).exists():
        part.mkdir()
        shutil.copy2(folder / REACHED, part / REACHED)
    there = folder / SPARK
    names = sorted(os.listdir(there), key=lambda name: (name in _ORDER, _rank(name)))
    for name in names:
        _copied(there / name, part / SPARK / name)
    part.replace(folder / _BEFORE)


def go_back(folder: Path) -> None:
    """Undo the end, if one was emitted: continue from before it."""
    before = folder / _BEFORE
    if not before.exists():
        return
    shutil.rmtree(folder / ENDS, ignore_errors=True)
    if (before / SPARK).exists():
        shutil.rmtree(folder / SPARK, ignore_errors=True)
        (before / SPARK).replace(folder / SPARK)
    if (before / REACHED).exists():
        (before / REACHED).replace(folder / REACHED)
    before.rmdir()


def _rank(name: str) -> int:
    return _ORDER.index(name) if name in _ORDER else -1


def _copied(source: Path, target: Path) -> None:
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        for name in sorted(os.listdir(source)):
            _copied(source / name, target / name)
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.stat().st_size >= _LARGE:
            os.link(source, target)
        else:
            shutil.copy2(source, target)
    except FileNotFoundError:
        return  # an old version that Spark has just given up
