"""Where streams and documents come from: a file, a folder, a pattern, a pipe; plain or zipped."""

from __future__ import annotations

import glob
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

from xstreamcast.edges.sources.compressed import (
    is_compressed,
    open_plain,
    opened_compressed,
    reading_compressed,
)
from xstreamcast.edges.sources.looks import refuse_foreign
from xstreamcast.edges.updates.beginning import is_change_stream, is_update_stream
from xstreamcast.errors import Error, error
from xstreamcast.model.fragment import Arrival
from xstreamcast.model.work import WORK

if TYPE_CHECKING:
    from xstreamcast.edges.decoding import StreamDecoder

CHUNK: Final = 1 << 20
_HEAD: Final = 1 << 16  # bytes that are read to detect the kind of an input

_BEFORE: Final = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*", re.S
)
_WORD: Final = re.compile(
    rb"<stream:(?:filler|repeat|replace|remove|eos|structure|tagstructure|heartbeat|fragments)\b"
    rb"|<(?:[A-Za-z_][\w.-]*:)?(?:filler|repeat|replace|remove)\s[^<>]*\bid\s*="
    rb"|<(?:[A-Za-z_][\w.-]*:)?(?:structure|tag[sS]tructure)(?:\s[^<>]*)?>\s*<tag\s"
    rb"|<tag\s(?:[^<>]*\s)?stream\s*="
    rb"|<eos\s*/>"
    rb"|<(?:[A-Za-z_][\w.-]*:)?heartbeat\s[^<>]*\b[vV]alid[tT]ime\s*="
)
# A heartbeat without a time is refused; what follows it says what the input is.
_BEATS: Final = re.compile(rb"(?:<(?:[A-Za-z_][\w.-]*:)?heartbeat\s*/>\s*)+(?=<)")
_ROOT: Final = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?fragments(?:\s[^<>]*)?>")

Kind = Literal["fragments", "updates", "changes", "document"]


def paths(source: str | os.PathLike[str]) -> list[str]:
    """The inputs that a source names: `-`, a file, the files of a folder by name, a pattern."""
    word = os.fspath(source)
    if word == "-" or os.path.isfile(word):
        return [word]
    if os.path.isdir(word):
        files = sorted(entry.path for entry in os.scandir(word) if _visible_file(entry))
        if not files:
            raise error("XSCU0003", f"the folder {word} has no files")
        return files
    found = sorted(filter(os.path.isfile, glob.glob(word, recursive=True)))
    if not found and not os.path.exists(word):
        said = f"cannot open {word}: no such file, folder or pattern"
        raise error("XSCU0003", said, hint=_mapping_hint(word))
    return found or [word]


def _mapping_hint(word: str) -> str | None:
    """What may have been meant, where a word looks like MAPPING:PLACE."""
    from difflib import get_close_matches  # here: for an error alone

    from xstreamcast.edges.mapping.finding import shipped

    name, colon, _ = word.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z][\w.-]+", name):
        return None
    near = get_close_matches(name, shipped(), 1, 0.6)
    known = f"did you mean {near[0]}?" if near else f"shipped mappings: {', '.join(shipped())}"
    return f"{name} is no mapping; {known}"


def _visible_file(entry: os.DirEntry[str]) -> bool:
    return entry.is_file() and not entry.name.startswith(".")


def chunks(path: str, size: int = CHUNK) -> Iterator[bytes]:
    """The bytes of one input as they come."""
    with opened(path) as file:
        read = getattr(file, "read1", file.read)  # a pipe hands out what it has
        while chunk := read(size):
            WORK.read += len(chunk)
            yield chunk


def pieces_of(path: str, whole: bool) -> Iterator[bytes]:
    """The bytes of one input of a feed, in one piece where it is a message."""
    return iter((message_in(path),)) if whole else chunks(path)


def message_in(path: str) -> bytes:
    """What one input holds; its own bytes, which are refused later, if they are broken."""
    try:
        return b"".join(chunks(path))
    except Error as why:
        if why.code != "XSCU0003" or not is_compressed(path):
            raise
        try:
            return Path(path).read_bytes()
        except OSError:
            raise why from None


@contextmanager
def opened(path: str, growing: bool = False) -> Iterator[BinaryIO]:
    """One input, open for reading; where it is compressed and grows, its end may not be there."""
    if path == "-":
        yield sys.stdin.buffer
        return
    try:
        zipped = is_compressed(path)
        file = opened_compressed(path, growing) if zipped else open_plain(path)
    except OSError as failed:
        raise error("XSCU0003", f"cannot open {path}: {failed.strerror or failed}") from None
    with file, reading_compressed(path) if zipped else nullcontext():
        yield file


def kind_of(head: bytes, name: str | None = None) -> Kind:
    """What the first bytes of an input are those of: a stream, in one of three forms, or not.

    What is no XML at all is an error that says what it looks like.
    """
    if is_update_stream(head):
        return "updates"
    if is_change_stream(head):
        return "changes"
    refuse_foreign(head, name)
    found = _BEFORE.match(head)
    at = found.end() if found else 0
    root = _ROOT.match(head, at)
    if root is not None:
        inner = _BEFORE.match(head, root.end())
        at = inner.end() if inner else root.end()
        if not head[at:].strip() or head.startswith(b"</", at):
            return "fragments"
    beats = _BEATS.match(head, at)
    return "fragments" if _WORD.match(head, beats.end() if beats else at) else "document"


def kind_of_source(source: str | os.PathLike[str]) -> Kind:
    """What the first input of a source is; a pipe, which cannot be read twice, is fragments.

    A file that is called JSON or CSV is a document of that form, unless it holds a stream.
    """
    from xstreamcast.edges.line_documents import form_of  # here: it needs the functions

    first = paths(source)[0]
    if first == "-" or stat.S_ISFIFO(os.stat(first).st_mode):
        return "fragments"
    with opened(first) as file:
        head = file.read(_HEAD)
    if form_of(first) is not None and not (is_update_stream(head) or is_change_stream(head)):
        return "document"
    return kind_of(head, first)


def arrivals(source: str | os.PathLike[str], decoder: StreamDecoder) -> Iterator[list[Arrival]]:
    """What arrives from a source, chunk by chunk, and at last what was still waiting."""
    from xstreamcast.edges.mapping.decoder import MappingDecoder

    files = paths(source)
    announce(files)
    if isinstance(decoder, MappingDecoder):
        whole = decoder.mapping.level is None
        yield from decoder.files((path, pieces_of(path, whole)) for path in files)
        yield decoder.close()
        return
    for number, path in enumerate(files, start=1):
        decoder.more = number < len(files)
        for chunk in chunks(path):
            yield decoder.feed(chunk)
        yield decoder.end_input()
    yield decoder.close()


def announce(files: Iterable[str]) -> None:
    """Add files that `chunks` will read to the progress that is shown."""
    WORK.total += sum(map(_plain_size, files))


def _plain_size(path: str) -> int:
    """How many bytes will be read; 0 if unknown."""
    return 0 if path == "-" or is_compressed(path) else os.path.getsize(path)


def stream_name(source: str | os.PathLike[str]) -> str:
    """What messages call a source that has no other name."""
    word = os.fspath(source)
    return "stdin" if word == "-" else Path(word).name.split(".")[0] or word
