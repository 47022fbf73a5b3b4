"""About how many bytes an operator keeps: its attributes, of large collections a sample."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import numpy as np

_SAMPLE: Final = 64  # members of a collection that are measured; the others are taken for the same
_DEEPEST: Final = 16
# What is not state: plans, programs, tapes that feeds keep, and whatever is not ours.
_STATE: Final = ("xstreamcast.operators.", "xstreamcast.model.")


def held_bytes(one: object) -> int:
    """About what an object keeps; what several refer to is counted once."""
    return _Measuring().of(one, 0)


class _Measuring:
    """The objects that were met."""

    def __init__(self) -> None:
        self._met: set[int] = set()

    def of(self, one: object, depth: int) -> int:
        if one is None or isinstance(one, bool | type) or id(one) in self._met:
            return 0
        self._met.add(id(one))
        if isinstance(one, np.ndarray):
            return int(one.nbytes) + self._objects(one, depth)
        if isinstance(one, int | float | str | bytes | bytearray | array):
            return sys.getsizeof(one)
        if depth > _DEEPEST:
            return 0
        if isinstance(one, dict):
            each = islice(one.items(), _SAMPLE)
            return sys.getsizeof(one) + self._some((x for pair in each for x in pair), one, depth)
        if isinstance(one, list | tuple | set | frozenset):
            return sys.getsizeof(one) + self._some(islice(one, _SAMPLE), one, depth)
        if not type(one).__module__.startswith(_STATE):
            return 0
        return object.__sizeof__(one) + sum(self.of(x, depth + 1) for x in _attributes(one))

    def _objects(self, array: Any, depth: int) -> int:
        if array.dtype != object:
            return 0
        return self._some(iter(array.ravel()[:_SAMPLE]), array, depth)

    def _some(self, sample: Iterable[object], whole: Any, depth: int) -> int:
        """What the members take, by some of them."""
        found, count = sum(self.of(one, depth + 1) for one in sample), len(whole)
        return found if count <= _SAMPLE else found * count // _SAMPLE


def _attributes(one: object) -> Iterator[object]:
    yield from getattr(one, "__dict__", {}).values()
    for kind in type(one).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            yield getattr(one, name, None)
