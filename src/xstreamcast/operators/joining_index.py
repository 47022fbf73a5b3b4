"""Which unit has which values, and which units have a value."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from xstreamcast.functions.compare import hash_keys
from xstreamcast.functions.compare.values import FAMILY, NUMBER
from xstreamcast.model.atomic import STRING

if TYPE_CHECKING:
    from xstreamcast.model.column import Column

TEXT: Final = 1
NUMERIC: Final = 2
STRANGE: Final = 4  # values of other types, or that could not be made


class Values(NamedTuple):
    """The values of one unit, each once, and of what kinds they are."""

    keys: tuple[Hashable, ...] = ()
    kinds: int = 0


UNKNOWN: Final = Values((), STRANGE)


def values_of(column: Column) -> list[Values]:
    """The values of each row of an atomised column; what compares equal is one of them."""
    bounds = column.bounds().tolist()
    hashed = hash_keys(column.items, inexact=True).tolist()
    kinds = [_kind(tag) for tag in column.items.all_tags().tolist()]
    out = []
    for first, last in itertools.pairwise(bounds):
        met = 0
        for kind in kinds[first:last]:
            met |= kind
        out.append(Values(tuple(dict.fromkeys(hashed[first:last])), met))
    return out


def _kind(tag: int) -> int:
    family = FAMILY.get(tag)
    return TEXT if family == STRING else NUMERIC if family == NUMBER else STRANGE


class Index:
    """Values by unit and units by value."""

    def __init__(self) -> None:
        self.units: dict[str, Values] = {}
        self.keys: dict[Hashable, set[str]] = {}
        self._kinds: dict[int, int] = {}  # how many units have values of these kinds

    def put(self, unit: str, values: Values) -> Values:
        """Note the values of a unit → those it had."""
        before = self.drop(unit)
        self.units[unit] = values
        self._kinds[values.kinds] = self._kinds.get(values.kinds, 0) + 1
        for key in values.keys:
            self.keys.setdefault(key, set()).add(unit)
        return before

    def drop(self, unit: str) -> Values:
        """Forget a unit → the values it had."""
        before = self.units.pop(unit, None)
        if before is None:
            return Values()
        self._kinds[before.kinds] -= 1
        if not self._kinds[before.kinds]:
            del self._kinds[before.kinds]
        for key in before.keys:
            others = self.keys[key]
            others.discard(unit)
            if not others:
                del self.keys[key]
        return before

    def having(self, keys: Iterable[Hashable]) -> set[str]:
        """The units that have one of the values."""
        found: set[str] = set()
        for key in keys:
            found |= self.keys.get(key, frozenset())
        return found

    @property
    def kinds(self) -> int:
        """The kinds of all values."""
        met = 0
        for kinds in self._kinds:
            met |= kinds
        return met

    def clear(self) -> None:
        """Forget all units."""
        self.units, self.keys, self._kinds = {}, {}, {}

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        links = sum(len(one.keys) for one in self.units.values())
        return 180 * len(self.units) + 60 * links + 250 * len(self.keys)


def comparable(*kinds: int) -> bool:
    """Whether no comparison of such values can fail, and equal ones have one key."""
    met = 0
    for one in kinds:
        met |= one
    return met in (0, TEXT, NUMERIC)
