"""Files of a feed with a mapping, in batches: how far each is read, and what is read of it next.

A file that grows is read on from where it was left, so that no message counts twice. One that was
rewritten is read from its beginning, and so is one that ended within a document.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from xstreamcast.edges.inputs import message_in, opened
from xstreamcast.edges.mapping.messages import is_whole
from xstreamcast.edges.replay.offset import Offset, ReadOffset
from xstreamcast.edges.sources.compressed import is_compressed

if TYPE_CHECKING:
    from xstreamcast.edges.mapping.form import Mapping

_CHUNK: Final = 1 << 20

Form = Literal["documents", "json", "lines", "trees"]


class FilePart(NamedTuple):
    """Bytes of a file; None: to its end. `over`: nothing more of the file is awaited."""

    path: str
    begin: int
    end: int | None
    over: bool

    def pieces(self, whole: bool) -> Iterator[bytes]:
        """The bytes, in one piece where they are a message that is compressed."""
        if whole and is_compressed(self.path):
            return iter((message_in(self.path),))
        return file_bytes(self.path, self.begin, self.end)


class _Look(NamedTuple):
    """A file as it was when it was read, in the words of an offset."""

    size: int
    changed: int  # when, in nanoseconds
    check: int  # of the bytes up to the position
    begin: int  # where the last batch began to read

    @staticmethod
    def of(seen: ReadOffset) -> _Look:
        return _Look(*map(int, seen.tag.split()))

    def __str__(self) -> str:
        return " ".join(map(str, self))


def form_of(mapping: Mapping) -> Form:
    """What the files of a feed hold: documents, a JSON text, lines, or elements that follow."""
    if mapping.lines is not None:
        return "json" if mapping.lines.type == "json" else "lines"
    return "documents" if mapping.level is None else "trees"


def next_messages(
    names: Sequence[str], start: Offset, most: int | None, mapping: Mapping, grows: bool
) -> Offset:
    """Where the next batch ends, with at most so many files; `start` if nothing is new.

    `grows`: the last file may still be written; any other one is over.
    """
    files, left = dict(start.files), len(names) if most is None else most
    there = [name for name in names if os.path.isfile(name)]
    for name in there:
        over = not grows or name != there[-1]
        now = _next(name, files.get(name), form_of(mapping), over) if left > 0 else None
        if now is not None:
            files[name] = now
            left -= 1
    if files == start.files:
        return start
    return Offset(files, replace(start.said, read=start.said.read + 1))


def _next(name: str, seen: ReadOffset | None, form: Form, over: bool) -> ReadOffset | None:
    """How far a file is read after this batch; None: no further than before."""
    now = os.stat(name)
    last = None if seen is None or not seen.tag else _Look.of(seen)
    same = last is not None and (last.size, last.changed) == (now.st_size, now.st_mtime_ns)
    if same and seen is not None and (seen.done or not over):
        return None
    begin = 0 if seen is None or last is None else _begin(name, seen, last, form, now.st_size)
    if is_compressed(name):
        return ReadOffset(now.st_size, str(_Look(now.st_size, now.st_mtime_ns, 0, 0)), True)
    data = b"".join(file_bytes(name, 0, now.st_size))
    end = _end(data, begin, form, over)
    if end is None:
        return None
    look = _Look(len(data), now.st_mtime_ns, zlib.crc32(data[:end]), begin)
    return ReadOffset(end, str(look), over or form in ("documents", "json"))


def _begin(name: str, seen: ReadOffset, last: _Look, form: Form, size: int) -> int:
    """Where to read on: behind what was read, if that is still there and was whole."""
    if is_compressed(name) or form == "json" or size < seen.position:
        return 0
    before = b"".join(file_bytes(name, 0, seen.position))
    if zlib.crc32(before) != last.check or (form == "documents" and not is_whole(before)):
        return 0
    return seen.position


def _end(data: bytes, begin: int, form: Form, over: bool) -> int | None:
    """Up to where a file counts as read; None: it is waited for."""
    match form:
        case "lines":  # one without an end is read again when it has one
            return data.rfind(b"\n") + 1
        case "trees":
            return len(data)
        case "documents":
            return len(data) if over or is_whole(data[begin:]) else None
        case "json":
            return len(data) if over or _is_json(data) else None


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def parts_between(start: Offset, end: Offset, form: Form) -> tuple[list[FilePart], list[FilePart]]:
    """(what earlier batches read, what this one reads)."""
    now = [
        _part(name, seen, form, _Look.of(seen).begin)
        for name, seen in end.files.items()
        if seen != start.files.get(name)
    ]
    fresh = {part.path for part in now if not part.begin}  # it is not what was read before
    before = [
        _part(name, seen, form, 0)
        for name, seen in start.files.items()
        if name not in fresh and os.path.isfile(name)
    ]
    return before, now


def _part(name: str, seen: ReadOffset, form: Form, begin: int) -> FilePart:
    if is_compressed(name) or not seen.tag:
        return FilePart(name, 0, None, True)
    whole = seen.done and form == "lines"  # its last line counted, though it had no end
    return FilePart(name, begin, _Look.of(seen).size if whole else seen.position, seen.done)


def file_bytes(name: str, begin: int, end: int | None) -> Iterator[bytes]:
    """The bytes of a file between two places, in pieces."""
    with opened(name) as file:
        file.seek(begin)
        left = None if end is None else end - begin
        while left is None or left > 0:
            chunk = file.read(_CHUNK if left is None else min(left, _CHUNK))
            if not chunk:
                return
            left = None if left is None else left - len(chunk)
            yield chunk
