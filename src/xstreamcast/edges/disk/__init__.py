"""Writing that survives a crash: the system calls of it, files that grow, files there whole."""

from xstreamcast.edges.disk.calls import SystemCalls, calls, using
from xstreamcast.edges.disk.files import (
    FULL,
    FolderLock,
    GrowingFile,
    make_folder,
    naming,
    put_new,
    put_whole,
    sync_folder,
    take_away,
)

__all__ = [
    "FULL",
    "FolderLock",
    "GrowingFile",
    "SystemCalls",
    "calls",
    "make_folder",
    "naming",
    "put_new",
    "put_whole",
    "sync_folder",
    "take_away",
    "using",
]
