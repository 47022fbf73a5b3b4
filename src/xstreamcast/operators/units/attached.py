"""Units that name the root as their parent: they come one by one, and no root is sent again.

A new unit gets a place between two others without moving them: places are far apart.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from xstreamcast.tape.fragments.instance_kernels import EVENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xstreamcast.history.history import History
    from xstreamcast.operators.units.history_part import FragmentPlaces

APART: Final = 1 << 256  # between two places, so that many more fit between them

Order = tuple[bool, int, str, str]  # whether it is an event, its first valid time, id, key


class AttachedUnits:
    """The units attached to one root in their order, each with its place."""

    def __init__(self, history: History, links: FragmentPlaces, above: int) -> None:
        self._history, self.links = history, links  # the feed has others when it was compacted
        self._order: list[Order] = []
        self._place: list[int] = []
        self._last = above  # the place of the last unit in a hole

    def order_of(self, code: int, until: int | None = None) -> Order:
        """What a unit is sorted by; `until`: by the fragments before this place."""
        history, text = self._history, ""
        f, places = history.fragments, self.links.of(code)
        places = [at for at in places if until is None or at < until]
        text = str(code) if history.ids is None else history.ids.text(code)
        types = history.types()
        event = any(f["payload"][at] >= 0 and types[f["tsid"][at]] == EVENT for at in places)
        begin = min(int(f["valid"][at]) for at in places) if event else 0
        return event, begin, text, text

    def moved(self, code: int, first: int) -> tuple[Order, Order] | None:
        """What a unit was sorted by before the fragments from a place on came, and is now."""
        before, now = self.order_of(code, first), self.order_of(code)
        return None if before == now else (before, now)

    def move(self, before: Order, now: Order) -> Any:
        """The other place of a unit; None if there is no room for it, or it is not known."""
        at = bisect_left(self._order, before)
        if self._order[at : at + 1] != [before]:
            return None  # what it was sorted by was dropped
        del self._order[at], self._place[at]
        return self.insert(now)

    def extend(self, orders: Iterable[Order]) -> list[Any]:
        """Units behind all others, which are sorted → their places."""
        found: list[Any] = []
        for order in orders:
            place = (self._place[-1] if self._place else self._last) + APART
            self._order.append(order)
            self._place.append(place)
            found.append(place)
        return found

    def insert(self, order: Order) -> Any:
        """The place of a new unit; None if there is no room for it."""
        at = bisect_left(self._order, order)
        before = self._place[at - 1] if at else self._last
        place = before + APART
        if at < len(self._place):
            place = before + min(APART, (self._place[at] - before) // 2)
            if place == before:
                return None
        self._order.insert(at, order)
        self._place.insert(at, place)
        return place


class OrderedUnits(AttachedUnits):
    """Units of one partition: their places are what they are sorted by, so that units of other
    partitions, which are not known here, have theirs between them.
    """

    def extend(self, orders: Iterable[Order]) -> list[Any]:
        """Their places, behind all units in holes."""
        return [(1, *order[:3]) for order in orders]

    def insert(self, order: Order) -> Any:
        """The place of a new unit."""
        return (1, *order[:3])

    def move(self, before: Order, now: Order) -> Any:
        """The other place of a unit."""
        return self.insert(now)


class Growing:
    """An array that grows at its end, at a cost of what is added."""

    def __init__(self, values: Any) -> None:
        self._room, self._used = values, len(values)

    @property
    def values(self) -> Any:
        """What is in it."""
        return self._room[: self._used]

    def append(self, more: Any) -> Any:
        """Add values → all of them."""
        last = self._used + len(more)
        if last > len(self._room):
            larger = np.empty(max(2 * len(self._room), last, 64), self._room.dtype)
            larger[: self._used] = self.values
            self._room = larger
        self._room[self._used : last] = more
        self._used = last
        return self.values
