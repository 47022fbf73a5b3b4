"""A stream of fragments in another order: as the document reads, or by lot."""

import random
import re
from collections.abc import Iterator
from pathlib import Path

_BEGIN, _END = b"<stream:filler ", b"</stream:filler>"
_ID = re.compile(rb'<stream:filler id="([^"]*)"')
_HOLE = re.compile(rb'<stream:hole id="([^"]*)"')
ORDERS = ("document", "random")


def ordered(path: Path, order: str, seed: int) -> list[bytes]:
    """A stream in parts: what stands before the fragments, they in this order, and the end."""
    whole = path.read_bytes()
    first, last = whole.index(_BEGIN), whole.rindex(_END) + len(_END)
    own = [part + _END + b"\n" for part in whole[first:last].split(_END) if part.strip()]
    own = [part.lstrip() for part in own]
    if order == "random":
        random.Random(seed).shuffle(own)
    else:
        own = list(_as_it_reads(own))
    return [whole[:first], *own, whole[last:]]


def _as_it_reads(fillers: list[bytes]) -> Iterator[bytes]:
    """Each fragment before those that stand in its holes, these in the order of the holes."""
    by_id = {_id(line): line for line in fillers}
    inner = {hole for line in fillers for hole in _HOLE.findall(line)}
    todo = [one for one in reversed(by_id) if one not in inner]
    while todo:
        line = by_id[todo.pop()]
        yield line
        todo.extend(reversed(_HOLE.findall(line)))


def _id(line: bytes) -> bytes:
    found = _ID.match(line)
    assert found is not None
    return found[1]
