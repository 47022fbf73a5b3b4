"""What a process and all that it started have used of the processors, as the system counts it."""

import os
from pathlib import Path

_PROC = Path("/proc")


def used(root: int | None = None) -> float:
    """Processor seconds of a process tree: Python, the JVM below it, the workers below that.

    Those that have ended are counted by whoever waited for them.
    """
    ticks, root = 0, root or os.getpid()
    for pid in tree(root):
        fields = _fields(pid)
        ticks += sum(map(int, fields[11:15])) if fields else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def used_by_kind(root: int | None = None) -> dict[str, float]:
    """The same, apart: this process, the JVM, and Python below it."""
    found, root = dict.fromkeys(("driver", "JVM", "workers"), 0.0), root or os.getpid()
    for pid in tree(root):
        fields = _fields(pid)
        kind = "driver" if pid == root else "JVM" if _is_java(pid) else "workers"
        found[kind] += sum(map(int, fields[11:13])) if fields else 0
    return {kind: ticks / os.sysconf("SC_CLK_TCK") for kind, ticks in found.items()}


def _is_java(pid: int) -> bool:
    try:
        return (_PROC / str(pid) / "comm").read_text().strip() == "java"
    except (FileNotFoundError, ProcessLookupError):
        return False


def tree(root: int) -> list[int]:
    """A process and its descendants."""
    below: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit() and (fields := _fields(int(entry.name))):
            below.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += below.get(pid, [])
    return found


def held(root: int | None = None) -> int:
    """Bytes of a process tree that are in memory; what is shared counts for each."""
    pages = 0
    for pid in tree(root or os.getpid()):
        fields = _fields(pid)
        pages += int(fields[21]) if fields else 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _fields(pid: int) -> list[str]:
    """What stands behind the name of a process; nothing if it is gone."""
    try:
        told = (_PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return told.rpartition(") ")[2].split()
