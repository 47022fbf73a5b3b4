"""Files that are compressed, read as what they hold: .gz, .bz2 and .zst, by their names."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, cast

from xstreamcast.edges.sources.extras import needed
from xstreamcast.errors import error

ENDINGS: Final = (".gz", ".bz2", ".zst")
_BROKEN: Final = ("BadGzipFile", "ZstdError", "OSError")  # what the libraries raise


def is_compressed(name: str) -> bool:
    """Whether a name says so."""
    return name.endswith(ENDINGS)


def plain_name(name: str) -> str:
    """A name without the ending that says so."""
    return name.rpartition(".")[0] if is_compressed(name) else name


def open_plain(name: str) -> BinaryIO:
    """A file that is not."""
    return open(name, "rb")


def opened_compressed(name: str) -> BinaryIO:
    """A compressed file, open for reading what it holds; several parts in a row are read as one."""
    if name.endswith(".gz"):
        return cast(BinaryIO, gzip.open(name, "rb"))
    if name.endswith(".bz2"):
        return cast(BinaryIO, bz2.open(name, "rb"))
    made: Any = needed("zstandard").open(name, "rb")
    return cast(BinaryIO, made)


@contextmanager
def reading_compressed(name: str) -> Iterator[None]:
    """Whatever a library says of bytes that it cannot read, said in our words."""
    if not is_compressed(name):
        yield
        return
    try:
        yield
    except Exception as failed:
        if not isinstance(failed, EOFError | zlib.error) and type(failed).__name__ not in _BROKEN:
            raise
        raise error("XSCU0003", f"{name} cannot be decompressed: {failed}") from None


def decompressed(data: bytes, name: str) -> bytes:
    """What compressed bytes hold."""
    with reading_compressed(name):
        if name.endswith(".gz"):
            return gzip.decompress(data)
        if name.endswith(".bz2"):
            return bz2.decompress(data)
        library = needed("zstandard").ZstdDecompressor()
        with library.stream_reader(io.BytesIO(data), read_across_frames=True) as reader:
            return cast(bytes, reader.read())
