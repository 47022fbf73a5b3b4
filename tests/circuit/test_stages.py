"""A circuit in two stages over any number of partitions emits what it emits in one place."""

import pickle
import zlib
from functools import partial

import pytest

from bench.growth.catalogue import chosen
from bench.growth.driver import Running
from bench.growth.entry import Entry
from xstreamcast.api import compiled
from xstreamcast.circuit.stages import why_one_partition
from xstreamcast.edges.wire.decoder import Decoder
from xstreamcast.evaluate.moments import Moment
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.operators.partition import PartitionWatch
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.relational.staged import AnswerStage
from xstreamcast.operators.watch import Kind

_UNITS = 30


class Partitioned:
    """The same query over so many partitions, which all read everything and keep their own."""

    def __init__(self, entry: Entry, partitions: int) -> None:
        program = compiled(entry.query)
        kinds: dict[str | None, Kind] = dict.fromkeys(entry.inputs, "fragments")
        self.watches = [PartitionWatch(program, kinds) for _ in range(partitions)]
        for at, watch in enumerate(self.watches):
            watch.mine = partial(_belongs, at, partitions)
        self.decoders = [
            {name: Decoder(name, names=watch.names) for name in entry.inputs}
            for watch in self.watches
        ]
        self.answer: AnswerStage | None = None
        self.moment: Moment | None = None

    def feed(self, chunks: dict[str, bytes]) -> list[Change]:
        found = []
        for watch, decoders in zip(self.watches, self.decoders, strict=True):
            for name, chunk in chunks.items():
                decoder = decoders[name]
                watch.on_arrivals(name, decoder.feed(chunk), decoder.ids)
            found.append(pickle.loads(pickle.dumps(watch.exchanged())))
        first = self.watches[0]
        if self.answer is None:
            assert isinstance(first.pipeline, CircuitRun)
            self.answer = AnswerStage(first.pipeline.circuit)
        moved, self.moment = first.now != self.moment, first.now
        return self.answer.take(found, first._asking(), first.now.instant, moved)


def _belongs(partition: int, partitions: int, unit: str) -> bool:
    return zlib.crc32(unit.encode()) % partitions == partition


@pytest.mark.parametrize("entry", chosen(["*"]), ids=lambda entry: entry.name)
def test_partitions_emit_what_one_place_emits(entry: Entry) -> None:
    whole = Running(entry)
    opening = entry.opening(_UNITS)
    changes = whole.feed(opening)
    assert isinstance(whole.watch.pipeline, CircuitRun)
    why = why_one_partition(whole.watch.pipeline.circuit, strict=False)
    if why is not None:
        pytest.skip(why)
    parts = Partitioned(entry, 3)
    expected, found = Accumulated(), Accumulated()
    _take(expected, changes)
    _take(found, parts.feed(opening))
    assert list(found.items()) == list(expected.items())
    for step in range(6):
        make = entry.added if step % 2 == 0 else entry.corrected
        stream, chunk = make(_UNITS, step // 2)
        _take(expected, whole.feed({stream: chunk}))
        _take(found, parts.feed({stream: chunk}))
        assert list(found.items()) == list(expected.items())


def _take(answer: Accumulated, changes: list[Change]) -> None:
    for change in changes:
        answer.apply(change)
