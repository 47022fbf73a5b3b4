"""Streams of fragments in any number: a root with all its holes, sent once, and small units."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, assert_never

from xstreamcast.edges.wire.encoder import OPEN, fragment_line

# Which units are corrected: the first only, those behind the middle, the last ones.
Place = Literal["first", "middle", "last"]
# New fragments that a measurement may send: the root has a hole for each from the beginning, so
# that none of them makes it be sent again.
SPARE = 64


@dataclass(frozen=True, slots=True)
class Unit:
    """One kind of fragments: how many there are among n, and the bytes of one in a version.

    Version 0 is what is sent first. Every later version holds what queries ask for (a high price,
    the name that is looked for), so that sending it changes answers. `step` and `offset` pick the
    indexes that new fragments and corrections have, where only some stand in the right place.
    """

    stream: str
    count: Callable[[int], int]
    write: Callable[[int, int, int], bytes]  # index, version, n
    step: int = 1
    offset: int = 0

    def aligned(self, index: int) -> int:
        """The next index that is one of ours."""
        return -(-index // self.step) * self.step + self.offset

    def new(self, n: int, k: int) -> bytes:
        """The k-th fragment that was not there before."""
        return self.write(self.aligned(self.count(n)) + k * self.step, 1, n)

    def correction(self, n: int, k: int, place: Place = "middle") -> bytes:
        """The k-th correction: of the units at a place, each changed and then changed back."""
        return self.write(self._corrected(n, k // 2, place), 1 - k % 2, n)

    def _corrected(self, n: int, k: int, place: Place) -> int:
        match place:
            case "first":
                return self.offset
            case "middle":
                return self.aligned(self.count(n) // 2) + k * self.step
            case "last":
                return self.count(n) - 1 - k
            case _:
                assert_never(place)

    def all(self, n: int) -> Iterable[bytes]:
        """What is sent first, in document order."""
        return (self.write(index, 0, n) for index in range(self.count(n)))

    def reach(self, n: int) -> int:
        """Indexes that need a hole."""
        return self.aligned(self.count(n)) + SPARE * self.step


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream: its structure, its root with all holes for n units, and the units."""

    name: str
    structure: bytes
    root: Callable[[int], bytes]
    units: tuple[Unit, ...]

    def opening(self, n: int) -> bytes:
        """All that is sent before the first measured change."""
        fillers = (line for unit in self.units for line in unit.all(n))
        return b"".join([OPEN, self.structure, self.root(n), *fillers])


Streams = tuple[Stream, ...]


def filler(id: str, tag: int, payload: str, valid: str | None = None) -> bytes:
    """One fragment."""
    return fragment_line(id, tag, payload.encode(), valid)


def removal(id: str, tag: int, valid: str) -> bytes:
    """The end of a fragment's last version."""
    return fragment_line(id, tag, b"", valid, "remove")


def hole(id: str, tag: int) -> str:
    """The place of a fragment."""
    return f'<stream:hole id="{id}" tsid="{tag}"/>'


def holes(prefix: str, tag: int, indexes: Iterable[int]) -> str:
    """The places of several."""
    return "".join(hole(f"{prefix}{index}", tag) for index in indexes)


def structure(tags: str) -> bytes:
    """A tag structure as it travels."""
    return f"<stream:structure>{tags}</stream:structure>\n".encode()


def scattered(index: int, below: int, salt: int = 0) -> int:
    """A number that looks random and is the same on every machine and for every n."""
    mixed = ((index + 1) * 2_654_435_761 + salt * 40_503) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 15)) * 2_246_822_519) & 0xFFFFFFFF
    return (mixed ^ (mixed >> 13)) % below
