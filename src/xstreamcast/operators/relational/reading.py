"""Where operators read the content of units from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xstreamcast.operators.feeds.arrived import Tick
    from xstreamcast.operators.units.units import Minis


class UnitReader:
    """Units by key: those that arrived or were made in this tick as they are, others made now."""

    def __init__(self, tick: Tick, sources: tuple[str | None, ...]) -> None:
        self._tick, self._sources = tick, sources
        self._known: dict[int, list[tuple[frozenset[str], Minis]]] = {}
        for number, name in enumerate(sources):
            for one in tick.moves.get(name, ()):
                if one.changed is not None:
                    self._keep(number, one.changed)

    def _keep(self, source: int, minis: Minis) -> None:
        self._known.setdefault(source, []).append((frozenset(minis.keys), minis))

    def each(self, source: int, keys: set[str]) -> list[Minis]:
        """The units, for who looks at each by itself: what arrived is not made a second time
        because some others are wanted, too; their order among the tapes is not that of the input.
        """
        if not self._tick.keeps(self._sources[source]):
            return self(source, keys)
        out: list[Minis] = []
        for known, minis in self._known.get(source, ()):
            if 2 * len(keys & known) >= len(known):
                out.append(minis)
                keys = keys - known
        return [*out, *self(source, keys)] if keys else out

    def __call__(self, source: int, keys: set[str]) -> list[Minis]:
        """The units on tapes in the order of the input; there may be others among them."""
        arrived = self._known.get(source, ())
        for known, minis in arrived:
            if keys <= known:
                return [minis]
        if not self._tick.keeps(self._sources[source]):
            return [minis for _, minis in arrived]
        moves = self._tick.again(sorted(keys), self._sources[source])
        found = [one.changed for one in moves if one.changed is not None]
        if len(found) == 1:
            self._keep(source, found[0])
        return found
