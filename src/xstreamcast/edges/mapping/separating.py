"""Documents one after another, some of which are broken: where each ends, by the tags of its root.

<a><b></a><a/><a>   →   <a><b></a>, <a/>, <a>
"""

from __future__ import annotations

import re
from typing import Final

_QUOTED: Final = rb"(?:[^<>\"']|\"[^\"]*\"|'[^']*')*"
_ROOT: Final = re.compile(rb"<([^\s/>!?\"'=<][^\s/>]*)")


def separated(data: bytes) -> list[tuple[int, bytes]] | None:
    """Each document with its first byte; None if there is one alone, or none that ends."""
    found, at = [], 0
    while (end := _end_of_root(data, at)) is not None:
        found.append((at, data[at:end]))
        at = end
    if data[at:].strip():
        found.append((at, data[at:]))
    return found if len(found) > 1 else None


def _end_of_root(data: bytes, begin: int) -> int | None:
    """Behind the end tag of the next root: as many elements of its name have ended as begun."""
    root = _ROOT.search(data, begin)
    if root is None:
        return None
    tag = re.compile(rb"<(/?)" + re.escape(root[1]) + rb"(?=[\s/>])" + _QUOTED + rb">")
    depth = 0
    for found in tag.finditer(data, root.start()):
        if found[1]:
            depth -= 1
        elif not found[0].endswith(b"/>"):
            depth += 1
        if depth <= 0:
            return found.end()
    return None
