"""The bytes of a source in pieces: as they come, and with b"" where there is nothing just now."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, Final

from xstreamcast.edges.inputs import opened, paths

PIECE: Final = 1 << 18
_LARGEST: Final = 1 << 22  # a tick costs something: the longer an input is, the more it takes in
_WAIT: Final = 0.1  # seconds between two looks at a file that may grow

END: Final = None  # one file of several has ended


def pieces(source: Any, *, follow: bool, patient: bool) -> Iterator[bytes | None]:
    """The bytes of a source; None after each of its files.

    `follow` goes on reading what is added to the last file; `patient` says that nobody minds
    waiting for a pipe: nothing is done meanwhile.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        whole = bytes(source)
        yield from (whole[at : at + PIECE] for at in range(0, len(whole), PIECE))
        yield END
    elif isinstance(source, str | os.PathLike):
        yield from _of_files(paths(source), follow, patient)
    else:
        yield from _given(source)
        yield END


def files_of(source: Any) -> int:
    """How many files a source consists of."""
    return len(paths(source)) if isinstance(source, str | os.PathLike) else 1


def _given(source: Iterable[bytes]) -> Iterator[bytes]:
    for piece in source:
        yield bytes(piece)


def _of_files(names: list[str], follow: bool, patient: bool) -> Iterator[bytes | None]:
    for at, name in enumerate(names):
        last = at == len(names) - 1
        if name == "-":
            yield from _of_pipe(patient)
        else:
            yield from _of_file(name, follow and last)
        yield END


def _of_file(name: str, follow: bool) -> Iterator[bytes]:
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
                time.sleep(_WAIT)
                yield b""


def _of_pipe(patient: bool) -> Iterator[bytes]:
    handle = sys.stdin.buffer.fileno()
    while True:
        if not patient and not select.select([handle], [], [], _WAIT)[0]:
            yield b""
            continue
        piece = os.read(handle, PIECE)
        if not piece:
            return
        yield piece
