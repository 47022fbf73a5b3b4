"""A circuit in stages over any number of partitions emits what it emits in one place."""

from __future__ import annotations

import pytest

from bench.growth.catalogue import chosen
from bench.growth.driver import Running
from bench.growth.entry import Entry
from tests.circuit.partitions import Partitioned
from tests.conftest import PROFILE
from xstreamcast.api import compiled
from xstreamcast.circuit.stages import why_one_partition
from xstreamcast.edges.snapshot.exchange import exchange_bytes, exchange_of
from xstreamcast.model.change import Accumulated, Change
from xstreamcast.operators.relational.run import CircuitRun
from xstreamcast.operators.relational.stages.exchanged import Exchanged
from xstreamcast.tape.names import Names

_UNITS = 30
_EVERY = chosen(["*"])
_ENTRIES, _PARTITIONS = (_EVERY[::3], (3,)) if PROFILE == "short" else (_EVERY, (1, 2, 3))


def carried(one: Exchanged, theirs: Names, ours: Names) -> Exchanged:
    """As it goes from process to process."""
    return exchange_of(exchange_bytes(one, theirs), ours)


@pytest.mark.parametrize("entry", _ENTRIES, ids=lambda entry: entry.name)
def test_partitions_emit_what_one_place_emits(entry: Entry) -> None:
    whole = Running(entry)
    opening = entry.opening(_UNITS)
    changes = whole.feed(opening)
    assert isinstance(whole.watch.pipeline, CircuitRun)
    why = why_one_partition(whole.watch.pipeline.circuit, strict=False)
    if why is not None:
        pytest.skip(why)
    program = compiled(entry.query)
    divided = [Partitioned(program, entry.inputs, number, carried) for number in _PARTITIONS]
    expected, found = Accumulated(), [Accumulated() for _ in divided]
    arrived: list[tuple[dict[str, bytes], list[Change]]] = [(opening, changes)]
    for step in range(6):
        make = entry.added if step % 2 == 0 else entry.corrected
        stream, chunk = make(_UNITS, step // 2)
        arrived.append(({stream: chunk}, whole.feed({stream: chunk})))
    for chunks, changes in arrived:
        _take(expected, changes)
        for number, parts, answer in zip(_PARTITIONS, divided, found, strict=True):
            _take(answer, parts.feed(chunks))
            assert list(answer.items()) == list(expected.items()), f"{number} partitions"


def _take(answer: Accumulated, changes: list[Change]) -> None:
    for change in changes:
        answer.apply(change)
