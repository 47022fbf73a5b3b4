"""Documents in a file: how far they were read, and which bytes the next batch reads.

Documents that are added to a file are read on; a file that was rewritten is read from its
beginning.
"""

from __future__ import annotations

import os
import zlib
from typing import NamedTuple

from xstreamcast.edges.replay.messages import file_bytes
from xstreamcast.edges.replay.offset import ReadOffset
from xstreamcast.tape.expat.following import complete_documents


class TakenFile(NamedTuple):
    """What a batch read of a file: bytes of what it holds, and a check of all up to the end."""

    begin: int
    end: int
    check: int

    @staticmethod
    def of(seen: ReadOffset | None) -> TakenFile | None:
        """As an offset has it; None if it does not say, or nothing was read."""
        return TakenFile(*map(int, seen.tag.split())) if seen is not None and seen.tag else None


def next_documents(name: str, seen: ReadOffset | None, grows: bool) -> ReadOffset | None:
    """How far a file is read after this batch; None: no further than before.

    `grows`: a document at the end that is not complete is awaited.
    """
    size, last = os.path.getsize(name), TakenFile.of(seen)
    known = last is not None and _check(name, last.end) == (last.end, last.check)
    begin = last.end if last is not None and known else 0
    whole, check = _check(name, None)
    end = whole
    if grows:
        end = begin + complete_documents(file_bytes(name, begin, None))
        check = check if end == whole else _check(name, end)[1]
    if whole > begin == end:
        return None
    blank = all(not chunk.strip() for chunk in file_bytes(name, begin, end))
    taken = TakenFile(end if blank else begin, end, check)
    # A file is not all read while a document in it is awaited, whatever its size.
    return ReadOffset(size if end == whole else -1, " ".join(map(str, taken)), True)


def _check(name: str, end: int | None) -> tuple[int, int]:
    """(how many of the first bytes are there, a check of them); None: of all."""
    length = check = 0
    for chunk in file_bytes(name, 0, end):
        length, check = length + len(chunk), zlib.crc32(chunk, check)
    return length, check
