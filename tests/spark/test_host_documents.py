"""A query over documents in one place of Spark: its state as bytes, and another place with it."""

from __future__ import annotations

import pytest

from tests.operators.snapshot.test_document_snapshots import QUERIES, document
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
