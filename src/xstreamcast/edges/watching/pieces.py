"""The bytes of a source in pieces: as they come, and with b"" where there is nothing just now."""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from xstreamcast.edges.inputs import opened, paths
from xstreamcast.edges.loading import table_path
from xstreamcast.edges.mapping.finding import split_source
from xstreamcast.edges.table.reading import table_pieces
from xstreamcast.errors import error

PIECE: Final = 1 << 18
_LARGEST: Final = 1 << 22  # a tick costs something: the longer an input is, the more it takes in
WAIT: Final = 0.1  # seconds between two looks at what may grow

END: Final = None  # one file of several has ended

# Seconds that nobody minds waiting for a source that has nothing now; None: as long as it takes.
Patience: TypeAlias = Callable[[], float | None]


def pieces(
    source: Any, *, follow: bool, patience: Patience, name: str | None = None
) -> Iterator[bytes | None]:
    """The bytes of a source; None after each of its files.

    `follow` goes on reading what is added to the last file. A table is read as it is now.
    """
    source = split_source(source)[1]
    if (table := table_path(source)) is not None:
        yield from table_pieces(table, name)
        yield END
    elif isinstance(source, bytes | bytearray | memoryview):
        whole = bytes(source)
        yield from (whole[at : at + PIECE] for at in range(0, len(whole), PIECE))
        yield END
    elif isinstance(source, str | os.PathLike):
        yield from _of_files(paths(source), follow, patience)
    else:
        yield from _given(source)
        yield END


def files_of(source: Any) -> int:
    """How many files a source consists of."""
    source = split_source(source)[1]
    if table_path(source) is not None or not isinstance(source, str | os.PathLike):
        return 1
    return len(paths(source))


def _given(source: Iterable[bytes]) -> Iterator[bytes]:
    for piece in source:
        yield bytes(piece)


def _of_files(names: list[str], follow: bool, patience: Patience) -> Iterator[bytes | None]:
    for at, name in enumerate(names):
        last = at == len(names) - 1
        if name == "-":
            yield from _of_pipe(sys.stdin.buffer.fileno(), patience)
        elif _is_pipe(name):
            yield from _of_named_pipe(name, patience)
        else:
            yield from _of_file(name, follow and last, patience)
        yield END


def _of_file(name: str, follow: bool, patience: Patience) -> Iterator[bytes]:
    size = PIECE
    with opened(name) as file:
        while True:
            piece = file.read(size)
            if piece:
                yield piece
                size = min(2 * size, _LARGEST)
            elif not follow:
                return
            else:
                size = PIECE
                wait = patience()
                time.sleep(WAIT if wait is None else wait)
                yield b""


def _is_pipe(name: str) -> bool:
    """Whether a name is that of a pipe; one that is to be unzipped is read as a file."""
    return not name.endswith(".gz") and stat.S_ISFIFO(os.stat(name).st_mode)


def _of_named_pipe(name: str, patience: Patience) -> Iterator[bytes]:
    """Nobody waits for its writer to come."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as failed:
        raise error("XSCU0003", f"cannot open {name}: {failed.strerror}") from None
    try:
        yield from _of_pipe(handle, patience)
    finally:
        os.close(handle)


def _of_pipe(handle: int, patience: Patience) -> Iterator[bytes]:
    while True:
        if not select.select([handle], [], [], patience())[0]:
            yield b""
            continue
        piece = os.read(handle, PIECE)
        if not piece:
            return
        yield piece
