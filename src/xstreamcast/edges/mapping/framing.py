"""Messages of a recorded NETCONF session (RFC 6242): the marks between them, and their chunks.

<a/>]]>]]><b/>]]>]]>   or   #4 <a/> ## #4 <b/> ##   →   <a/>, <b/>
"""

from __future__ import annotations

import re
from typing import Final

_MARK: Final = b"]]>]]>"
_CHUNK: Final = re.compile(rb"\n?#(\d{1,10})\n")
_END: Final = re.compile(rb"\n?##\n?")


def unframed(data: bytes) -> list[tuple[int, bytes]] | None:
    """Each message with its first byte; None if nothing frames them."""
    if data.lstrip()[:1] == b"#":
        return _of_chunks(data)
    if _MARK not in data:
        return None
    parts, at = [], 0
    for part in data.split(_MARK):
        parts.append((at, part))
        at += len(part) + len(_MARK)
    return [(at, part) for at, part in parts if part.strip()]


def _of_chunks(data: bytes) -> list[tuple[int, bytes]] | None:
    at = len(data) - len(data.lstrip())
    found: list[tuple[int, bytes]] = []
    start, held = at, b""
    while at < len(data) and data[at:].strip():
        if (end := _END.match(data, at)) is not None:
            found.append((start, held))
            start, held, at = end.end(), b"", end.end()
        elif (chunk := _CHUNK.match(data, at)) is not None:
            at = chunk.end() + int(chunk[1])
            held += data[chunk.end() : at]
        else:
            return None
    return found if not held else [*found, (start, held)]
