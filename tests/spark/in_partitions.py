"""The places of a partitioned query in one process: what Spark does between them, without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xstreamcast.edges.partitions.direct import DirectUnits, Pack, PartArrived
from xstreamcast.edges.partitions.host import WatchRequest
from xstreamcast.edges.partitions.kept import frozen, thaw
from xstreamcast.edges.partitions.later import Later, StagePlace, Turned
from xstreamcast.edges.partitions.messages import ArrivedPacks, Failed, message_bytes, message_of
from xstreamcast.edges.partitions.packing import EVERYONE, Packing, Parting
from xstreamcast.edges.partitions.route import Router
from xstreamcast.edges.partitions.unit_keys import Inside
from xstreamcast.edges.partitions.units import UnitPartition
from xstreamcast.errors import Error
from xstreamcast.model.change import Change
from xstreamcast.operators.relational.stages.exchanged import To


class InPartitions:
    """A query over some partitions; with `moving` every place is elsewhere after each batch."""

    def __init__(
        self, asked: WatchRequest, partitions: int, moving: bool = False, steps: int = 4,
        tags: Mapping[str, frozenset[int]] | None = None, emits: bool = False,
        inside: Mapping[str, Inside] | None = None,
    ) -> None:  # fmt: skip
        self.emits, self.updates = emits, list[Turned]()
        self.router, self.steps, self.moving = Router(asked, partitions), steps, moving
        self.asked, self.moved = asked, 0
        self.log: list[tuple[bytes, int | None]] = []  # what the store has of the router
        self.parting = None if tags is None else Parting(partitions, tags, inside or {})
        self.units = self._made_units()
        self.later = {
            (step, number): Later(asked, StagePlace(step, steps, number, partitions, emits))
            for step in range(1, steps)
            for number in range(partitions if step < steps - 1 else 1)
        }

    def _made_units(self) -> list[Any]:
        many = self.router.partitions
        told = [(self.asked, number, many, self.steps, self.emits) for number in range(many)]
        if self.parting is None:
            return [UnitPartition(*one) for one in told]
        return [DirectUnits(*one, frozenset(self.parting.inside)) for one in told]

    @property
    def last(self) -> Later:
        """Where the answer is emitted."""
        return self.later[self.steps - 1, 0]

    def take(self, table: Any, now: int | None = None) -> list[Change]:
        """The rows of a batch → the changes."""
        packing = Packing(self.parting)
        packs = [row for batch in packing(table.to_batches()) for row in batch.to_pylist()]
        handed: dict[To, list[bytes]] = {}
        if self.parting is None:
            self._routed(packs, now, handed)
        else:
            self._parted(packs, now, handed)
        changes: list[Change] = []
        for to in self.later:
            changes += self._later(to, handed)
        for place in (*self.units, *self.later.values()):
            self.updates += place.updates
            place.updates = []
        if self.moving:
            self._move()
        return changes

    def _routed(self, packs: list[Any], now: int | None, handed: dict[To, list[bytes]]) -> None:
        arrived = ArrivedPacks([(row["stream"], row["rows"]) for row in packs])
        self.router.earlier = self.log.__getitem__
        for number, sent in self.router.take(arrived, now).items():
            self._units(number, message_bytes(sent), handed)
        self.log.append((arrived.blob, now))

    def _parted(self, packs: list[Any], now: int | None, handed: dict[To, list[bytes]]) -> None:
        assert self.parting is not None
        for number, place in enumerate(self.units):
            mine = [
                Pack(**{name: row[name] for name in Pack._fields})
                for row in packs
                if row["part"] in (EVERYONE, number) or row["stream"] not in self.parting.tags
            ]
            if not packs and now is None:
                continue
            try:
                for to, one in place.take_batch(PartArrived.of(PartArrived(mine).blob), now):
                    handed.setdefault(to, []).append(message_bytes(one, place.names))
            except Error as why:
                self._fail(Failed(place.turn, place.order, why), handed)

    def _units(self, number: int, raw: bytes, handed: dict[To, list[bytes]]) -> None:
        place = self.units[number]
        given: Any = message_of(raw)
        try:
            for to, one in place.take(given):
                handed.setdefault(to, []).append(message_bytes(one, place.names))
        except Error as why:
            self._fail(Failed(given.turn, place.order, why), handed)

    def _later(self, to: To, handed: dict[To, list[bytes]]) -> list[Change]:
        place = self.later[to]
        given = [message_of(raw, place.names) for raw in handed.get(to, ())]
        if not given:
            return []
        try:
            changes, on = place.take(given)
        except Error as why:
            if to[0] == self.steps - 1:
                raise
            self._fail(Failed(given[0].turn, place.order, why), handed)
            return []
        for then, one in on:
            handed.setdefault(then, []).append(message_bytes(one, place.names))
        return changes

    def _fail(self, failed: Failed, handed: dict[To, list[bytes]]) -> None:
        handed.setdefault((self.steps - 1, 0), []).append(message_bytes(failed))

    def _move(self) -> None:
        """Every place goes on from what it wrote down, if it can be written."""
        places: list[Any] = [self.router, *self.units, *self.later.values()]
        made: list[Any] = [Router(self.asked, len(self.units))]
        made += self._made_units()
        made += [Later(self.asked, one.spot) for one in self.later.values()]
        for number, place in enumerate(places):
            raw = frozen(place)
            if raw is None:
                made[number] = place
            else:
                thaw(made[number], raw)
                made[number].refused = list(place.refused)
                self.moved += 1
        self.router, rest = made[0], made[1 + len(self.units) :]
        self.units = made[1 : 1 + len(self.units)]
        self.later = dict(zip(self.later, rest, strict=True))
