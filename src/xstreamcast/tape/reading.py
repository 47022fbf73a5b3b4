"""Reading XML onto a tape in one call.

Whole inputs are tokenised where they lie: the bytes of the caller or the pages of the file are the
heap of the tape. What the tokeniser is not sure of, expat reads again from the beginning: it gives
the error, or the tape.
"""

from __future__ import annotations

import mmap
import os
from typing import BinaryIO, Protocol, TypeAlias

import numpy as np

from xstreamcast.errors import error
from xstreamcast.tape.join import joined
from xstreamcast.tape.layout import U8, Tape, frozen_bytes
from xstreamcast.tape.lexicon import address
from xstreamcast.tape.limits import DEFAULT, Limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.prolog import LONGEST, look
from xstreamcast.tape.reader import MODES, Reader
from xstreamcast.tape.refusals import BEYOND, beyond_at, check_size
from xstreamcast.tape.through_sequence import authoritative
from xstreamcast.tape.tokenize_bytes import PADDING
from xstreamcast.tape.tokenize_driver import Driver
from xstreamcast.tape.tokenize_state import MORE, POS, ROWS

_READ = mmap.ACCESS_READ
_CHUNK = 1 << 20
_SMALL = 1 << 14  # below this a padded copy costs less than a second call


class BinaryFile(Protocol):
    """What is read in chunks."""

    def read(self, size: int, /) -> bytes: ...


Source: TypeAlias = bytes | bytearray | memoryview | str | os.PathLike[str] | BinaryFile


def read(
    source: Source,
    *,
    mode: str = "document",
    limits: Limits | None = None,
    names: Names | None = None,
    name: str | None = None,
) -> Tape:
    """The XML of `source` as a tape: bytes are XML, a str or path names a file.

    mode "document": one root below the document node, row 0.
    mode "sequence": documents one after another, all roots below one document node, row 0.
    mode "stream": the complete children of a root that may never close, each a tree of its own.
    """
    if mode not in MODES:
        raise error("XSCU0005", f"mode must be one of {', '.join(MODES)}; got {mode!r}")
    limits = limits or DEFAULT
    names = Names() if names is None else names
    match source:
        case bytes():
            data = frozen_bytes(source)
        case bytearray() | memoryview():
            data = frozen_bytes(bytes(source))  # a copy: the owner may change it
        case str() | os.PathLike():
            name = name or os.fspath(source)
            with _opened(source) as file:
                if os.fstat(file.fileno()).st_size == 0:  # empty, or a pipe
                    return _chunked(file, Reader(mode, limits=limits, names=names, name=name))
                data = frozen_bytes(memoryview(mmap.mmap(file.fileno(), 0, access=_READ)))
        case _ if hasattr(source, "read"):
            return _chunked(source, Reader(mode, limits=limits, names=names, name=name))
        case _:
            got = type(source).__name__
            raise error("XSCU0005", f"a source must be bytes, a path or a binary file; got {got}")
    if mode == "stream":
        return _chunked_bytes(data, Reader(mode, limits=limits, names=names, name=name))
    return _whole(data, mode == "sequence", limits, names, name)


def _whole(data: U8, several: bool, limits: Limits, names: Names, name: str | None) -> Tape:
    check_size(len(data), limits, name)
    prolog = look(data[:LONGEST].tobytes(), True)
    assert prolog is not None
    if not prolog.odd:
        driver = Driver(limits, names, unit=None, several=several)
        driver.begin(prolog)
        answer = _drive(driver, data)
        pos = int(driver.state[POS])
        if answer == MORE and driver.complete and pos == len(data):
            driver.finish_document()
            return Tape(driver.take(int(driver.state[ROWS]), data), names, name)
        if answer in BEYOND:
            raise beyond_at(answer, limits, data.data, pos, name)
    return authoritative(data.data, several, limits, names, name)


def _drive(driver: Driver, data: U8) -> int:
    """Tokenise where the bytes lie, and their end, which cannot be read past, in a padded copy."""
    if len(data) > _SMALL:
        answer = driver.run(address(data), len(data) - PADDING, len(data))
        if answer != MORE:
            return answer
    pos = int(driver.state[POS])
    rest = np.zeros(len(data) - pos + PADDING, np.uint8)
    rest[:-PADDING] = data[pos:]
    return driver.run(address(rest) - pos, len(data), len(data))


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(path, "rb")
    except (OSError, ValueError) as failed:
        why = getattr(failed, "strerror", None) or failed
        xml = os.fspath(path).lstrip().startswith("<")
        hint = "a string names a file; XML itself is given as bytes" if xml else None
        raise error("XSCU0003", f"cannot open {os.fspath(path)}: {why}", hint=hint) from None


def _chunked(file: BinaryFile, reader: Reader) -> Tape:
    parts = []
    while chunk := file.read(_CHUNK):
        parts.append(reader.feed(chunk))
    return _all_of(parts, reader)


def _chunked_bytes(data: U8, reader: Reader) -> Tape:
    pieces = range(0, len(data), _CHUNK)
    return _all_of([reader.feed(data[at : at + _CHUNK].tobytes()) for at in pieces], reader)


def _all_of(parts: list[Tape | None], reader: Reader) -> Tape:
    parts.append(reader.close())
    found = [part for part in parts if part is not None]
    return joined(found) if found else reader.nothing()
