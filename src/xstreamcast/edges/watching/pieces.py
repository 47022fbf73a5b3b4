"""The bytes of a source in pieces: as they come, and with b"" where there is nothing just now."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from xstreamcast.edges.inputs import paths
from xstreamcast.edges.loading import table_path
from xstreamcast.edges.mapping.finding import mapping_of, split_source
from xstreamcast.edges.mapping.messages import is_whole
from xstreamcast.edges.sources import Burst, flattened, is_place
from xstreamcast.edges.sources.compressed import is_compressed
from xstreamcast.edges.sources.files import PIECE, WAIT, Files
from xstreamcast.edges.sources.network import Remembering, network_pieces
from xstreamcast.edges.table.reading import table_pieces
from xstreamcast.errors import error

__all__ = [
    "END", "PIECE", "WAIT", "files_of", "is_pipe", "pieces", "pieces_and_bursts", "shows_kind",
]  # fmt: skip

END: Final = None  # one file of several has ended
_ENDLESS: Final = 1 << 62

# Seconds to wait for a source that has nothing now; None: no limit.
Patience: TypeAlias = Callable[[], float | None]


def pieces(
    source: Any, *, follow: bool, patience: Patience, name: str | None = None
) -> Iterator[bytes | None]:
    """The bytes of a source; None after each of its files or messages.

    `follow` continues to read what is added to files and folders. A table is read as it is now.
    """
    return flattened(pieces_and_bursts(source, follow=follow, patience=patience, name=name))


def pieces_and_bursts(
    source: Any,
    *,
    follow: bool,
    patience: Patience,
    name: str | None = None,
    checkpoint: Remembering | None = None,
    together: int = 1,
) -> Iterator[bytes | Burst | None]:
    """The same, where messages that came together stay together, up to so many in files.

    With a checkpoint, what can be read again is noted there, and what cannot is written down first.
    """
    mapping, source = mapping_of(source)
    messages = mapping is not None and mapping.level is None
    if (table := table_path(source)) is not None:
        yield from table_pieces(table, name)
        yield END
    elif isinstance(source, bytes | bytearray | memoryview):
        whole = bytes(source)
        yield from (whole[at : at + PIECE] for at in range(0, len(whole), PIECE))
        yield END
    elif is_place(source):
        yield from network_pieces(
            str(source), name=name, follow=follow, patience=patience, checkpoint=checkpoint
        )
    elif isinstance(source, str | os.PathLike):
        most = together if messages else None
        yield from _of_files(os.fspath(source), follow, patience, name, checkpoint, most)
    else:
        yield from _given(source)
        yield END


def files_of(source: Any, follow: bool = False) -> int:
    """How many files a source consists of; a folder that is followed has no last one."""
    source = split_source(source)[1]
    if table_path(source) is not None or not isinstance(source, str | os.PathLike):
        return 1
    if is_place(source) or is_pipe(source):
        return 1
    if follow and not os.path.isfile(source):
        return _ENDLESS
    return len(paths(source))


def shows_kind(head: bytes) -> bool:
    """Whether enough has come to see what an input is: a start tag, or a line of JSON."""
    return b">" in head or (head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and b"\n" in head)


def _given(source: Iterable[bytes]) -> Iterator[bytes]:
    for piece in source:
        yield bytes(piece)


def _of_files(
    source: str, follow: bool, patience: Patience, name: str | None,
    checkpoint: Remembering | None, most: int | None,
) -> Iterator[bytes | Burst | None]:  # fmt: skip
    if source == "-":
        yield from _of_pipe(sys.stdin.buffer.fileno(), patience)
        yield END
    elif is_pipe(source):
        yield from _of_named_pipe(source, patience)
        yield END
    else:
        notes = None if checkpoint is None else checkpoint.notes(name or "")
        ended = 0 if checkpoint is None else checkpoint.ended(name or "")
        whole = None if most is None else is_whole
        yield from Files(source, follow, patience, notes, whole, most or 1).pieces(ended)


def is_pipe(source: Any) -> bool:
    """Whether a source is standard input or a named pipe; one to be unzipped is read as a file."""
    source = split_source(source)[1]
    if not isinstance(source, str | os.PathLike):
        return False
    word = os.fspath(source)
    if word == "-" or is_compressed(word):
        return word == "-"
    return os.path.exists(word) and stat.S_ISFIFO(os.stat(word).st_mode)


def _of_named_pipe(name: str, patience: Patience) -> Iterator[bytes]:
    """Do not wait for its writer."""
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
