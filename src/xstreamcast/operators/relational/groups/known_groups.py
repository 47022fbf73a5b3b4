"""The keys of groups that were met, where nothing else of them is kept."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from xstreamcast.model.delta import Key

_FEW: Final = 64  # numbers that are searched one by one
Numbers: TypeAlias = "array[int] | set[int]"


class KnownGroups:
    """By the first part of a key, the numbers of the rests that came with it; a rest is kept once.

    No table is ever moved that grows with both parts together.
    """

    def __init__(self) -> None:
        self.rests: dict[tuple[Hashable, ...], int] = {}
        self.by_first: dict[Hashable, Numbers] = {}

    def __contains__(self, key: Key) -> bool:
        first, rest = _parts(key)
        numbers = self.by_first.get(first)
        if numbers is None:
            return False
        number = self.rests.get(rest)
        return number is not None and number in numbers

    def add(self, key: Key) -> None:
        """A group that was not met before."""
        first, rest = _parts(key)
        number = self.rests.setdefault(rest, len(self.rests))
        numbers = self.by_first.get(first)
        if numbers is None:
            numbers = self.by_first[first] = array("i")
        if isinstance(numbers, set):
            numbers.add(number)
            return
        numbers.append(number)
        if len(numbers) > _FEW:
            self.by_first[first] = set(numbers)

    def fill(self, rests: list[tuple[Hashable, ...]], each: Iterator[tuple[Hashable, int]]) -> None:
        """Take over the rests, and the pairs of a first part and the number of a rest."""
        self.rests = {rest: number for number, rest in enumerate(rests)}
        self.by_first = {}
        for first, number in each:
            self.add((first, rests[number]))


def _parts(key: Key) -> tuple[Hashable, tuple[Hashable, ...]]:
    """The first value of a key and the others; its last part is the values of the group."""
    values = (*key[:-1], *key[-1])
    return (values[0], values[1:]) if values else (None, ())
