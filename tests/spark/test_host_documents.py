"""A query over documents in one place of Spark: its state as bytes, and another place with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.linear_road.driver import QUERIES as LINEAR_ROAD
from bench.linear_road.driver import seconds
from bench.linear_road.files import OPEN, PAST, ROAD, TOLLS, write
from tests.bench.test_linear_road import SMALL
from tests.operators.snapshot.test_document_snapshots import QUERIES, document
from xstreamcast import query
from xstreamcast.api import compiled
from xstreamcast.edges.partitions.host import Host, WatchRequest
from xstreamcast.edges.partitions.kept import frozen, thaw

RAW = document([("", [(n % 7, "abc3"[n % 4], "é") for n in range(24)])])


def taken(host: Host, piece: bytes) -> list[str]:
    host.watch.on_bytes("s", piece)
    return [change.to_json() for change in host.watch.tick()]


@pytest.mark.parametrize("name", ["filter", "groups", "folded window", "joined", "whole"])
def test_a_place_with_the_state_of_another_emits_what_it_would(name: str):
    asked = WatchRequest({"": compiled(QUERIES[name])}, {"s": "document"})
    host = Host(asked)
    emitted = 0
    for at in range(0, len(RAW), 131):
        raw = frozen(host) if at else None
        piece = RAW[at : at + 131]
        if raw is not None:
            other = Host(asked)
            thaw(other, raw)
            expected = taken(host, piece)
            emitted += len(expected)
            assert taken(other, piece) == expected
            host = other
        else:
            taken(host, piece)
    assert emitted > 1


def test_declared_streams_with_the_state_of_another_place_emit_what_they_would(tmp_path: Path):
    excerpt = replace(SMALL, halves=1, duration=300)
    write(excerpt, tmp_path)
    text = (LINEAR_ROAD / "linear-road.xq").read_text()
    asked = WatchRequest(
        query(text).programs, {"road": "document", "tolls": "document", "past": "document"}
    )
    host = _with_histories(asked, tmp_path)
    _on_the_road(host, OPEN)
    minute, emitted = bytearray(), list[int]()
    for at, lines in seconds(tmp_path / ROAD):
        minute += lines
        if at % 60 == 40:  # the window of this minute is open, cars are on their way
            raw = frozen(host)
            assert raw is not None
            other = Host(asked)
            thaw(other, raw)
            expected = _on_the_road(host, bytes(minute))
            emitted.append(len(expected))
            assert _on_the_road(other, bytes(minute)) == expected
            host, minute = other, bytearray()
    assert len(emitted) == 5
    assert min(emitted) > 50


def _with_histories(asked: WatchRequest, folder: Path) -> Host:
    host = Host(asked)
    for name, file in (("tolls", TOLLS), ("past", PAST)):
        host.watch.on_bytes(name, (folder / file).read_bytes())
        host.watch.on_end(name)
    host.watch.tick()
    return host


def _on_the_road(host: Host, piece: bytes) -> list[str]:
    host.watch.on_bytes("road", piece)
    return [change.to_json() for change in host.watch.tick()]
