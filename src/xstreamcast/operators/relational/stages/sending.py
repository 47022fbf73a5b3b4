"""What a partition of a stage sends: rows to the partitions that read them, with their units."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from xstreamcast.circuit import nodes as c
from xstreamcast.model.atomic import BOOLEAN
from xstreamcast.model.delta import Row
from xstreamcast.model.rank_bytes import rank_bytes
from xstreamcast.model.update import Update
from xstreamcast.operators.relational.emit import prefix_of
from xstreamcast.operators.relational.render import Rendering
from xstreamcast.operators.relational.stages.exchanged import (
    Content,
    Exchanged,
    Rows,
    To,
    Unit,
    alone,
    units_in,
)
from xstreamcast.operators.relational.stages.routing import StageRouting

if TYPE_CHECKING:
    from xstreamcast.circuit.stages import Port, Stages
    from xstreamcast.model.delta import Delta, Key
    from xstreamcast.operators.relational.passing import Deltas
    from xstreamcast.operators.relational.tick import Round


_ITEM = (BOOLEAN, True)  # in the place of an item that is counted


class _Outgoing:
    """One port: where each row is, so that it is taken back there when it goes or moves."""

    sent: dict[Key, Any]

    def __init__(self, port: Port, rendering: Rendering, partitions: int, own: int) -> None:
        self.port, self._rendering = port, rendering
        self._routing = StageRouting(port, partitions, own)
        self.sent = {}  # the partitions of each row
        self.inexact: set[Key] = set()  # rows with keys that are floats or doubles

    def send(self, delta: Delta, anew: bool, turn: Round) -> dict[int, Rows]:
        """By partition, the rows that changed; `anew`: all others have gone."""
        new = [(key, row) for key, (_, row) in delta.items() if row is not None]
        gone = [key for key, (_, row) in delta.items() if row is None]
        if anew:
            gone += [key for key in self.sent if key not in delta]
        out: defaultdict[int, Rows] = defaultdict(dict)
        values: Sequence[object] = [self._light(row) for _, row in new]
        if self.port.rendered:
            items = self._rendering.strings(new, turn)
            values = [(row.rank, tuple(i)) for (_, row), i in zip(new, items, strict=True)]
        places = self._routing.partitions(new, turn)
        for key in gone:
            for partition in self.sent.pop(key, ()):
                out[partition][key] = None
            self.inexact.discard(key)
        for (key, row), value, where in zip(new, values, places, strict=True):
            for partition in set(self.sent.get(key, ())).difference(where):
                out[partition][key] = None
            for partition in where:
                out[partition][key] = value  # type: ignore[assignment]
            self.sent[key] = where
            (self.inexact.add if self._routing.is_inexact(row) else self.inexact.discard)(key)
        return out

    def _light(self, row: Row) -> Row:
        """The row without what its receiver does not read: units need not be sent then."""
        unread, counted = self.port.unread, self.port.counted
        if not unread and not counted:
            return row
        cells = (
            () if at in unread else (_ITEM,) * len(cell) if at in counted else cell
            for at, cell in enumerate(row.cells)
        )
        return Row(row.rank, tuple(cells))


class _Emitting(_Outgoing):
    """The items of the answer, emitted where they are: an update for each that changed.

    Of each row it is known how many items were emitted, and a digest of them and of their rank.
    """

    def updates(self, delta: Delta, anew: bool, turn: Round) -> list[Update]:
        """What came of rows; `anew`: all others have gone."""
        new = [(key, row) for key, (_, row) in delta.items() if row is not None]
        gone = [key for key, (_, row) in delta.items() if row is None]
        if anew:
            gone += [key for key in self.sent if key not in delta]
        out: list[Update] = []
        for key in gone:
            out += self._revised(key, (), (), turn.asking.now.instant)
        items = self._rendering.strings(new, turn)
        for (key, row), own in zip(new, items, strict=True):
            out += self._revised(key, row.rank, own, turn.asking.now.instant)
        return out

    def _revised(self, key: Key, rank: Any, items: Sequence[str], instant: int) -> Iterator[Update]:
        count, before = self.sent.pop(key, (0, 0))
        digest = _digest(rank, items)
        if items:
            self.sent[key] = len(items), digest
        if digest == before and count == len(items):
            return
        name = prefix_of(key)
        for serial, item in enumerate(items):
            yield Update(instant, f"{name}{serial}", rank_bytes((rank, serial)), item)
        for serial in range(len(items), count):
            yield Update(instant, f"{name}{serial}", b"", None)


def _digest(rank: Any, items: Sequence[str]) -> int:
    """Different for different items or ranks, whatever process computes it."""
    made = blake2b(rank_bytes(rank), digest_size=8)
    for item in items:
        raw = item.encode("utf-8", "surrogatepass")
        made.update(len(raw).to_bytes(8, "big") + raw)
    return int.from_bytes(made.digest(), "big", signed=True)


class Sending:
    """Everything that goes from one partition of a stage to later stages.

    `emits`: items of the answer go nowhere, but are emitted here.
    """

    def __init__(
        self, circuit: c.Circuit, stages: Stages, number: int, partition: int, partitions: int,
        emits: bool = False,
    ) -> None:  # fmt: skip
        self._partition, self._partitions = partition, partitions
        rendering = Rendering(circuit)
        mine = {at: port for at, port in enumerate(stages.ports) if port.first == number}
        self.emitting = next(
            (
                _Emitting(port, rendering, partitions, partition)
                for port in mine.values()
                if emits and port.rendered
            ),
            None,
        )
        self.ports = {
            at: _Outgoing(port, rendering, partitions, partition)
            for at, port in mine.items()
            if not (emits and port.rendered)
        }
        self.kept: dict[To, set[Unit]] = {}  # units that were sent

    def take_over_answer(self, before: Sending) -> bool:
        """Continue from what another circuit emitted; False if that is no longer emitted here."""
        if self.emitting is None or before.emitting is None:
            return before.emitting is None
        self.emitting.sent = before.emitting.sent
        return True

    def take_over(self, before: Sending) -> None:
        """Continue from what another circuit of the same shape sent."""
        for at, one in before.ports.items():
            self.ports[at].sent, self.ports[at].inexact = one.sent, one.inexact
        self.kept = before.kept

    def send(
        self, deltas: Deltas, turn: Round, anew: bool, changed: set[Unit], gone: set[Unit]
    ) -> dict[To, Exchanged]:
        """By stage and partition, what is new for it."""
        out: dict[To, Exchanged] = {}

        def to(stage: int, partition: int) -> Exchanged:
            return out.setdefault((stage, partition), Exchanged(self._partition))

        for at, one in self.ports.items():
            before, stage = bool(one.inexact), one.port.last
            for partition, rows in one.send(deltas[id(one.port.source)], anew, turn).items():
                to(stage, partition).rows[at] = rows
            if bool(one.inexact) != before:
                for partition in range(self._partitions):
                    to(stage, partition).marks[at] = not before
        self._add_contents(out, turn, changed, gone)
        return out

    def _add_contents(
        self, out: dict[To, Exchanged], turn: Round, changed: set[Unit], gone: set[Unit]
    ) -> None:
        """The units that rows refer to: those that are not there yet, or are there and changed."""
        todo: dict[To, set[Unit]] = {}
        left = {(s, u) for s, u in changed if u not in turn.places.get(s, ())} | gone
        for to in {*out, *self.kept}:
            known = self.kept.setdefault(to, set())
            sent = out[to].rows.values() if to in out else ()
            wanted = units_in(row for rows in sent for row in rows.values())
            todo[to] = (wanted - known) | (changed & known)
            lost = known & left
            todo[to] -= left
            if lost or todo[to]:
                mine = out.setdefault(to, Exchanged(self._partition))
                mine.contents.update(dict.fromkeys(lost))
            known -= lost
            known |= todo[to]
        contents = _contents(set().union(*todo.values()), turn)
        for to, units in todo.items():
            for unit in units:
                out[to].contents[unit] = contents[unit]


def _contents(units: Iterable[Unit], turn: Round) -> dict[Unit, Content]:
    wanted: dict[int, set[str]] = {}
    for source, key in units:
        wanted.setdefault(source, set()).add(key)
    out: dict[Unit, Content] = {}
    for source, keys in wanted.items():
        places = turn.places[source]
        for minis in turn.read_each(source, keys):
            out |= {(source, key): (places[key], one) for key, one in alone(minis, keys)}
    return out
