"""The versions of single ids, kept in order as fragments arrive.

versions of an id → those of `History.chains`, without reading any other id
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from xstreamcast.model.fragment import TEMPORARY, ZONED
from xstreamcast.model.instant import NOW
from xstreamcast.tape.fragments import chain_kernels as k

if TYPE_CHECKING:
    from xstreamcast.history.history import History


class Version(NamedTuple):
    """A version of an id: where its fragment arrived, its lifespan, and whether it is the last."""

    place: int
    begin: int
    end: int
    zones: int
    last: bool


class Links(Protocol):
    """Where the fragments of ids arrived."""

    def of(self, code: int) -> list[int]:
        """The places of all fragments of an id."""

    def last(self, code: int) -> int:
        """The place of the last fragment of an id; -1 if there is none."""

    def is_single(self, code: int) -> bool:
        """Whether an id has one fragment at most."""


class Chain:
    """The fragments of one id that count, in the order of their valid times."""

    __slots__ = ("begins", "layered", "places", "read")

    def __init__(self) -> None:
        self.begins: list[int] = []
        self.places: list[int] = []
        self.read = -1  # the last place that was added
        self.layered = False  # something temporary hides others for a while


class Versions:
    """Chains of the ids that are read; an id with one fragment needs none."""

    def __init__(self, history: History, links: Links) -> None:
        self._history, self._links = history, links
        self._chains: dict[int, Chain] = {}
        self.look()

    def look(self) -> None:
        """Fragments have arrived: their columns are longer than they were."""
        f = self._history.fragments
        self._valid, self._to = f["valid"], f["to"]
        self._flags, self._order = f["flags"], f["version"]

    def arrived(self, code: int, places: Iterable[int], own_only: bool = False) -> set[int] | None:
        """Add new fragments of an id → the begins of the versions that may be others
        now; None if any may. `own_only`: without those that only end at another instant.
        """
        chain = self._chains.get(code)
        if chain is None:
            if self._links.is_single(code):
                return {self._valid.item(self._links.last(code))}
            chain = self._chains[code] = Chain()
            fresh = min(places)
            for place in self._links.of(code):
                if place < fresh:  # it is known from the time when it was the only one
                    self._insert(code, chain, place)
        touched: set[int] = set()
        for place in places:
            if place > chain.read:
                touched |= self._insert(code, chain, place, own_only)
        return None if chain.layered else touched

    def _chain(self, code: int) -> Chain | None:
        """The chain of an id; None if it has one fragment."""
        known = self._chains.get(code)
        if known is None:
            return None if self._links.is_single(code) else self._built(code)
        if known.read < self._links.last(code):  # the id was not read when these arrived
            for place in self._links.of(code):
                if place > known.read:
                    self._insert(code, known, place)
        return known

    def _built(self, code: int) -> Chain:
        chain = self._chains[code] = Chain()
        for place in self._links.of(code):
            self._insert(code, chain, place)
        return chain

    def _insert(self, code: int, chain: Chain, place: int, own_only: bool = False) -> set[int]:
        valid = self._valid.item(place)
        chain.read = place
        if not chain.layered and self._hides(place):
            chain.layered = True  # hidden versions count again, so all fragments are needed
            chain.begins, chain.places = [], self._links.of(code)
            chain.read = chain.places[-1]
            return set()
        if chain.layered:
            chain.places.append(place)
            return set()
        at = bisect_left(chain.begins, valid)
        before = {chain.begins[at - 1]} if at and not own_only else set()
        if at < len(chain.begins) and chain.begins[at] == valid:
            if self._order[chain.places[at]] > self._order[place]:
                return set()
            chain.places[at] = place
            return {valid} | before
        chain.begins.insert(at, valid)
        chain.places.insert(at, place)
        return {valid} | before

    def _hides(self, place: int) -> bool:
        if not self._flags.item(place) & TEMPORARY:
            return False
        return bool(self._history.layers(np.array([place]))[0] & TEMPORARY)

    def is_layered(self, code: int) -> bool:
        """Whether a temporary fragment hides versions of an id that was read."""
        chain = self._chains.get(code)
        return chain is not None and chain.layered

    def near(self, code: int, instant: int) -> set[int] | None:
        """The begins of versions that may begin or end at an instant; None if any may."""
        chain = self._chain(code)
        if chain is None or chain.layered:
            return None
        at = bisect_right(chain.begins, instant)
        return set(chain.begins[max(0, at - 2) : at])

    def all(self, code: int, until: int = NOW) -> list[Version]:
        """The versions of an id up to an instant."""
        chain = self._chain(code)
        if chain is None:
            one = self._single(self._links.last(code), until)
            return [] if one is None else [one]
        if chain.layered:
            return self._layers(chain, until)
        count = bisect_right(chain.begins, until)
        return [self._version(chain, at, count, until) for at in range(count)]

    def at(self, code: int, begin: int, until: int = NOW) -> Version | None:
        """The version that begins at an instant."""
        chain = self._chain(code)
        if chain is None:
            one = self._single(self._links.last(code), until)
            return one if one is not None and one.begin == begin else None
        if chain.layered:
            return next((v for v in self._layers(chain, until) if v.begin == begin), None)
        at = bisect_left(chain.begins, begin)
        if at == len(chain.begins) or chain.begins[at] != begin or begin > until:
            return None
        return self._version(chain, at, bisect_right(chain.begins, until), until)

    def _single(self, place: int, until: int) -> Version | None:
        if place < 0:
            return None
        begin, limit = self._valid.item(place), self._to.item(place)
        flags = self._flags.item(place)
        if begin > until:
            return None
        if limit < NOW and limit <= until:
            if limit <= begin and self._hides(place):
                return None  # an empty temporary lifespan is not a version
            return Version(place, begin, limit, flags & ZONED | (flags & k.ENDS_ZONED) >> 3, True)
        return Version(place, begin, NOW, flags & ZONED, True)

    def _version(self, chain: Chain, at: int, count: int, until: int) -> Version:
        place = chain.places[at]
        flags, limit = self._flags.item(place), self._to.item(place)
        last = at + 1 >= count
        end, zones = NOW, flags & ZONED
        if not last:
            end = chain.begins[at + 1]
            zones |= (self._flags.item(chain.places[at + 1]) & ZONED) << 1
        if limit < end and limit <= until:
            end, zones = limit, (zones & 1) | (flags & k.ENDS_ZONED) >> 3
        return Version(place, chain.begins[at], end, zones, last)

    def _layers(self, chain: Chain, until: int) -> list[Version]:
        f = self._history.fragments
        places = np.array(sorted(chain.places), np.int64)
        given = k.Arrived(
            np.zeros(len(places), np.int32),
            f["valid"][places],
            self._history.layers(places),
            *(f[name][places] for name in ("to", "version")),
        )
        made = k.chained(given, 1, until, NOW)
        rows = zip(made.place.tolist(), *(one.tolist() for one in made[2:]), strict=True)
        count = len(made.place)
        return [
            Version(int(places[place]), begin, end, zones, at + 1 == count)
            for at, (place, begin, end, zones) in enumerate(rows)
        ]

    @property
    def state_bytes(self) -> int:
        """About what it keeps."""
        return sum(200 + 48 * len(one.begins) for one in self._chains.values())
