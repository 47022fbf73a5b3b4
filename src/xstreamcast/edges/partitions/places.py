"""All places of a query in this process: what Spark does between them, without Spark.

Used where state moves to another number of partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xstreamcast.edges.partitions.direct import DirectUnits, Pack, PartArrived
from xstreamcast.edges.partitions.host import Host
from xstreamcast.edges.partitions.later import Later
from xstreamcast.edges.partitions.messages import ArrivedPacks, message_bytes, message_of
from xstreamcast.edges.partitions.packing import EVERYONE, Parting, link_packs, packs
from xstreamcast.edges.partitions.route import Router
from xstreamcast.edges.partitions.units import UnitPartition
from xstreamcast.operators.watching.watch import Watch

if TYPE_CHECKING:
    from xstreamcast.edges.partitions.later import Addressed
    from xstreamcast.model.change import Change
    from xstreamcast.operators.relational.emit import Emit
    from xstreamcast.operators.relational.stages.exchanged import To

Tables = Mapping[str, Any]  # rows by stream
Logged = tuple[bytes, "int | None"]  # a batch, and its clock


@dataclass
class QueryPlaces:
    """One place, or those of each stage: a router perhaps, units, later stages.

    `parting`: how fragments are partitioned as they are read; `log`: what the router was handed.
    """

    host: Host | None = None
    router: Router | None = None
    units: list[UnitPartition] = field(default_factory=list)
    later: dict[To, Later] = field(default_factory=dict)
    parting: Parting = field(default_factory=Parting)
    log: list[Logged] = field(default_factory=list)

    @property
    def last(self) -> Later | None:
        """Where the changes of all stages come together; None in one place."""
        return self.later[max(self.later)] if self.later else None

    @property
    def whole(self) -> Host | None:
        """The place that has all of the query, though others were planned."""
        return self.host or (self.units[0].whole if self.units else None)

    @property
    def emitted(self) -> Emit | None:
        """The answer as it was emitted; None: nothing runs yet."""
        if self.whole is not None:
            watch = self.whole.watch
            run = watch.pipeline if isinstance(watch, Watch) else None
            return None if run is None else run.emitted
        part = None if self.last is None else self.last._part
        return None if part is None else part.emitted

    @property
    def watches(self) -> list[Watch]:
        """Those that keep fragments."""
        if self.whole is not None:
            return [self.whole.watch] if isinstance(self.whole.watch, Watch) else []
        return [one.watch for one in self.units if one.watch is not None]

    # -- a batch ----------------------------------------------------------------------------------

    def take(self, tables: Tables, links: Tables | None = None) -> list[Change]:
        """Rows of streams, as one batch → the changes.

        `links`: of streams whose fragments name their units, what was said of them before.
        """
        found = [(name, pack) for name, rows in tables.items() for pack in self._packs(name, rows)]
        if self.host is not None or self.router is not None:
            arrived = ArrivedPacks([(name, row["rows"]) for name, row in found])
            return self.replay((arrived.blob, None))
        made = [Pack(**{one: row[one] for one in Pack._fields}) for _, row in found]
        return self._later(self._direct(made + self._linked(links or {})))

    def _packs(self, name: str, rows: Any) -> Iterable[dict[str, Any]]:
        return [
            row for one in packs(name, rows.to_batches(), self.parting) for row in one.to_pylist()
        ]

    def _linked(self, links: Tables) -> list[Pack]:
        return [
            Pack(name, part, rows, newest, False, said)
            for name, table in links.items()
            for part, rows, newest, said in link_packs(table, self.parting.partitions)
        ]

    def replay(self, logged: Logged) -> list[Change]:
        """A batch as it is in a log → the changes."""
        raw, now = logged
        if self.host is not None:
            return self.host.take(ArrivedPacks.of(raw).table, now)
        assert self.router is not None
        self.router.earlier = self.log.__getitem__
        given = self.router.take(ArrivedPacks.of(raw), now)
        self.log.append(logged)
        handed: dict[To, list[bytes]] = {}
        for number, one in given.items():
            place = self.units[number]
            _hand(handed, place, place.take(message_of(message_bytes(one))))  # type: ignore[arg-type]
        return self._later(handed)

    def _direct(self, made: list[Pack]) -> dict[To, list[bytes]]:
        handed: dict[To, list[bytes]] = {}
        for number, place in enumerate(self.units):
            assert isinstance(place, DirectUnits)
            mine = [
                one
                for one in made
                if one.part in (EVERYONE, number) or one.stream not in self.parting.tags
            ]
            _hand(handed, place, place.take_batch(PartArrived(mine), None))
        return handed

    def _later(self, handed: dict[To, list[bytes]]) -> list[Change]:
        changes: list[Change] = []
        for to in sorted(self.later):
            place = self.later[to]
            given = [message_of(raw, place.names) for raw in handed.get(to, ())]
            if given:
                made, on = place.take(given)
                changes += made
                _hand(handed, place, on)
        return changes


def _hand(
    handed: dict[To, list[bytes]], place: UnitPartition | Later, made: list[Addressed]
) -> None:
    for to, one in made:
        handed.setdefault(to, []).append(message_bytes(one, place.names))
