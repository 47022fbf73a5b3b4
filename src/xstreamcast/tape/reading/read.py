"""Reading XML onto a tape in one call."""

from __future__ import annotations

import mmap
import os
from typing import BinaryIO, Protocol, TypeAlias

from xstreamcast.errors import DataPlace, error
from xstreamcast.model.work import WORK
from xstreamcast.tape.join import joined
from xstreamcast.tape.layout import U8, Tape, frozen_bytes
from xstreamcast.tape.limits import Limits, default_limits
from xstreamcast.tape.names import Names
from xstreamcast.tape.reading.reader import MODES, Reader

_READ = mmap.ACCESS_READ
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"


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
    limits = limits or default_limits()
    names = Names() if names is None else names
    match source:
        case bytes():
            data = frozen_bytes(source)
        case memoryview() if source.readonly and isinstance(source.obj, bytes | mmap.mmap):
            data = frozen_bytes(source)
        case bytearray() | memoryview():
            data = frozen_bytes(bytes(source))  # a copy: the owner may change it
        case str() | os.PathLike():
            name = name or os.fspath(source)
            with _opened(source) as file:
                if os.fstat(file.fileno()).st_size == 0:  # empty, or a pipe
                    return _chunked(file, Reader(mode, limits=limits, names=names, name=name))
                mapped = mmap.mmap(file.fileno(), 0, access=_READ)
                if mapped[:2] == _GZIP:
                    return _unzipped(file, Reader(mode, limits=limits, names=names, name=name))
                data = frozen_bytes(memoryview(mapped))
        case _ if hasattr(source, "read"):
            return _chunked(source, Reader(mode, limits=limits, names=names, name=name))
        case _:
            got = type(source).__name__
            raise error("XSCU0005", f"a source must be bytes, a path or a binary file; got {got}")
    if mode == "stream":
        return _chunked_bytes(data, Reader(mode, limits=limits, names=names, name=name))
    from xstreamcast.tape.reading.read_bytes import whole  # here: it needs the compiler

    return whole(data, mode == "sequence", limits, names, name)


def _opened(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(path, "rb")
    except (OSError, ValueError) as failed:
        why = getattr(failed, "strerror", None) or failed
        xml = os.fspath(path).lstrip().startswith("<")
        hint = "a string names a file; XML itself is given as bytes" if xml else None
        raise error("XSCU0003", f"cannot open {os.fspath(path)}: {why}", hint=hint) from None


def _unzipped(file: BinaryIO, reader: Reader) -> Tape:
    """A file that gzip compressed, whatever it is called."""
    import gzip
    import zlib

    try:
        with gzip.open(file) as unzipped:
            return _chunked(unzipped, reader)
    except (EOFError, zlib.error, gzip.BadGzipFile) as why:
        at = DataPlace(file.name)
        raise error("XSCX0004", f"the gzip data cannot be read: {why}", at=at) from None


def _chunked(file: BinaryFile, reader: Reader) -> Tape:
    parts = []
    while chunk := file.read(_CHUNK):
        WORK.read += len(chunk)
        parts.append(reader.feed(chunk))
    return _all_of(parts, reader)


def _chunked_bytes(data: U8, reader: Reader) -> Tape:
    pieces = range(0, len(data), _CHUNK)
    return _all_of([reader.feed(data[at : at + _CHUNK].tobytes()) for at in pieces], reader)


def _all_of(parts: list[Tape | None], reader: Reader) -> Tape:
    parts.append(reader.close())
    found = [part for part in parts if part is not None]
    return joined(found) if found else reader.nothing()
